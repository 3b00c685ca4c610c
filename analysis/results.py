"""Results are computed once per version of the data and kept; stale ones are never shown."""

import hashlib
import json
from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.db.models import Count, F, Q, Sum

from analysis.cube_store import unpack
from analysis.kept import LARGE, fingerprint
from analysis.models import AnalysisResult
from analysis.report import SCHEMA, software, study_report
from analysis.stats.cells import Cube
from analysis.store_contents import damaged_stores
from analysis.table_studies import packed_cube, table_study_report
from experiments.models import Answer, Attempt, Evaluation, PlanLock, Study
from stores.models import Store

# Kind of the rows that say which version of the data a fingerprint stands for.
SEEN = "fingerprint"


def data_version(study: Study) -> str:
    """SHA-256 (hex) of a fingerprint of everything that a study's results are computed from.

    One pass over the answers in the database: counts and sums in which a changed score, rank or
    recall of any answer shows. It tells whether a kept result is stale; the checksum that is
    published beside the numbers is that of the exported table.
    """
    if study.source == Study.Source.TABLE:
        about = [study.key, study.title, study.simulated, study.plan, study.table_id]
        return _hash({"schema": SCHEMA, "software": software(), "table": about})
    attempts = Attempt.objects.filter(
        evaluation__run__study=study, state=Attempt.State.COMPLETE
    ).aggregate(n=Count("pk"), ids=Sum("pk"), numbers=Sum("number"))
    answers = Answer.objects.filter(
        attempt__evaluation__run__study=study, attempt__state=Attempt.State.COMPLETE
    ).aggregate(
        n=Count("pk"),
        ids=Sum("pk"),
        right=Sum("pk", filter=Q(correct=True)),
        blank=Sum("pk", filter=Q(correct=None)),
        rank=Sum(F("rank") * F("pk")),
        recall=Sum(F("recall") * F("pk")),
    )
    parts = {
        "schema": SCHEMA,
        "software": software(),
        "study": [study.key, study.title, study.source, study.simulated],
        "plan": study.plan,
        "plan_sha256": study.plan_sha256,
        "locked_late": list(
            PlanLock.objects.filter(study=study).values_list("after_results_because", flat=True)
        ),
        "table": study.table_id,
        "runs": list(study.runs.order_by("pk").values_list("pk", "state")),
        "evaluations": list(
            Evaluation.objects.filter(run__study=study)
            .values_list("state")
            .annotate(n=Count("pk"))
            .order_by("state")
        ),
        "stores": _stores(study),
        # Damage shows in no row: every store's content is hashed again.
        "damaged": [store.pk for store in damaged_stores(study)],
        "attempts": attempts,
        "answers": answers,
    }
    return _hash(parts)


def _hash(parts: dict[str, Any]) -> str:
    # PostgreSQL sums to decimals.
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _stores(study: Study) -> list[Any]:
    stores = Store.objects.filter(builds__run__study=study).distinct().order_by("pk")
    return [
        [key, checksum, found.get("spans_required"), found.get("spans_kept")]
        for key, checksum, found in stores.values_list("pk", "checksum", "coverage")
    ]


def kept_report(study: Study) -> dict[str, Any]:
    """Return the report of a study, computed only where the data changed since it was kept.

    It is shared between requests: nobody changes it.
    """
    is_table = study.source == Study.Source.TABLE
    return kept_result(
        study, kind="report", compute=table_study_report if is_table else study_report
    )


def kept_cube(study: Study) -> Cube:
    """Return the arrays of a study's answers table, read from the table once."""
    cube: Cube = LARGE.get(
        (study.pk, "arrays"),
        fingerprint(study),
        lambda: unpack(kept_result(study, kind="cube", compute=packed_cube)),
    )
    return cube


def warm(study: Study) -> None:
    """Compute and keep what the pages of a study need, before anybody asks for them."""
    kept_report(study)
    if study.source == Study.Source.TABLE:
        kept_cube(study)


def kept_result(
    study: Study, *, kind: str, compute: Callable[[Study], dict[str, Any]]
) -> dict[str, Any]:
    """Return a result for the present version of the data; keep it, and drop the stale ones.

    Parameters
    ----------
    study
        Whose answers.
    kind
        Names the computation; one result is kept for each.
    compute
        Makes the result, JSON-ready.
    """
    seen = fingerprint(study)
    found: dict[str, Any] = LARGE.get(
        (study.pk, kind), seen, lambda: _from_database(study, kind, seen, compute)
    )
    return found


def _from_database(
    study: Study, kind: str, seen: str, compute: Callable[[Study], dict[str, Any]]
) -> dict[str, Any]:
    """The kept result of this fingerprint, else of this version of the data, else a new one."""
    version = _version(study, seen)
    found = AnalysisResult.objects.filter(study=study, kind=kind, data_version=version).first()
    if found is not None:
        return dict(found.result)
    result = compute(study)
    if data_version(study) != version:  # answers came in meanwhile: show it, do not keep it
        return result
    _keep(study, kind, version, result)
    return result


def _version(study: Study, seen: str) -> str:
    """The version of the data; read from all of it only where this fingerprint was never seen."""
    if study.source == Study.Source.TABLE:
        return data_version(study)
    known = AnalysisResult.objects.filter(study=study, kind=SEEN, data_version=seen).first()
    if known is not None and known.result["software"] == software():
        return str(known.result["version"])
    version = data_version(study)
    if fingerprint(study) == seen:
        _keep(study, SEEN, seen, {"version": version, "software": software()})
    return version


def _keep(study: Study, kind: str, version: str, result: dict[str, Any]) -> None:
    with transaction.atomic():
        AnalysisResult.objects.filter(study=study, kind=kind).exclude(data_version=version).delete()
        AnalysisResult.objects.update_or_create(
            study=study, kind=kind, data_version=version, defaults={"result": result}
        )
