"""How many seconds a run still takes, estimated from what its own steps were measured to take."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Avg, Count, Q, Sum

from experiments.models import Call, Evaluation, Job, Run, StoreBuild

# Before the first evaluation is measured, one is taken to cost as much as this many writer calls:
# one for the shared prefix, and another for the short answers after it.
WRITER_CALLS_OF_AN_EVALUATION = 2.0
# What an open job counts at least, however long it took already.
LEAST_SHARE_LEFT = 0.1
OPEN = (Job.State.WAITING, Job.State.READY, Job.State.RUNNING)


@dataclass(frozen=True, slots=True)
class _Measured:
    """A job, the kind that decides what it costs, and the engine seconds spent on it so far."""

    memory_format: str
    model: str
    state: str
    engine_s: float

    @property
    def kind(self) -> tuple[str, str]:
        return self.memory_format, self.model


def time_left_s(run: Run) -> float | None:
    """Return the seconds of engine time left, or None before anything was measured.

    Every open job counts as the mean of the complete ones of its kind (format and model), less
    what was spent on it already; a kind without a complete one, as the slowest of the others: a
    time that turns out shorter disappoints nobody.
    """
    builds, evaluations = _builds(run), _evaluations(run)
    of_builds = _left(builds, guess=_guessed_build_s(run))
    guess = _guessed_evaluation_s(run) if of_builds is not None or not _open(builds) else None
    of_evaluations = _left(evaluations, guess=guess)
    if of_builds is None or of_evaluations is None:
        return None
    return of_builds + of_evaluations


def _open(jobs: Sequence[_Measured]) -> list[_Measured]:
    return [job for job in jobs if job.state in OPEN]


def _left(jobs: Sequence[_Measured], *, guess: float | None) -> float | None:
    by_kind: dict[tuple[str, str], list[float]] = defaultdict(list)
    for job in jobs:
        if job.state == Job.State.COMPLETE:
            by_kind[job.kind].append(job.engine_s)
    means = {kind: sum(seconds) / len(seconds) for kind, seconds in by_kind.items()}
    # What no model does takes no time worth mention, and says nothing about what one does.
    by_models = [mean for (_, model), mean in means.items() if model]
    fallback = max(by_models, default=guess)
    total = 0.0
    for job in _open(jobs):
        expected = means.get(job.kind, 0.0 if not job.model else fallback)
        if expected is None:
            return None
        total += max(expected - job.engine_s, expected * LEAST_SHARE_LEFT)
    return total


def _guessed_build_s(run: Run) -> float | None:
    """What a model's store takes in the mean, by the other tests of this study."""
    measured = Call.objects.filter(
        build__run__study=run.study_id, build__state=Job.State.COMPLETE
    ).exclude(Q(build__run=run) | Q(build__writer=""))
    spent = measured.aggregate(total=Sum("engine_s"), stores=Count("build", distinct=True))
    return spent["total"] / spent["stores"] if spent["stores"] else None


def _guessed_evaluation_s(run: Run) -> float | None:
    mean: float | None = Call.objects.filter(
        build__run__study=run.study_id, role=Call.Role.WRITER
    ).aggregate(mean=Avg("engine_s"))["mean"]
    return None if mean is None else mean * WRITER_CALLS_OF_AN_EVALUATION


def _builds(run: Run) -> list[_Measured]:
    rows = StoreBuild.objects.filter(run=run, reused=False).order_by()
    found = rows.annotate(engine_s=Sum("calls__engine_s")).values_list(
        "format", "writer", "state", "engine_s"
    )
    return [_Measured(*row[:3], row[3] or 0.0) for row in found]


def _evaluations(run: Run) -> list[_Measured]:
    rows = Evaluation.objects.filter(run=run).order_by()
    found = rows.annotate(engine_s=Sum("attempts__calls__engine_s")).values_list(
        "format", "reader", "state", "engine_s"
    )
    return [_Measured(*row[:3], row[3] or 0.0) for row in found]
