"""Building stores and running evaluations, one job after the other, without Celery."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError
from django.utils import timezone

from experiments.models import Answer, Attempt, Call, Evaluation, Run, StoreBuild
from experiments.runtime.pool import use_pool
from experiments.selectors import costs, progress
from experiments.services.build_store import build_store
from experiments.services.control import resume_run, stop_run
from experiments.services.evaluate import evaluate
from experiments.services.execution import RETRY_AFTER_S, Outcome
from stores.models import Blob, Store
from stores.roles import ChatRequest, EngineError
from tests.models import WatchedPool
from tests.runs import a_launched_run, answers_table, work_off

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def pool() -> Iterator[WatchedPool]:
    pool = WatchedPool()
    use_pool(pool)
    yield pool
    use_pool(None)


class Interrupt:
    """Does something before the n-th call that follows."""

    def __init__(self, pool: WatchedPool, action: Any, *, at_call: int) -> None:
        self._left, self._action = at_call, action
        pool._before_call = self
        for model in pool.opened:
            model._before = self

    def __call__(self, request: ChatRequest) -> None:
        self._left -= 1
        if self._left == 0:
            self._action(request)


def raising(error: Exception) -> Any:
    def action(_request: ChatRequest) -> None:
        raise error

    return action


def build_all() -> None:
    while StoreBuild.objects.filter(state="ready").exists():
        work_off(at_most=1)


def test_a_run_is_worked_off_to_the_last_answer(pool: WatchedPool) -> None:
    run = a_launched_run()
    work_off()
    run.refresh_from_db()
    assert run.state == Run.State.COMPLETE
    assert run.started_at is not None
    assert run.finished_at is not None
    assert Store.objects.count() == 6
    assert run.evaluations.filter(state="complete").count() == 12
    assert Answer.objects.count() == 12 * 5
    assert not Answer.objects.filter(correct=None).exists()
    assert {"rag"} == set(
        Answer.objects.exclude(recall=None).values_list("attempt__evaluation__format", flat=True)
    )


def test_a_store_keeps_its_provenance_and_coverage(pool: WatchedPool) -> None:
    run = a_launched_run()
    build_all()
    build = run.store_builds.get(format="notes", writer="old")
    store = build.store
    assert store is not None
    assert store.writer_identity["fingerprint"] == "old"
    assert store.prompt_sha256 and store.prompt_version == "v2"  # noqa: PT018
    assert store.coverage["probes"] == 5
    assert store.size_bytes == len(bytes(store.content.data))
    assert build.calls.filter(role="writer").count() > 0


def test_evaluations_wait_for_their_store(pool: WatchedPool) -> None:
    run = a_launched_run()
    assert set(run.evaluations.values_list("state", flat=True)) == {"waiting"}
    build = run.store_builds.get(format="lc_raw")
    assert build_store(build_id=build.pk) == Outcome.DONE
    ready = run.evaluations.filter(state="ready")
    assert set(ready.values_list("format", flat=True)) == {"lc_raw"}


def test_a_second_study_reuses_the_stores_and_calls_no_writer(pool: WatchedPool) -> None:
    a_launched_run()
    work_off()
    asked = len(pool.requests)
    again = a_launched_run(key="again", title="The same once more")
    build_all()
    assert len(pool.requests) == asked
    assert again.store_builds.filter(reused=True, state="complete").count() == 6
    assert Store.objects.count() == 6
    work_off()
    assert len(pool.requests) == asked + 12 * 5


def test_an_evaluation_goes_on_at_its_last_committed_answer(pool: WatchedPool) -> None:
    run = a_launched_run()
    build_all()
    evaluation = run.evaluations.filter(format="lc_raw").first()
    assert evaluation is not None
    Interrupt(pool, raising(EngineError("the endpoint is down", retryable=True)), at_call=3)
    assert evaluate(evaluation_id=evaluation.pk) == Outcome.RETRY
    first = list(Answer.objects.order_by("pk").values_list("pk", "text"))
    assert len(first) == 2
    evaluation.refresh_from_db()
    assert evaluation.state == "ready"
    assert evaluation.error == "the endpoint is down"
    assert evaluation.retry_at is not None
    assert evaluate(evaluation_id=evaluation.pk) == Outcome.NOT_CLAIMED  # not yet due
    Evaluation.objects.update(retry_at=None)
    asked = len(pool.requests)
    assert evaluate(evaluation_id=evaluation.pk) == Outcome.DONE
    assert len(pool.requests) - asked == 3
    assert list(Answer.objects.order_by("pk").values_list("pk", "text"))[:2] == first
    attempt = evaluation.attempts.get()
    assert (attempt.state, attempt.resumes) == ("complete", 1)


def test_every_evaluation_and_every_resume_begins_with_an_empty_cache(pool: WatchedPool) -> None:
    run = a_launched_run()
    build_all()
    forgotten = sum(model.forgotten for model in pool.opened)
    evaluation = run.evaluations.filter(format="lc_raw").first()
    assert evaluation is not None
    Interrupt(pool, raising(EngineError("down", retryable=True)), at_call=3)
    evaluate(evaluation_id=evaluation.pk)
    Evaluation.objects.update(retry_at=None)
    evaluate(evaluation_id=evaluation.pk)
    assert sum(model.forgotten for model in pool.opened) == forgotten + 2
    primed = evaluation.attempts.get().calls.filter(primed_tokens__gt=0)
    assert list(primed.order_by("position").values_list("position", flat=True)) == [0, 2]


def test_interruptions_change_no_answer(pool: WatchedPool) -> None:
    run = a_launched_run()
    work_off()
    whole = answers_table(run)
    Answer.objects.all().delete()
    Attempt.objects.all().delete()
    Evaluation.objects.all().update(state="ready")
    Run.objects.update(state="running")
    for n in range(1, 60):
        Interrupt(pool, raising(EngineError("down", retryable=True)), at_call=1 + n % 4)
        work_off(at_most=1)
        Evaluation.objects.update(retry_at=None, failures=0)
    work_off()
    assert Attempt.objects.filter(resumes__gt=0).exists()
    assert answers_table(run) == whole


def test_an_engine_that_stays_down_fails_its_evaluation_and_counts_no_answer_as_wrong(
    pool: WatchedPool,
) -> None:
    run = a_launched_run()
    build_all()
    evaluation = run.evaluations.filter(format="lc_raw").first()
    assert evaluation is not None
    for n in range(len(RETRY_AFTER_S) + 1):
        Interrupt(pool, raising(EngineError("no answer in 60 s", retryable=True)), at_call=1)
        before = timezone.now()
        outcome = evaluate(evaluation_id=evaluation.pk)
        evaluation.refresh_from_db()
        if n < len(RETRY_AFTER_S):
            assert outcome == Outcome.RETRY
            assert evaluation.retry_at is not None
            assert evaluation.retry_at >= before + timedelta(seconds=RETRY_AFTER_S[n])
        Evaluation.objects.update(retry_at=None)
    assert (outcome, evaluation.state) == (Outcome.FAILED, "failed")
    assert evaluation.error == "no answer in 60 s"
    assert Answer.objects.count() == 0
    Interrupt(pool, raising(AssertionError), at_call=10_000)
    work_off()
    run.refresh_from_db()
    assert run.state == Run.State.INCOMPLETE


def test_an_error_that_no_retry_can_mend_fails_at_once(pool: WatchedPool) -> None:
    run = a_launched_run()
    build = run.store_builds.get(format="notes", writer="old")
    Interrupt(pool, raising(EngineError("the endpoint serves another model")), at_call=1)
    assert build_store(build_id=build.pk) == Outcome.FAILED
    waiting = run.evaluations.filter(build=build)
    assert set(waiting.values_list("state", "error")) == {
        ("failed", "the store could not be built: the endpoint serves another model")
    }


def test_a_prompt_that_does_not_fit_is_refused_with_the_numbers(pool: WatchedPool) -> None:
    run = a_launched_run(
        budgets={"context_tokens": 256, "writer_output_tokens": 64, "reader_output_tokens": 100}
    )
    build_all()
    asked = len(pool.requests)
    evaluation = run.evaluations.filter(format="lc_raw").first()
    assert evaluation is not None
    assert evaluate(evaluation_id=evaluation.pk) == Outcome.FAILED
    evaluation.refresh_from_db()
    assert "100 reserved for the answer" in evaluation.error
    assert "is given 256" in evaluation.error
    assert len(pool.requests) == asked


def test_a_store_whose_content_was_changed_is_not_read(pool: WatchedPool) -> None:
    run = a_launched_run()
    build_all()
    evaluation = run.evaluations.filter(format="lc_raw").first()
    assert evaluation is not None
    assert evaluation.build is not None
    assert evaluation.build.store is not None
    Blob.objects.filter(pk=evaluation.build.store.content_id).update(data=b"{}")
    assert evaluate(evaluation_id=evaluation.pk) == Outcome.FAILED
    evaluation.refresh_from_db()
    assert "no longer matches its checksum" in evaluation.error


def test_a_reader_that_changed_between_two_tries_begins_a_new_attempt(pool: WatchedPool) -> None:
    run = a_launched_run()
    build_all()
    evaluation = run.evaluations.filter(format="lc_raw").first()
    assert evaluation is not None
    Interrupt(pool, raising(EngineError("down", retryable=True)), at_call=3)
    evaluate(evaluation_id=evaluation.pk)
    Evaluation.objects.update(retry_at=None)
    Attempt.objects.update(reader_identity={"fingerprint": "another file"})
    assert evaluate(evaluation_id=evaluation.pk) == Outcome.DONE
    states = evaluation.attempts.order_by("number").values_list("state", flat=True)
    assert list(states) == ["abandoned", "complete"]
    assert evaluation.attempts.get(number=1).answers.count() == 2


def test_a_stopped_run_gives_its_job_back_and_goes_on_where_it_was(pool: WatchedPool) -> None:
    run = a_launched_run()
    build_all()
    evaluation = run.evaluations.filter(format="lc_raw").first()
    assert evaluation is not None
    Interrupt(pool, lambda _: stop_run(run=run, user=None), at_call=2)
    assert evaluate(evaluation_id=evaluation.pk) == Outcome.STOPPED
    run.refresh_from_db()
    evaluation.refresh_from_db()
    assert (run.state, evaluation.state, evaluation.failures) == ("stopped", "ready", 0)
    assert Answer.objects.count() == 2  # the call that was under way is kept
    assert work_off() == 0
    resume_run(run=run, user=None)
    work_off()
    run.refresh_from_db()
    assert run.state == Run.State.COMPLETE


def test_a_killed_build_pays_for_no_reply_twice(pool: WatchedPool) -> None:
    run = a_launched_run()
    build = run.store_builds.get(format="kg_fixed", writer="old")
    Interrupt(pool, raising(EngineError("down", retryable=True)), at_call=3)
    assert build_store(build_id=build.pk) == Outcome.RETRY
    assert build.calls.count() == 2
    StoreBuild.objects.update(retry_at=None)
    assert build_store(build_id=build.pk) == Outcome.DONE
    suffixes = [r.suffix for r in pool.requests]
    assert len(suffixes) == len(set(suffixes)) == build.calls.count()
    other = run.store_builds.get(format="kg_fixed", writer="new")
    assert build_store(build_id=other.pk) == Outcome.DONE
    assert other.calls.count() == build.calls.count()  # nothing was taken from the other build


def test_a_full_disk_leaves_nothing_half_written_and_the_job_to_be_done(
    pool: WatchedPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = a_launched_run()
    build_all()
    evaluation = run.evaluations.filter(format="lc_raw").first()
    assert evaluation is not None
    saved: list[Answer] = []
    save = Answer.save

    def full(self: Answer, *args: Any, **kwargs: Any) -> None:
        if len(saved) == 2:
            raise OperationalError("database or disk is full")
        saved.append(self)
        save(self, *args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(Answer, "save", full)
        assert evaluate(evaluation_id=evaluation.pk) == Outcome.RETRY
    evaluation.refresh_from_db()
    assert "disk full" in evaluation.error
    assert (evaluation.state, evaluation.failures) == ("ready", 0)
    calls = Call.objects.filter(attempt__evaluation=evaluation)
    assert calls.count() == Answer.objects.count() == 2
    Evaluation.objects.update(retry_at=None)
    assert evaluate(evaluation_id=evaluation.pk) == Outcome.DONE


def test_progress_names_the_step_and_estimates_what_is_left(pool: WatchedPool) -> None:
    run = a_launched_run()
    found = progress(run)
    assert (found.state, found.jobs_done, found.jobs_total) == ("queued", 0, 18)
    assert (found.step, found.left_s, found.elapsed_s) == ("waiting for a worker", None, None)
    build_all()
    seen = []
    Interrupt(pool, lambda _: seen.append(progress(run)), at_call=3)
    work_off(at_most=1)
    assert seen[0].step == "new reads lc_raw of " + run.evaluations.first().history.key + (
        ": 2 answers so far"
    )
    assert seen[0].builds["complete"] == 6
    assert seen[0].left_s is not None
    assert seen[0].left_s > 0
    work_off()
    done = progress(run)
    assert (done.step, done.share, done.left_s, done.answers) == ("complete", 1.0, 0.0, 60)
    assert done.is_over


def test_costs_add_up_every_call_by_role_and_model(pool: WatchedPool) -> None:
    price = {"prompt_usd_per_mtok": 2.0, "cached_usd_per_mtok": 1.0, "output_usd_per_mtok": 10.0}
    models = [{"key": k, "engine": "scripted", "price": price} for k in ("old", "new")]
    run = a_launched_run(models=models)
    work_off()
    rows = {(cost.role, cost.model): cost for cost in costs(run)}
    assert set(rows) == {
        ("writer", "old"), ("writer", "new"), ("reader", "old"), ("reader", "new"),
        ("embedder", "bag"),
    }  # fmt: skip
    reader = rows["reader", "new"]
    assert reader.calls == 30
    assert reader.prompt_tokens is not None
    assert reader.computed_tokens is not None
    assert 0 < reader.computed_tokens < reader.prompt_tokens
    for cost in rows.values():
        if cost.role != "embedder":
            assert cost.cost_usd == pytest.approx(
                (cost.computed_tokens * 2 + cost.cached_tokens * 1 + cost.output_tokens * 10) / 1e6
            )
    assert rows["embedder", "bag"].prompt_tokens is None
