"""Launch a study: lock its plan and write down all of its work, or nothing at all."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from celery import current_app
from django.conf import settings
from django.db import IntegrityError, transaction
from kombu.exceptions import OperationalError

from experiments.models import Evaluation, Job, Run, StoreBuild, Study
from experiments.plan.schema import StudyPlan
from experiments.plan.signing_key import signing_key
from experiments.plan.specs import EvaluationSpec, Expansion, StoreSpec
from experiments.preflight import refusal
from experiments.services.examine import Examination, check_plan_here, examine_study
from experiments.services.gating import first_state
from experiments.services.locking import refuse_another_plan, refuse_broken_lock, write_lock_row
from experiments.services.study_histories import keep_histories
from experiments.surroundings import Check, Surroundings
from memport_site.accounts.models import AuditEntry, User, Workspace
from stores.errors import InvalidInputError
from stores.models import History

logger = logging.getLogger(__name__)

# Wakes the worker of this process or, through a broker, of a cluster. One that is not reached
# looks into the database by itself within a second.
WAKE_TASK = "experiments.dispatch"
ROWS_OF_AN_INSERT = 500


class RefusedAtPreflightError(InvalidInputError):
    """A plan that does not fit what is here; `checks` holds every check, passed or not."""

    def __init__(self, checks: Sequence[Check], *, key: str) -> None:
        self.checks = tuple(checks)
        super().__init__(f"refused at preflight: {refusal(checks)}", where=f"study {key!r}")


def check_study(
    *, plan: StudyPlan, workspace: Workspace, surroundings: Surroundings | None = None
) -> list[Check]:
    """Run every preflight check of a plan; writes nothing.

    Raises
    ------
    InvalidInputError
        The plan names histories that do not exist, or has nothing to do.
    """
    return check_plan_here(plan=plan, workspace=workspace, surroundings=surroundings)


def launch_study(
    *,
    plan: StudyPlan,
    workspace: Workspace,
    user: User | None,
    preflight: bool = True,
    gates_alone: bool = False,
    surroundings: Surroundings | None = None,
) -> Study:
    """Lock a plan, if it is not locked yet, and queue its work; return the study.

    Launching a plan again returns the study that it made the first time, so that work goes on
    where it stopped. Histories of a preset are generated where they do not exist.

    Parameters
    ----------
    preflight
        False leaves the checks out; the run then says that none were made.
    gates_alone
        True begins with the gates and leaves the other runs stopped, until somebody resumes them.
    surroundings
        The machine that the plan is checked against; by default this process's own.

    Raises
    ------
    InvalidInputError
        The study's key is taken by another plan (says what differs), a history is missing, or a
        preflight check failed (`RefusedAtPreflightError`). Nothing has been written then.
    """
    existing = find_launched(plan=plan, workspace=workspace)
    if existing is not None and existing.runs.exists():
        return existing
    seen = examine_study(
        plan=plan, workspace=workspace, preflight=preflight, surroundings=surroundings
    )
    if refusal(seen.checks):
        raise RefusedAtPreflightError(seen.checks, key=plan.key)
    if existing is not None:
        refuse_broken_lock(existing)
    signing_key(settings.HOME)  # made outside the transaction
    try:
        with transaction.atomic():
            return _write(plan, workspace, user, seen, study=existing, gates_alone=gates_alone)
    except IntegrityError:
        # Somebody launched under the same key a moment ago: the same plan, or a refusal.
        if (existing := find_launched(plan=plan, workspace=workspace)) is not None:
            return existing
        raise


def find_launched(*, plan: StudyPlan, workspace: Workspace) -> Study | None:
    """Return the study that this very plan was locked or launched as, or None.

    Raises InvalidInputError where the key belongs to another study, and says what differs.
    """
    study = Study.objects.filter(workspace=workspace, key=plan.key).first()
    if study is None:
        return None
    hint = "Choose another key for the new study"
    if study.source != Study.Source.RUN:
        what = "this key belongs to a study from an answers table"
        raise InvalidInputError(what, where=f"study {plan.key!r}", hint=hint)
    refuse_another_plan(study, plan)
    return study


def _write(
    plan: StudyPlan,
    workspace: Workspace,
    user: User | None,
    seen: Examination,
    *,
    study: Study | None,
    gates_alone: bool,
) -> Study:
    histories = keep_histories(seen.found, plan=plan, workspace=workspace, user=user)
    if study is None:
        study = Study.objects.create(
            workspace=workspace, key=plan.key, title=plan.title, created_by=user
        )
        write_lock_row(study, plan, user=user)
    forecasts = {test.test: test.as_json() for test in seen.forecast.tests}
    for test, expansion in seen.expansions.items():
        run = Run.objects.create(
            study=study,
            test=test,
            preflight=[asdict(check) for check in seen.checks],
            forecast={**forecasts[test], "basis": list(seen.forecast.basis)},
            left_out=[asdict(left) for left in expansion.left_out],
            reused=len(expansion.reused),
            **first_state(plan, test, gates_alone=gates_alone),
        )
        _write_work(run, expansion, histories)
    AuditEntry.objects.create(
        workspace=workspace,
        user=user,
        action="study.launch",
        subject=plan.key,
        detail={"plan_sha256": study.plan_sha256},
    )
    transaction.on_commit(wake_workers)
    return study


def _write_work(run: Run, expansion: Expansion, histories: Mapping[str, History]) -> None:
    """Insert the builds and evaluations of a run, in the order of work."""
    builds = StoreBuild.objects.bulk_create(
        [
            _build(run, position, spec, histories[spec.history])
            for position, spec in enumerate(expansion.stores)
        ],
        batch_size=ROWS_OF_AN_INSERT,
    )
    by_key = {build.store_key: build for build in builds}
    Evaluation.objects.bulk_create(
        [
            _evaluation(run, position, spec, histories[spec.history], by_key.get(spec.store_key))
            for position, spec in enumerate(expansion.evaluations)
        ],
        batch_size=ROWS_OF_AN_INSERT,
    )


def _build(run: Run, position: int, spec: StoreSpec, history: History) -> StoreBuild:
    return StoreBuild(
        run=run,
        position=position,
        state=Job.State.WAITING if spec.parent else Job.State.READY,
        store_key=spec.key,
        history=history,
        format=spec.format,
        writer=spec.writer,
        embedder=spec.embedder,
        spec=_details(spec),
    )


def _details(spec: StoreSpec) -> dict[str, str | int]:
    """What only some stores have: the arm of an upgrade, the store that this one is made from."""
    details: dict[str, str | int] = {
        "index": spec.index, "derived": spec.derived, "parent": spec.parent,
        "repair": spec.repair, "rung": spec.rung,
    }  # fmt: skip
    return {name: value for name, value in details.items() if value}


def _evaluation(
    run: Run, position: int, spec: EvaluationSpec, history: History, build: StoreBuild | None
) -> Evaluation:
    values: dict[str, Any] = asdict(spec)
    del values["history"], values["store_key"]
    state = Job.State.READY if build is None else Job.State.WAITING
    return Evaluation(
        run=run, position=position, state=state, history=history, build=build, **values
    )


def wake_workers() -> None:
    """Tell workers that there is work; nothing is lost where nobody hears it."""
    try:
        current_app.send_task(WAKE_TASK, retry=False)
    except OperationalError as error:
        logger.warning("the broker is out of reach, workers look for work themselves: %s", error)
