"""Stop a run, go on with it, and run again what failed."""

from django.db import transaction
from django.utils import timezone

from experiments.models import Attempt, Deviation, Evaluation, Job, Run, StoreBuild
from experiments.services.gating import state_to_go_on
from experiments.services.launch import wake_workers
from experiments.services.run_state import settle_run
from memport_site.accounts.models import AuditEntry, User
from stores.counting import count_of
from stores.errors import InvalidInputError


@transaction.atomic
def stop_run(*, run: Run, user: User | None) -> Run:
    """Ask a run to stop: workers give their jobs back at their next commit. Nothing is lost.

    A run that has ended or is stopped already is left as it is.
    """
    active = (Run.State.QUEUED, Run.State.RUNNING)
    if Run.objects.filter(pk=run.pk, state__in=active).update(state=Run.State.STOPPING):
        _audit("run.stop", run, user)
        settle_run(run_id=run.pk)
    run.refresh_from_db()
    return run


@transaction.atomic
def resume_run(*, run: Run, user: User | None) -> Run:
    """Go on with a stopped run at the last commit. One that is not stopped is left as it is."""
    stopped = (Run.State.STOPPING, Run.State.STOPPED)
    resumed = Run.objects.filter(pk=run.pk, state__in=stopped).update(
        state=state_to_go_on(run), finished_at=None, note=""
    )
    if resumed:
        _audit("run.resume", run, user)
        settle_run(run_id=run.pk)
        transaction.on_commit(wake_workers)
    run.refresh_from_db()
    return run


@transaction.atomic
def rerun_failed(*, run: Run, user: User | None, why: str) -> int:
    """Run every failed store and evaluation of a run again, whole; return how many jobs.

    An evaluation's answers so far stay in its abandoned attempt; nothing of it is reused. The
    rerun is written to the study's deviations. Answers that were scored wrong are never rerun:
    only what an engine or a store failed to give.
    """
    if not why.strip():
        raise InvalidInputError("a rerun needs a reason", where="why")
    builds = list(run.store_builds.filter(state=Job.State.FAILED))
    evaluations = list(run.evaluations.filter(state=Job.State.FAILED).select_related("build"))
    if not builds and not evaluations:
        return 0
    Attempt.objects.filter(evaluation__in=evaluations, state=Attempt.State.OPEN).update(
        state=Attempt.State.ABANDONED, finished_at=timezone.now()
    )
    _make_ready(StoreBuild, [b.pk for b in builds if not b.spec.get("parent")], Job.State.READY)
    _make_ready(StoreBuild, [b.pk for b in builds if b.spec.get("parent")], Job.State.WAITING)
    _let_children_begin(run)
    waiting = [e.pk for e in evaluations if e.build is not None and e.build.store_id is None]
    ready = [e.pk for e in evaluations if e.pk not in set(waiting)]
    _make_ready(Evaluation, waiting, Job.State.WAITING)
    _make_ready(Evaluation, ready, Job.State.READY)
    Run.objects.filter(pk=run.pk).update(state=Run.State.QUEUED, finished_at=None)
    _note_rerun(run, user, why, builds, evaluations)
    settle_run(run_id=run.pk)
    transaction.on_commit(wake_workers)
    return len(builds) + len(evaluations)


def _let_children_begin(run: Run) -> None:
    """A store that is made from another one may be built where that one is there."""
    waiting = run.store_builds.filter(state=Job.State.WAITING)
    done = set(
        run.store_builds.filter(state=Job.State.COMPLETE).values_list("store_key", flat=True)
    )
    ids = [build.pk for build in waiting if build.spec.get("parent") in done]
    StoreBuild.objects.filter(pk__in=ids).update(state=Job.State.READY)


def _make_ready(
    model: type[StoreBuild] | type[Evaluation], ids: list[int], state: Job.State
) -> None:
    model._default_manager.filter(pk__in=ids).update(
        state=state, failures=0, retry_at=None, error="", finished_at=None
    )


def _note_rerun(
    run: Run,
    user: User | None,
    why: str,
    builds: list[StoreBuild],
    evaluations: list[Evaluation],
) -> None:
    Deviation.objects.create(
        study=run.study,
        by=user,
        what=(
            f"{count_of(len(builds), 'failed store')} and "
            f"{count_of(len(evaluations), 'failed evaluation')} of "
            f"{run.test} were run again as whole new attempts"
        ),
        why=why,
        touches=[
            *({"store": build.store_key} for build in builds),
            *({"evaluation": evaluation.pk} for evaluation in evaluations),
        ],
    )
    _audit("run.rerun", run, user)


def _audit(action: str, run: Run, user: User | None) -> None:
    AuditEntry.objects.create(
        workspace=run.study.workspace,
        user=user,
        action=action,
        subject=f"{run.study.key}/{run.test}/{run.number}",
    )
