"""The Celery worker inside a process: memory broker, dispatcher, heartbeat."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from celery import current_app
from django.utils import timezone

from experiments.models import Call, Run, WorkerProcess
from experiments.runtime import stopping
from experiments.runtime.pool import use_pool
from experiments.runtime.seat import Seat
from experiments.runtime.standby import StandbyWorker, ensure_worker
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


def test_with_a_broker_of_its_own_a_server_leaves_the_work_to_the_workers(
    settings: Any, tmp_path: Path
) -> None:
    settings.CELERY_BROKER_URL, settings.HOME = "redis://127.0.0.1:1/0", tmp_path
    server = StandbyWorker(kind=WorkerProcess.Kind.SERVER)
    assert not server.start()
    assert server.who() == (
        "the cluster's workers, of which none lives now: start `memport worker`"
    )
    WorkerProcess.objects.create(
        kind="celery", host="elsewhere", pid=7, pid_started="1", heartbeat_at=timezone.now()
    )
    assert server.who() == "another celery process (pid 7)"
    assert server.stop()


def test_of_two_workers_in_two_processes_one_works(
    pool: WatchedPool, settings: Any, tmp_path: Path
) -> None:
    settings.HOME = tmp_path
    taken = Seat()
    assert taken.take()
    with ensure_worker() as worker:
        assert not worker.works_here
        assert worker.who() == "another process that is just starting or ending"
        run = a_launched_run()
        taken.free()  # as the kernel does when the other process dies
        wait_until_over(run)
        assert worker.works_here
    assert run.state == Run.State.COMPLETE


def test_a_call_that_outlasts_the_stop_is_not_waited_for_and_its_answer_is_refused(
    settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.HOME = tmp_path
    monkeypatch.setattr(stopping, "note_call_left", lambda: None)
    release, asked = threading.Event(), threading.Event()

    def hang(_request: object) -> None:
        asked.set()
        release.wait(30)

    use_pool(WatchedPool(before=hang))
    run = a_launched_run(formats=["notes"])
    worker = StandbyWorker()
    assert worker.start()
    assert asked.wait(30)
    assert worker.stop(grace_s=0.2) is False
    assert set(run.store_builds.values_list("state", flat=True)) == {"ready"}
    release.set()
    time.sleep(0.5)
    assert Call.objects.count() == 0
    assert set(run.store_builds.values_list("state", "failures")) == {("ready", 0)}
    use_pool(None)
