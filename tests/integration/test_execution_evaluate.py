"""Building stores and running evaluations, one job after the other, without Celery."""

from collections.abc import Iterator

import pytest

from experiments.models import Answer, Call, Evaluation, Run, StoreBuild
from experiments.runtime.pool import use_pool
from experiments.selectors import costs, progress
from experiments.services.build_store import build_store
from experiments.services.evaluate import evaluate
from experiments.services.execution import Outcome
from stores.models import Store
from tests.models import WatchedPool
from tests.runs import a_launched_run, answers_table, work_off

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def pool() -> Iterator[WatchedPool]:
    pool = WatchedPool()
    use_pool(pool)
    yield pool
    use_pool(None)


def test_a_run_is_worked_off_to_the_last_answer(pool: WatchedPool) -> None:
    run = a_launched_run()
    work_off()
    run.refresh_from_db()
    assert run.state == Run.State.COMPLETE
    assert run.started_at is not None and run.finished_at is not None
    assert Store.objects.count() == 6
    assert run.evaluations.filter(state="complete").count() == 12
    assert Answer.objects.count() == 12 * 5
    assert not Answer.objects.filter(correct=None).exists()
    assert {"rag"} == set(
        Answer.objects.exclude(recall=None).values_list("attempt__evaluation__format", flat=True)
    )
