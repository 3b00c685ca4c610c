"""The shell around every job: claim, work, and what becomes of the job when it goes wrong."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Any

from django.db import Error, transaction
from django.utils import timezone

from experiments.models import Evaluation, Job, Run, StoreBuild
from experiments.runtime.claims import ACTIVE_RUNS, Claim, LostClaimError, drop, take
from experiments.runtime.stopping import stop_requested
from experiments.services.run_state import settle_run
from stores.errors import InvalidInputError
from stores.roles import EngineError

logger = logging.getLogger(__name__)

# How long to wait after the first, second, … failure; after the last one the job has failed.
RETRY_AFTER_S = (5, 20, 80, 320)


class Outcome(StrEnum):
    """How one try at a job ended."""

    DONE = "done"
    NOT_CLAIMED = "not claimed"  # somebody else has it, or its run is stopped
    STOPPED = "stopped"  # given back; goes on at the last commit
    RETRY = "retry"
    FAILED = "failed"
    LOST = "lost"  # the claim ran out; what was not committed is discarded


class StopWorkError(Exception):
    """The run was stopped, or this process ends: give the claim back."""


@dataclass(frozen=True, slots=True)
class Work:
    """A claimed job in progress."""

    claim: Claim
    run_id: int

    def check_stop(self) -> None:
        """Raise StopWorkError where the run was stopped or this process ends."""
        active = Run.objects.filter(pk=self.run_id, state__in=ACTIVE_RUNS)
        if stop_requested() or not active.exists():
            raise StopWorkError

    @contextmanager
    def commit(self) -> Iterator[None]:
        """Open the transaction of one result; it is refused where the claim was lost."""
        with transaction.atomic():
            self.claim.renew(now=timezone.now())
            yield


def execute(
    model: type[StoreBuild] | type[Evaluation], job_id: int, do: Callable[[Work], None]
) -> Outcome:
    """Claim a job and do it; leave its row in a state that says what happened."""
    claim = take(model, job_id)
    if claim is None:
        return Outcome.NOT_CLAIMED
    run_id = model._default_manager.values_list("run_id", flat=True).get(pk=job_id)
    try:
        settle_run(run_id=run_id)
        return _try(Work(claim, run_id), do)
    finally:
        drop(claim)
        _settle_quietly(run_id)


def _try(work: Work, do: Callable[[Work], None]) -> Outcome:
    try:
        do(work)
        return Outcome.DONE
    except LostClaimError:
        logger.warning("claim on %s was lost; the work is discarded", work.claim)
        return Outcome.LOST
    except StopWorkError:
        return _end(work, Outcome.STOPPED)
    except EngineError as error:
        return _after_failure(work, str(error), retryable=error.retryable)
    except InvalidInputError as error:
        return _after_failure(work, str(error), retryable=False)
    except Error as error:
        return _after_database_error(work, error)
    except OSError as error:
        return _after_failure(work, f"the system refused: {error}", retryable=True)
    except Exception as error:
        logger.exception("unexpected error in %s", work.claim)
        name = type(error).__name__
        return _after_failure(work, f"unexpected error: {name}: {error}", retryable=False)


def _after_failure(work: Work, message: str, *, retryable: bool) -> Outcome:
    failures = work.claim.model._default_manager.values_list("failures", flat=True).get(
        pk=work.claim.job_id
    )
    if retryable and failures < len(RETRY_AFTER_S):
        retry_at = timezone.now() + timedelta(seconds=RETRY_AFTER_S[failures])
        return _end(work, Outcome.RETRY, failures=failures + 1, retry_at=retry_at, error=message)
    return _end(
        work,
        Outcome.FAILED,
        failures=failures + 1,
        retry_at=None,
        error=message,
        finished_at=timezone.now(),
    )


def _after_database_error(work: Work, error: Error) -> Outcome:
    """A full disk or a database that is away: nothing half-written, and the job stays to be done.

    Where even this cannot be noted, the lease runs out and the job becomes ready by itself.
    """
    message = f"the database could not be written (is the disk full?): {error}"
    logger.error("%s; what was committed is kept, the job is tried again", message)
    retry_at = timezone.now() + timedelta(seconds=RETRY_AFTER_S[1])
    try:
        return _end(work, Outcome.RETRY, retry_at=retry_at, error=message)
    except Error:
        return Outcome.LOST


def _end(work: Work, outcome: Outcome, **values: Any) -> Outcome:
    state = Job.State.FAILED if outcome is Outcome.FAILED else Job.State.READY
    try:
        with transaction.atomic():
            work.claim.end(state, **values)
            if outcome is Outcome.FAILED and work.claim.model is StoreBuild:
                fail_dependents(build_id=work.claim.job_id, because=values["error"])
    except LostClaimError:
        return Outcome.LOST
    return outcome


def note_crash(*, evaluation_id: int, message: str) -> None:
    """Count a failure of an evaluation whose process ended without a word.

    Otherwise a repeat that kills its process would be started for ever.
    """
    evaluation = Evaluation.objects.filter(pk=evaluation_id, state=Job.State.READY).first()
    if evaluation is None:
        return
    failures = evaluation.failures
    again = failures < len(RETRY_AFTER_S)
    retry_at = timezone.now() + timedelta(seconds=RETRY_AFTER_S[failures]) if again else None
    Evaluation.objects.filter(pk=evaluation_id, state=Job.State.READY, failures=failures).update(
        state=Job.State.READY if again else Job.State.FAILED,
        failures=failures + 1,
        retry_at=retry_at,
        error=message,
        finished_at=None if again else timezone.now(),
    )


def fail_dependents(*, build_id: int, because: str) -> None:
    """Fail what waits for a store that will not come: its evaluations, stores made from it."""
    now, message = timezone.now(), f"the store could not be built: {because}"
    Evaluation.objects.filter(build_id=build_id, state=Job.State.WAITING).update(
        state=Job.State.FAILED, error=message, finished_at=now
    )
    build = StoreBuild.objects.get(pk=build_id)
    children = StoreBuild.objects.filter(
        run_id=build.run_id, state=Job.State.WAITING, spec__parent=build.store_key
    )
    for child_id in list(children.values_list("pk", flat=True)):
        StoreBuild.objects.filter(pk=child_id).update(
            state=Job.State.FAILED, error=message, finished_at=now
        )
        fail_dependents(build_id=child_id, because=because)


def _settle_quietly(run_id: int) -> None:
    try:
        settle_run(run_id=run_id)
    except Error as error:
        logger.warning("the run's state could not be brought up to date: %s", error)
