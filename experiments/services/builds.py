"""The end of a store build, whatever was built."""

from django.utils import timezone

from experiments.models import Evaluation, Job, StoreBuild
from experiments.services.execution import Work
from stores.errors import InvalidInputError
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


def parent_store(build: StoreBuild) -> Store:
    """Return the store of the same run that a build begins at."""
    parent = StoreBuild.objects.select_related("store__content").get(
        run_id=build.run_id, store_key=build.spec["parent"]
    )
    if parent.store is None:
        raise InvalidInputError(
            f"the store {parent.store_key!r}, which this one is made from, is not built"
        )
    return parent.store
