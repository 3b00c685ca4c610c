"""Claims: one job, one owner, whatever the database and however many want it."""

import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone

from experiments.models import Answer, Evaluation, Job, StoreBuild, WorkerProcess
from experiments.runtime import claims, processes
from experiments.runtime.pool import use_pool
from experiments.runtime.whoami import this_host
from experiments.services.build_store import build_store
from experiments.services.evaluate import evaluate
from experiments.services.execution import Outcome
from tests.models import WatchedPool
from tests.runs import a_launched_run, work_off


@pytest.fixture(params=["sqlite_file", "postgres_database"])
def any_database(request: pytest.FixtureRequest) -> str:
    """A file of SQLite, then a real PostgreSQL: threads compete on both."""
    url: str = request.getfixturevalue(request.param)
    return url


@pytest.fixture
def pool() -> Iterator[WatchedPool]:
    pool = WatchedPool()
    use_pool(pool)
    yield pool
    use_pool(None)


def at_once(*actions: Callable[[], Any]) -> list[Any]:
    """Run actions in threads that start together; return their results."""
    barrier, results = threading.Barrier(len(actions)), [None] * len(actions)

    def run(n: int) -> None:
        try:
            barrier.wait()
            results[n] = actions[n]()
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(n,)) for n in range(len(actions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


@pytest.mark.services
def test_of_eight_threads_that_want_a_job_one_gets_it(any_database: str) -> None:
    run = a_launched_run()
    processes.this_process()
    for build in run.store_builds.all():
        take = lambda build=build: claims.take(StoreBuild, build.pk)  # noqa: E731
        won = [claim for claim in at_once(*[take] * 8) if claim is not None]
        assert len(won) == 1
        build.refresh_from_db()
        assert (build.state, build.claim) == (Job.State.RUNNING, won[0].token)
    claims.give_back_held()


@pytest.mark.services
def test_eight_threads_work_a_run_off_without_doubling_an_answer(
    any_database: str, pool: WatchedPool
) -> None:
    run = a_launched_run()
    at_once(*[lambda: work_off(at_most=100)] * 8)
    work_off()
    run.refresh_from_db()
    assert run.state == "complete"
    assert Answer.objects.count() == run.evaluations.count() * 5
    readers = [r for r in pool.requests if "</memory>" in r.prefix + r.suffix]
    assert len(readers) == Answer.objects.count()


def another_process(**changes: Any) -> WorkerProcess:
    values = {
        "kind": "celery", "host": "elsewhere", "pid": 1, "pid_started": "1",
        "heartbeat_at": timezone.now(), **changes,
    }  # fmt: skip
    return WorkerProcess.objects.create(**values)


def claimed_by(process: WorkerProcess, *, lease_s: float = 60) -> StoreBuild:
    build = a_launched_run().store_builds.order_by("position").first()
    assert build is not None
    claim = claims.take(StoreBuild, build.pk)
    assert claim is not None
    claims.drop(claim)
    lease_until = timezone.now() + timedelta(seconds=lease_s)
    StoreBuild.objects.filter(pk=build.pk).update(claimed_by=process, lease_until=lease_until)
    return build


@pytest.mark.django_db(transaction=True)
class TestLostClaims:
    def test_a_job_of_a_dead_process_on_this_host_is_free_at_once(self) -> None:
        mine = processes.this_process()
        dead = another_process(host=this_host(), pid=mine.pid, pid_started="another start")
        build = claimed_by(dead)
        assert claims.release_lost() == 1
        build.refresh_from_db()
        assert (build.state, build.claim, build.claimed_by) == ("ready", None, None)

    def test_a_job_of_a_process_elsewhere_is_free_when_its_lease_ran_out(self) -> None:
        claimed_by(another_process(), lease_s=60)
        now = timezone.now()
        assert claims.release_lost(now=now + timedelta(seconds=59)) == 0
        assert claims.release_lost(now=now + timedelta(seconds=61)) == 1

    def test_a_lease_is_prolonged_while_its_process_lives(self) -> None:
        build = a_launched_run().store_builds.first()
        assert build is not None
        assert claims.take(StoreBuild, build.pk)
        later = timezone.now() + timedelta(seconds=1000)
        claims.renew_held(now=later)
        assert claims.release_lost(now=later + timedelta(seconds=10)) == 0
        claims.give_back_held()
        build.refresh_from_db()
        assert build.state == "ready"

    def test_a_job_of_a_stopped_run_cannot_be_claimed(self) -> None:
        run = a_launched_run()
        build = run.store_builds.first()
        assert build is not None
        run.state = "stopping"
        run.save()
        assert claims.take(StoreBuild, build.pk) is None

    def test_who_lost_its_claim_on_an_evaluation_writes_nothing_more(
        self, pool: WatchedPool
    ) -> None:
        a_launched_run()
        while StoreBuild.objects.filter(state="ready").exists():
            work_off(at_most=1)
        evaluation = Evaluation.objects.filter(state="ready").first()
        assert evaluation is not None

        def lose_it_at_the_third_call(_request: object) -> None:
            if len(pool.requests) - asked == 2:
                row = Evaluation.objects.filter(pk=evaluation.pk)
                row.update(claim="00000000-0000-4000-8000-000000000000")

        asked = len(pool.requests)
        for model in pool.opened:
            model._before = lose_it_at_the_third_call
        assert evaluate(evaluation_id=evaluation.pk) == Outcome.LOST
        assert Answer.objects.count() == 2
        evaluation.refresh_from_db()
        assert str(evaluation.claim) == "00000000-0000-4000-8000-000000000000"

    def test_who_lost_its_claim_on_a_build_keeps_no_store(self, pool: WatchedPool) -> None:
        run = a_launched_run()
        build = run.store_builds.filter(format="notes").first()
        assert build is not None

        def lose_it(_request: object) -> None:
            StoreBuild.objects.filter(pk=build.pk).update(state="ready", claim=None)

        pool._before_call = lose_it
        assert build_store(build_id=build.pk) == Outcome.LOST
        build.refresh_from_db()
        assert build.store is None
        assert build.calls.count() == 0
