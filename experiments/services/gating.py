"""Runs that wait for the gates of their study: held, released, barred, or let on by a person."""

import logging

from django.db import transaction
from django.db.models import QuerySet

from experiments.models import Deviation, Run, Study
from experiments.plan.gate_cells import NAME as GATES
from experiments.plan.schema import StudyPlan
from experiments.signals import gates_measured
from memport_site.accounts.models import AuditEntry, User
from stores.errors import InvalidInputError

logger = logging.getLogger(__name__)

ENDED = (Run.State.COMPLETE, Run.State.INCOMPLETE)
HELD_BECAUSE = "it waits for the gates"
GATES_ALONE = "launched for its gates alone; resume it to go on"


def must_wait(plan: StudyPlan, test: str) -> bool:
    """Whether the run of a test waits for the gates: the plan runs some whose failure stops."""
    return test != GATES and plan.tests.gates is not None and bool(plan.analysis.gates.stopping)


def first_state(plan: StudyPlan, test: str, *, gates_alone: bool) -> dict[str, str]:
    """Return how the run of a test begins: at once, held until the gates are decided, or not."""
    if gates_alone and test != GATES:
        return {"state": Run.State.STOPPED, "note": GATES_ALONE}
    if must_wait(plan, test):
        return {"state": Run.State.HELD, "note": HELD_BECAUSE}
    return {"state": Run.State.QUEUED, "note": ""}


def state_to_go_on(run: Run) -> Run.State:
    """Return the state of a run that somebody wants to go on: held while gates are undecided."""
    plan = StudyPlan.model_validate(run.study.plan)
    if must_wait(plan, run.test) and not gate_runs(run.study).filter(state__in=ENDED).exists():
        return Run.State.HELD
    return Run.State.QUEUED


def gate_runs(study: Study) -> "QuerySet[Run]":
    """The runs of a study that hold the cells of its gates."""
    return study.runs.filter(test=GATES)


def tell_that_gates_are_measured() -> None:
    """Have every study decided whose runs still wait although its gates are measured."""
    waiting = Run.objects.filter(state=Run.State.HELD).values("study")
    measured = Run.objects.filter(test=GATES, state__in=ENDED, study__in=waiting)
    for study in Study.objects.filter(pk__in=measured.values("study")):
        tell(study)


def tell(study: Study) -> None:
    """Have the gates of a study decided; an error is logged, and the runs go on waiting."""
    for receiver, result in gates_measured.send_robust(sender=Study, study=study):
        if isinstance(result, Exception):
            logger.error("%s on the gates of %s: %r", receiver, study.key, result)


@transaction.atomic
def release_runs(*, study: Study) -> int:
    """Let the runs go on that waited for the gates; return how many."""
    waiting = study.runs.filter(state__in=(Run.State.HELD, Run.State.BARRED))
    return waiting.update(state=Run.State.QUEUED, note="", finished_at=None)


@transaction.atomic
def bar_runs(*, study: Study, because: str) -> int:
    """Keep the runs from beginning that a failed gate makes worthless; return how many."""
    waiting = study.runs.filter(state__in=(Run.State.HELD, Run.State.STOPPED)).exclude(test=GATES)
    barred = waiting.update(state=Run.State.BARRED, note=because)
    if barred:
        _audit(study, None, "study.barred", because)
    return barred


@transaction.atomic
def go_on_in_spite_of_gates(*, study: Study, user: User | None, why: str) -> int:
    """Let barred runs go on by a person's decision, written to the deviations; return how many."""
    if not why.strip():
        raise InvalidInputError("going on in spite of a failed gate needs a reason", where="why")
    barred = list(study.runs.filter(state=Run.State.BARRED))
    if not barred:
        return 0
    Run.objects.filter(pk__in=[run.pk for run in barred]).update(
        state=Run.State.QUEUED, note="", finished_at=None
    )
    Deviation.objects.create(
        study=study,
        by=user,
        what=f"the study went on although its gates had stopped it: {barred[0].note}",
        why=why,
        touches=[{"run": f"{run.test} {run.number}"} for run in barred],
    )
    _audit(study, user, "study.in-spite-of-gates", why)
    return len(barred)


def _audit(study: Study, user: User | None, action: str, why: str) -> None:
    AuditEntry.objects.create(
        workspace=study.workspace, user=user, action=action, subject=study.key, detail={"why": why}
    )
