"""Claims: who owns a job. A job is taken by one conditional update and ended under the same claim.

Every update here names the claim in its condition. Whoever lost a claim changes nothing any more:
what it still holds in memory is discarded with `LostClaimError`.
"""

import threading
import uuid
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Q
from django.db.models.functions import Coalesce
from django.utils import timezone

from experiments.models import Evaluation, Job, Run, StoreBuild
from experiments.runtime.processes import is_gone, this_process

ACTIVE_RUNS = (Run.State.QUEUED, Run.State.RUNNING)
JOB_MODELS: tuple[type[StoreBuild] | type[Evaluation], ...] = (StoreBuild, Evaluation)

_held_lock = threading.Lock()
_held: set["Claim"] = set()


class LostClaimError(Exception):
    """The job belongs to somebody else by now: write nothing."""


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to work on one job, until it ends, is given back or runs out."""

    model: type[StoreBuild] | type[Evaluation]
    job_id: int
    token: uuid.UUID = field(default_factory=uuid.uuid4)

    def rows(self) -> Any:
        """The claimed job, as a query that finds nothing once the claim is lost."""
        return self.model._default_manager.filter(
            pk=self.job_id, claim=self.token, state=Job.State.RUNNING
        )

    def renew(self, *, now: datetime) -> None:
        """Prolong the lease; raise LostClaimError where there is nothing to prolong.

        Inside a transaction this also locks the row, so that the claim holds until the commit.
        """
        lease_until = now + timedelta(seconds=settings.LEASE_S)
        if not self.rows().update(lease_until=lease_until):
            raise LostClaimError(f"{self.model.__name__} {self.job_id}")

    def end(self, state: Job.State, **values: Any) -> None:
        """Leave the job in `state` and give the claim up; raise LostClaimError if it was lost."""
        gone = {"claim": None, "claimed_by": None, "lease_until": None}
        if not self.rows().update(state=state, **gone, **values):
            raise LostClaimError(f"{self.model.__name__} {self.job_id}")
        drop(self)


def take(
    model: type[StoreBuild] | type[Evaluation], job_id: int, *, now: datetime | None = None
) -> Claim | None:
    """Claim a ready job of an active run; None where somebody else was first."""
    now = now or timezone.now()
    claim = Claim(model, job_id)
    # `state` must be a condition on the row itself: PostgreSQL checks it again after it waited
    # for a rival's update, which it would not do inside a subquery.
    taken = (
        model._default_manager.filter(pk=job_id, state=Job.State.READY)
        .filter(Q(retry_at=None) | Q(retry_at__lte=now))
        .filter(run_id__in=Run.objects.filter(state__in=ACTIVE_RUNS).values("pk"))
        .update(
            state=Job.State.RUNNING,
            claim=claim.token,
            claimed_by=this_process(now=now).pk,
            lease_until=now + timedelta(seconds=settings.LEASE_S),
            started_at=Coalesce("started_at", now),
            error="",
        )
    )
    if not taken:
        return None
    with _held_lock:
        _held.add(claim)
    return claim


def drop(claim: Claim) -> None:
    """Stop prolonging this claim."""
    with _held_lock:
        _held.discard(claim)


def held() -> list[Claim]:
    """Return the claims that this process works under."""
    with _held_lock:
        return list(_held)


def renew_held(*, now: datetime | None = None) -> None:
    """Prolong the lease of every job that this process works on."""
    for claim in held():
        try:
            claim.renew(now=now or timezone.now())
        except LostClaimError:
            drop(claim)


def give_back_held() -> None:
    """Make every job of this process ready again: it stops, and its late commits are refused."""
    for claim in held():
        try:
            claim.end(Job.State.READY)
        except LostClaimError:
            drop(claim)


def release_lost(*, now: datetime | None = None) -> int:
    """Make jobs ready again whose process is gone or whose lease ran out; return how many."""
    now = now or timezone.now()
    return sum(_release(model, now=now) for model in JOB_MODELS)


def _release(model: type[StoreBuild] | type[Evaluation], *, now: datetime) -> int:
    running = model._default_manager.filter(state=Job.State.RUNNING).select_related("claimed_by")
    lost = [job for job in running if _is_lost(job, now=now)]
    return sum(_release_one(model, job) for job in lost)


def _is_lost(job: Job, *, now: datetime) -> bool:
    if job.claimed_by is None or job.lease_until is None or is_gone(job.claimed_by):
        return True
    return job.lease_until < now


def _release_one(model: type[StoreBuild] | type[Evaluation], job: Job) -> int:
    # The condition repeats what was read: a lease renewed in between keeps its job.
    unchanged: dict[str, Any] = {"claim": job.claim, "lease_until": job.lease_until}
    return model._default_manager.filter(pk=job.pk, state=Job.State.RUNNING, **unchanged).update(
        state=Job.State.READY, claim=None, claimed_by=None, lease_until=None
    )
