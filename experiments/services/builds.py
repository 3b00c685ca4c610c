"""The end of a store build, whatever was built."""

from django.utils import timezone

from experiments.models import Evaluation, Job, StoreBuild
from experiments.services.execution import Work
from stores.models import Store


def complete_build(build: StoreBuild, work: Work, store: Store, *, reused: bool) -> None:
    """End the build and let the evaluations of its store begin; the caller holds the commit."""
    work.claim.end(
        Job.State.COMPLETE, store=store, reused=reused, finished_at=timezone.now(), error=""
    )
    Evaluation.objects.filter(build=build, state=Job.State.WAITING).update(state=Job.State.READY)
