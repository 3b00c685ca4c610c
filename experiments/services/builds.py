"""The end of a store build, whatever was built."""

from django.utils import timezone

from experiments.models import Evaluation, Job, StoreBuild
from experiments.services.execution import Work
from stores.models import Store


def complete_build(build: StoreBuild, work: Work, store: Store, *, reused: bool) -> None:
    """End the build and let begin what waited for its store; the caller holds the commit."""
    work.claim.end(
        Job.State.COMPLETE, store=store, reused=reused, finished_at=timezone.now(), error=""
    )
    Evaluation.objects.filter(build=build, state=Job.State.WAITING).update(state=Job.State.READY)
    StoreBuild.objects.filter(
        run_id=build.run_id, state=Job.State.WAITING, spec__parent=build.store_key
    ).update(state=Job.State.READY)
