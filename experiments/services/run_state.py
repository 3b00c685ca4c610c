"""A run's state follows from its jobs. Every change is one conditional update."""

import logging
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from experiments.models import Evaluation, Job, Run, StoreBuild
from experiments.plan.gate_cells import NAME as GATES
from experiments.services.gating import ENDED, tell, tell_that_gates_are_measured
from experiments.signals import run_ended

logger = logging.getLogger(__name__)

OPEN_STATES = (Run.State.QUEUED, Run.State.RUNNING, Run.State.STOPPING)


def settle_runs(*, now: datetime | None = None) -> None:
    """Settle every run that has not ended, free what waits in vain, have the gates decided."""
    unblock()
    for run_id in Run.objects.filter(state__in=OPEN_STATES).values_list("pk", flat=True):
        settle_run(run_id=run_id, now=now)
    tell_that_gates_are_measured()


def unblock() -> int:
    """Ready every job whose store is there although it still waits for it; return how many.

    A store's build frees its evaluations in its own commit, so that there should be none: one that
    waits for ever would block a run that has nothing left to build.
    """
    waiting = Evaluation.objects.filter(state=Job.State.WAITING, run__state__in=OPEN_STATES)
    blocked = list(waiting.filter(build__state=Job.State.COMPLETE).values_list("pk", flat=True))
    freed = Evaluation.objects.filter(pk__in=blocked, state=Job.State.WAITING).update(
        state=Job.State.READY
    )
    if freed:
        logger.warning("%s evaluations waited for stores that were complete", freed)
    return freed


def settle_run(*, run_id: int, now: datetime | None = None) -> None:
    """Bring one run's state in line with its jobs.

    queued → running with the first claim; running → complete or incomplete when nothing is left
    to do; stopping → stopped when the last job has given its claim back.
    """
    run = Run.objects.get(pk=run_id)
    if _settled_state(run) == run.state:
        return
    # Look again under the lock: somebody may have stopped the run or readied a job meanwhile.
    with transaction.atomic():
        run = Run.objects.select_for_update().get(pk=run_id)
        state = _settled_state(run)
        if state == run.state:
            return
        now = now or timezone.now()
        run.state = state
        run.started_at = run.started_at or now
        run.finished_at = None if state == Run.State.RUNNING else now
        run.save(update_fields=["state", "started_at", "finished_at"])
    if run.test == GATES and state in ENDED:
        tell(run.study)
    if state in ENDED:
        _tell_the_end(run)


def _tell_the_end(run: Run) -> None:
    """Tell those above; whatever fails there fails alone."""
    for receiver, result in run_ended.send_robust(sender=Run, study=run.study):
        if isinstance(result, Exception):
            logger.error("%s failed after run %s: %s", receiver, run.pk, result)


def _settled_state(run: Run) -> str:
    """The state that follows from the jobs, for a run that somebody wants to go on or to stop."""
    states = _job_states(run.pk)
    if run.state not in OPEN_STATES or not states:
        return run.state
    if states <= {Job.State.COMPLETE, Job.State.FAILED}:
        return Run.State.INCOMPLETE if Job.State.FAILED in states else Run.State.COMPLETE
    if run.state == Run.State.STOPPING:
        return run.state if Job.State.RUNNING in states else Run.State.STOPPED
    if states - {Job.State.READY, Job.State.WAITING}:
        return Run.State.RUNNING
    return run.state


def _job_states(run_id: int) -> set[str]:
    builds = StoreBuild.objects.filter(run_id=run_id).values_list("state", flat=True)
    evaluations = Evaluation.objects.filter(run_id=run_id).values_list("state", flat=True)
    return {*builds.distinct().order_by(), *evaluations.distinct().order_by()}
