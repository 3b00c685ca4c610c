"""What the run page shows: progress, every job with its time and cost, and what failed."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, QuerySet, Sum

from experiments.models import Attempt, Call, Evaluation, Run, StoreBuild
from experiments.run_costs import Cost, costs
from experiments.run_progress import Progress, progress

STOPPABLE = (Run.State.QUEUED, Run.State.RUNNING)
RESUMABLE = (Run.State.STOPPING, Run.State.STOPPED)


@dataclass(frozen=True, slots=True)
class RunPage:
    """A run as of now. `news` names this state: a page that has seen it needs nothing new."""

    run: Run
    progress: Progress
    costs: list[Cost]
    cost_usd: float
    news: str

    @property
    def can_stop(self) -> bool:
        """Whether stopping means anything."""
        return self.run.state in STOPPABLE

    @property
    def can_resume(self) -> bool:
        """Whether there is something to go on with."""
        return self.run.state in RESUMABLE

    @property
    def can_rerun(self) -> bool:
        """Whether something failed in a run that does nothing any more by itself."""
        failed = self.progress.builds["failed"] + self.progress.evaluations["failed"]
        return failed > 0 and self.progress.is_over


def run_page(run: Run) -> RunPage:
    """Return a run's progress and costs."""
    run.refresh_from_db()
    now, spent = progress(run), costs(run)
    news = hashlib.sha256(
        repr((now.state, now.builds, now.evaluations, now.answers, now.step, now.errors)).encode()
    ).hexdigest()[:16]
    return RunPage(run, now, spent, sum(cost.cost_usd for cost in spent), news)


@dataclass(frozen=True, slots=True)
class Spent:
    """One job with the engine time and the cost of its calls; None where it made none."""

    job: Evaluation | StoreBuild
    engine_s: float | None
    cost_usd: float | None
    n_attempts: int = 0


def evaluations(run: Run) -> QuerySet[Evaluation]:
    """Every evaluation of a run, in the order of work."""
    return run.evaluations.select_related("history").order_by("position")


def builds(run: Run) -> QuerySet[StoreBuild]:
    """Every store of a run, in the order of work, without what it keeps."""
    found = run.store_builds.select_related("history", "store").defer("store__coverage")
    return found.order_by("position")


def spent_on_evaluations(shown: Iterable[Evaluation]) -> list[Spent]:
    """What the evaluations of one page spent; asked apart, for joins over all rows are slow."""
    jobs = list(shown)
    ids = [job.pk for job in jobs]
    sums = _sums("attempt__evaluation", ids)
    rows = Attempt.objects.filter(evaluation__in=ids).order_by().values_list("evaluation")
    attempts = dict(rows.annotate(n=Count("pk")))
    return [_spent(job, sums.get(job.pk), attempts.get(job.pk, 0)) for job in jobs]


def spent_on_builds(shown: Iterable[StoreBuild]) -> list[Spent]:
    """What the stores of one page spent."""
    jobs = list(shown)
    sums = _sums("build", [job.pk for job in jobs])
    return [_spent(job, sums.get(job.pk)) for job in jobs]


def _spent(
    job: Evaluation | StoreBuild, sums: tuple[float, float] | None, n_attempts: int = 0
) -> Spent:
    engine_s, cost_usd = sums or (None, None)
    return Spent(job, engine_s, cost_usd, n_attempts)


def _sums(owner: str, ids: list[int]) -> dict[int, tuple[float, float]]:
    calls = Call.objects.filter(**{f"{owner}__in": ids}).order_by().values_list(owner)
    rows = calls.annotate(seconds=Sum("engine_s"), usd=Sum("cost_usd"))
    return {pk: (seconds, usd) for pk, seconds, usd in rows}


def study_costs(runs: Any) -> list[tuple[Run, list[Cost], float, float]]:
    """The costs of each run of a study, with its total dollars and engine seconds."""
    found = [(run, costs(run)) for run in runs]
    return [
        (run, spent, sum(cost.cost_usd for cost in spent), sum(cost.engine_s for cost in spent))
        for run, spent in found
    ]
