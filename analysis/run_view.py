"""What the run page shows: progress, every job with its time and cost, and what failed."""

import hashlib
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, QuerySet, Sum

from experiments.models import Evaluation, Run, StoreBuild
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


def run_page(run: Run) -> RunPage:
    """Return a run's progress and costs."""
    run.refresh_from_db()
    now, spent = progress(run), costs(run)
    news = hashlib.sha256(
        repr((now.state, now.builds, now.evaluations, now.answers, now.step, now.errors)).encode()
    ).hexdigest()[:16]
    return RunPage(run, now, spent, sum(cost.cost_usd for cost in spent), news)


def evaluations(run: Run) -> QuerySet[Evaluation]:
    """Every evaluation of a run with its engine time, cost and answers, in the order of work."""
    return (
        run.evaluations.select_related("history", "build__store")
        .annotate(
            engine_s=Sum("attempts__calls__engine_s"),
            cost_usd=Sum("attempts__calls__cost_usd"),
            n_attempts=Count("attempts", distinct=True),
        )
        .order_by("position")
    )


def builds(run: Run) -> QuerySet[StoreBuild]:
    """Every store of a run with its engine time and cost, in the order of work."""
    return (
        run.store_builds.select_related("history", "store")
        .annotate(engine_s=Sum("calls__engine_s"), cost_usd=Sum("calls__cost_usd"))
        .order_by("position")
    )


def study_costs(runs: Any) -> list[tuple[Run, list[Cost], float, float]]:
    """The costs of each run of a study, with its total dollars and engine seconds."""
    found = [(run, costs(run)) for run in runs]
    return [
        (run, spent, sum(cost.cost_usd for cost in spent), sum(cost.engine_s for cost in spent))
        for run, spent in found
    ]
