"""The same code on Redis and PostgreSQL, with several worker processes."""

import time
from pathlib import Path

import pytest

from experiments.models import Answer, Call, Run, WorkerProcess
from experiments.selectors import prove_no_reuse
from tests.processes import running
from tests.runs import a_launched_run, wait_until_over

pytestmark = pytest.mark.services


def cluster(database: str, redis: str) -> dict[str, str]:
    """Short leases, slow calls: what a dead worker held is free again within the test."""
    return {
        "database": database, "CELERY_BROKER_URL": redis, "MEMPORT_LEASE_S": "4",
        "MEMPORT_HEARTBEAT_S": "1", "TEST_CALL_S": "0.05",
    }  # fmt: skip


@pytest.mark.parametrize(("pool", "noise_repeats"), [("threads", 1), ("prefork", 0)])
def test_two_workers_share_a_run_and_one_may_die(
    pool: str, noise_repeats: int, tmp_path: Path, postgres_database: str, redis_server: str
) -> None:
    arguments = ("worker", "--pool", pool, "--concurrency", "2")
    shared = cluster(postgres_database, redis_server)
    with (
        running(*arguments, home=tmp_path, **shared) as first,  # type: ignore[arg-type]
        running(*arguments, home=tmp_path, **shared) as second,  # type: ignore[arg-type]
    ):
        for worker in (first, second):
            worker.wait_for("ready.")
        run = a_launched_run(noise_repeats=noise_repeats)
        wait_for_answers(10)
        first.process.kill()
        assert wait_until_over(run).state == Run.State.COMPLETE
        assert second.end() == 0
    assert Answer.objects.count() == run.evaluations.count() * 5
    assert Call.objects.filter(role="reader").count() == Answer.objects.count()
    assert prove_no_reuse(run).holds == bool(noise_repeats)
    assert WorkerProcess.objects.filter(kind="celery").count() >= 2


def wait_for_answers(n: int, *, seconds: float = 300) -> None:
    deadline = time.monotonic() + seconds
    while Answer.objects.count() < n:
        assert time.monotonic() < deadline, f"no {n} answers within {seconds:g} s"
        time.sleep(0.05)
