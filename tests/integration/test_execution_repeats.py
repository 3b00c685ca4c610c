"""Noise repeats: another process, another order, no answer reused, and the proof of it."""

from collections.abc import Iterator

import pytest

from experiments.models import Answer, Call, Run
from experiments.runtime import elsewhere, processes
from experiments.runtime.pool import use_pool
from experiments.selectors import prove_no_reuse
from tests.models import WatchedPool
from tests.runs import a_launched_run, work_off


@pytest.fixture
def pool() -> Iterator[WatchedPool]:
    pool = WatchedPool()
    use_pool(pool)
    yield pool
    use_pool(None)


@pytest.fixture
def a_child_that_is_the_test_entry(
    monkeypatch: pytest.MonkeyPatch, sqlite_file: str
) -> list[list[str]]:
    """Children run the tests' entry on the tests' database; gives the commands they got."""
    monkeypatch.setenv("DATABASE_URL", sqlite_file)
    command = [elsewhere.sys.executable, "-m", "tests.entry", "worker"]
    monkeypatch.setattr(elsewhere, "child_command", command)
    commands: list[list[str]] = []
    popen = elsewhere.subprocess.Popen

    def started(command: list[str], **options: object) -> object:
        commands.append(command)
        return popen(command, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(elsewhere.subprocess, "Popen", started)
    return commands


def test_repeats_run_in_another_process_and_order_and_reuse_nothing(
    pool: WatchedPool, a_child_that_is_the_test_entry: list[list[str]]
) -> None:
    run = a_launched_run(noise_repeats=4)
    work_off()
    run.refresh_from_db()
    assert run.state == Run.State.COMPLETE
    repeats = run.evaluations.filter(repeat=1)
    assert repeats.count() == 4
    readers = set(repeats.values_list("reader", flat=True))
    assert len(a_child_that_is_the_test_entry) == len(
        readers
    )  # one process, one loading of the model, per reader
    assert all(model.closed for model in pool.opened)
    for evaluation in repeats:
        assert evaluation.varied["process"] == "another process, the model loaded anew"
        assert evaluation.varied["order"] == "probes in another order"
    proof = prove_no_reuse(run)
    assert proof.holds
    assert (proof.repeats, proof.answers) == (4, 20)


def test_a_repeat_in_the_same_process_or_order_does_not_pass_for_a_measurement(
    pool: WatchedPool, monkeypatch: pytest.MonkeyPatch, sqlite_file: str
) -> None:
    monkeypatch.setattr(elsewhere, "needs_other_process", lambda _: False)
    run = a_launched_run(noise_repeats=2)
    work_off()
    proof = prove_no_reuse(run)
    assert not proof.holds
    assert len(proof.problems) == 2
    assert "the process that answered it also answered repeat 0" in proof.problems[0]
    assert run.evaluations.filter(repeat=1).first().varied["process"] == "the same"


def test_an_answer_with_the_call_of_another_attempt_is_found_out(
    pool: WatchedPool, monkeypatch: pytest.MonkeyPatch, sqlite_file: str
) -> None:
    monkeypatch.setattr(elsewhere, "needs_other_process", lambda _: False)
    run = a_launched_run(noise_repeats=1)

    def work_as_another_process() -> None:
        while run.evaluations.filter(repeat=0).exclude(state="complete").exists():
            work_off(at_most=1)
        processes.forget()
        work_off()

    work_as_another_process()
    assert prove_no_reuse(run).holds
    answer = Answer.objects.filter(attempt__evaluation__repeat=1).first()
    assert answer is not None
    stolen = Call.objects.filter(attempt__evaluation__repeat=0, answer__probe=answer.probe).first()
    assert stolen is not None
    Answer.objects.filter(call=stolen).update(call=None)
    Answer.objects.filter(pk=answer.pk).update(call=stolen)
    assert "has no call of its own" in prove_no_reuse(run).problems[0]


def test_a_run_without_repeats_proves_nothing(pool: WatchedPool, sqlite_file: str) -> None:
    run = a_launched_run()
    assert not prove_no_reuse(run).holds


def test_a_child_that_dies_counts_as_a_failure_of_the_repeat(
    pool: WatchedPool, monkeypatch: pytest.MonkeyPatch, sqlite_file: str
) -> None:
    monkeypatch.setattr(elsewhere, "child_command", ["/bin/false"])
    run = a_launched_run(noise_repeats=1)
    work_off()
    repeat = run.evaluations.get(repeat=1)
    assert (repeat.state, repeat.failures) == ("ready", 1)
    assert repeat.retry_at is not None
    assert repeat.error == "the process that ran this repeat ended with exit code 1"
    run.refresh_from_db()
    assert run.state == Run.State.RUNNING
