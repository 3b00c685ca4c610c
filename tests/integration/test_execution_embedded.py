"""The Celery worker inside a process: memory broker, dispatcher, heartbeat."""

from collections.abc import Iterator

import pytest
from celery import current_app

from experiments.models import Run, WorkerProcess
from experiments.runtime.pool import use_pool
from experiments.runtime.standby import ensure_worker
from tests.models import WatchedPool
from tests.runs import a_launched_run, wait_until_over

pytestmark = pytest.mark.usefixtures("sqlite_file")


@pytest.fixture
def pool() -> Iterator[WatchedPool]:
    pool = WatchedPool()
    use_pool(pool)
    yield pool
    use_pool(None)


def test_every_task_name_that_a_service_sends_is_registered() -> None:
    current_app.loader.import_default_modules()
    for name in ("experiments.build_store", "experiments.evaluate", "experiments.dispatch"):
        assert name in current_app.tasks


def test_a_worker_inside_the_process_works_a_run_off(pool: WatchedPool) -> None:
    run = a_launched_run()
    with ensure_worker() as worker:
        assert worker.works_here
        wait_until_over(run)
        assert WorkerProcess.objects.get().stopped_at is None
    assert run.state == Run.State.COMPLETE
    assert WorkerProcess.objects.get().stopped_at is not None
    assert all(model.closed for model in pool.opened)
