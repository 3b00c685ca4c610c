"""Results are computed once per version of the data and kept; stale ones are never shown."""

import hashlib
import json
from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.db.models import Count, F, Q, Sum

from analysis.models import AnalysisResult
from analysis.report import SCHEMA, software, study_report
from analysis.store_contents import damaged_stores
from experiments.models import Answer, Attempt, Evaluation, Study
from stores.models import Store


def data_version(study: Study) -> str:
    """SHA-256 (hex) of a fingerprint of everything that a study's results are computed from.

    One pass over the answers in the database: counts and sums in which a changed score, rank or
    recall of any answer shows. It tells whether a kept result is stale; the checksum that is
    published beside the numbers is that of the exported table.
    """
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
    # PostgreSQL sums big integers as decimals, which JSON has no word for.
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _stores(study: Study) -> list[Any]:
    stores = Store.objects.filter(builds__run__study=study).distinct().order_by("pk")
    return [
        [key, checksum, found.get("spans_required"), found.get("spans_kept")]
        for key, checksum, found in stores.values_list("pk", "checksum", "coverage")
    ]


def kept_report(study: Study) -> dict[str, Any]:
    """Return the report of a study, computed only where the data changed since it was kept."""
    return kept_result(study, kind="report", compute=study_report)


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
    version = data_version(study)
    found = AnalysisResult.objects.filter(study=study, kind=kind, data_version=version).first()
    if found is not None:
        return dict(found.result)
    result = compute(study)
    if data_version(study) != version:  # answers came in meanwhile: show it, do not keep it
        return result
    with transaction.atomic():
        AnalysisResult.objects.filter(study=study, kind=kind).exclude(data_version=version).delete()
        AnalysisResult.objects.get_or_create(
            study=study, kind=kind, data_version=version, defaults={"result": result}
        )
    return result
