"""How many threads a model gets: as many as find a processor free."""

from pathlib import Path

import pytest

from experiments.engines.cpu import free_threads


def threads(tmp_path: Path, *, idle: int, busy: int, cpus: int = 2) -> int:
    """Return the threads when, between two looks, so many ticks were idle and busy."""
    stat = tmp_path / "stat"
    stat.write_text("cpu 100 0 50 1000 10 0 0 0 0 0\ncpu0 1 2 3\n")

    def later(_: float) -> None:
        stat.write_text(f"cpu {100 + busy} 0 50 {1000 + idle} 10 0 0 0 0 0\ncpu0 1 2 3\n")

    return free_threads(stat=stat, sleep=later, cpus=cpus)


@pytest.fixture(autouse=True)
def two_processors(monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 2)


def test_an_idle_machine_gives_all_its_processors(tmp_path):
    assert threads(tmp_path, idle=50, busy=0) == 2


def test_a_busy_machine_gives_one(tmp_path):
    assert threads(tmp_path, idle=0, busy=50) == 1
    assert threads(tmp_path, idle=20, busy=30) == 1


def test_a_little_work_of_others_takes_no_thread_away(tmp_path):
    assert threads(tmp_path, idle=45, busy=5) == 2


def test_a_process_that_may_use_one_processor_gets_one(tmp_path):
    assert threads(tmp_path, idle=50, busy=0, cpus=1) == 1


def test_more_than_four_threads_are_never_taken_unasked(tmp_path, monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 16)
    assert threads(tmp_path, idle=50, busy=0, cpus=16) == 4


def test_where_the_system_does_not_tell_all_are_taken(tmp_path):
    assert free_threads(stat=tmp_path / "none", sleep=lambda _: None, cpus=2) == 2
    (tmp_path / "odd").write_text("what is this\n")
    assert free_threads(stat=tmp_path / "odd", sleep=lambda _: None, cpus=2) == 2
