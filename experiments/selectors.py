"""What is asked of studies and runs: work that is ready, progress, costs, and proofs."""

from collections.abc import Sequence

from django.db.models import Q
from django.utils import timezone

from experiments.models import Evaluation, Job, Run, StoreBuild, Study
from experiments.no_reuse import NoReuseProof, prove_no_reuse
from experiments.plan.schema import StudyPlan
from experiments.run_costs import Cost, costs
from experiments.run_progress import Progress, progress
from stores.models import History, Probe

__all__ = [
    "Cost",
    "NoReuseProof",
    "Progress",
    "costs",
    "probes_asked",
    "progress",
    "prove_no_reuse",
    "ready_jobs",
    "study_plan",
]

BUILD_TASK = "experiments.build_store"
EVALUATE_TASK = "experiments.evaluate"


def study_plan(study: Study) -> StudyPlan:
    """Return a study's plan as a value."""
    return StudyPlan.model_validate(study.plan)


def probes_asked(history: History, plan: StudyPlan) -> list[Probe]:
    """Return the probes of a history that a study asks, in their order."""
    probes = history.probes.filter(quarantined_because="").order_by("position")
    return list(probes[: plan.histories.max_probes])


def ready_jobs(*, limit: int) -> list[tuple[str, int]]:
    """Return the next jobs as (task name, id): stores before evaluations, in the plan's order."""
    now = timezone.now()
    due = Q(retry_at=None) | Q(retry_at__lte=now)
    active = Q(run__state__in=(Run.State.QUEUED, Run.State.RUNNING))
    found: list[tuple[str, int]] = []
    tasks: Sequence[tuple[str, type[StoreBuild] | type[Evaluation]]] = (
        (BUILD_TASK, StoreBuild),
        (EVALUATE_TASK, Evaluation),
    )
    for task, model in tasks:
        ready = model._default_manager.filter(due, active, state=Job.State.READY)
        ids = ready.order_by("run_id", "position").values_list("pk", flat=True)
        found += [(task, pk) for pk in ids[: limit - len(found)]]
    return found
