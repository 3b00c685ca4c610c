"""Which version of the data a study has, found without reading the data; and what is at hand."""

import gc
import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Any

from django.db.models import Count, Max, Sum

from analysis.models import ChangeMark
from experiments.models import Attempt, Evaluation, PlanLock, Run, StoreBuild, Study

# Finished results that this process holds ready; the report of a large study takes some 30 MiB.
HELD = 12
ENDED = (Run.State.COMPLETE, Run.State.INCOMPLETE, Run.State.STOPPED)


def fingerprint(study: Study) -> str:
    """SHA-256 (hex) of what changes whenever the results of a study may.

    Counts of complete attempts and states of runs, and the mark that the database puts down when
    anything that was written once is changed after all. Two equal fingerprints mean equal results;
    two different ones may.
    """
    if study.source == Study.Source.TABLE:
        return _hash({"study": _about(study), "mark": _mark()})
    complete = Attempt.objects.filter(
        evaluation__run__study=study, state=Attempt.State.COMPLETE
    ).aggregate(n=Count("pk"), ids=Sum("pk"), numbers=Sum("number"), last=Max("pk"))
    locks = PlanLock.objects.filter(study=study).values_list("pk", "after_results_because")
    builds = StoreBuild.objects.filter(run__study=study)
    return _hash({
        "study": _about(study),
        "mark": _mark(),
        "lock": list(locks),
        "runs": list(study.runs.order_by("pk").values_list("pk", "state")),
        "evaluations": list(
            Evaluation.objects.filter(run__study=study).order_by("state").values_list("state")
            .annotate(n=Count("pk"), ids=Sum("pk"))
        ),
        "builds": builds.aggregate(n=Count("pk"), stores=Sum("store"), last=Max("store")),
        "deviations": study.deviations.count(),
        "attempts": complete,
    })  # fmt: skip


def has_ended(study: Study) -> bool:
    """Whether nothing of a study is still going on."""
    return not study.runs.exclude(state__in=ENDED).exists()


def _about(study: Study) -> list[Any]:
    return [
        study.pk, study.key, study.title, study.source, study.simulated, study.table_id,
        study.plan_sha256, study.plan, study.created_at.isoformat(),
    ]  # fmt: skip


def _mark() -> str:
    return ChangeMark.objects.values_list("token", flat=True).first() or ""


def _hash(parts: dict[str, Any]) -> str:
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()


class Shelf:
    """The last few results of this process, by key and fingerprint; the oldest makes room.

    `large`: results of very many objects. Python's collector would walk them all every few
    requests, for a tenth of a second; once made they are set aside, and freed as any other object.
    """

    def __init__(self, size: int = HELD, *, large: bool = False) -> None:
        self.size, self.large, self.lock = size, large, Lock()
        self.items: OrderedDict[tuple[Any, ...], tuple[str, Any]] = OrderedDict()

    def get(self, key: tuple[Any, ...], version: str, compute: Callable[[], Any]) -> Any:
        """Return what is held for this version, else compute it and hold it instead."""
        with self.lock:
            held = self.items.get(key)
            if held is not None and held[0] == version:
                self.items.move_to_end(key)
                return held[1]
        value = compute()
        with self.lock:
            self.items[key] = (version, value)
            self.items.move_to_end(key)
            while len(self.items) > self.size:
                self.items.popitem(last=False)
        if self.large:
            gc.freeze()
        return value

    def clear(self) -> None:
        """Forget everything."""
        with self.lock:
            self.items.clear()


LARGE = Shelf(large=True)
SMALL = Shelf(256)


def at_hand(study: Study, kind: str, compute: Callable[[], Any]) -> Any:
    """A small thing about a study: once per fingerprint where it has ended, else every time."""
    if not has_ended(study):
        return compute()
    return SMALL.get((study.pk, kind), fingerprint(study), compute)
