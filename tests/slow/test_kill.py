"""SIGKILL at twenty points of a run, then a resume: the answers are those of a quiet run."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from experiments.models import Answer, Call, Run, StoreBuild
from experiments.selectors import prove_no_reuse
from tests.runs import a_launched_run, answers_table
from tests.services import database

pytestmark = pytest.mark.slow

# Each kill goes on where the one before left the run: builds, then evaluations, then repeats.
KILLS = (
    "main/claimed:1",
    "main/writer asked:1",
    "main/writer replied, not committed:1",
    "main/writer replied, not committed:2",
    "main/reply saved, not committed:1",
    "main/reply committed:1",
    "main/store written:1",
    "main/store inserted:1",
    "main/job ended, not committed:1",
    "main/build complete:1",
    "main/attempt open:1",
    "main/reader asked:1",
    "main/reader replied, not committed:1",
    "main/reader replied, not committed:4",
    "main/call without answer:1",
    "main/answer saved:1",
    "main/answers saved, not committed:2",
    "main/last answer committed:1",
    "main/attempt complete, run not settled:1",
    "main/reader replied, not committed:13",
    "main/repeat in a child:1",
    "child/reader replied, not committed:3",
    "child/answers saved, not committed:2",
)


class Worker:
    """Starts the worker that kills itself, on one database."""

    def __init__(self, url: str, home: Path) -> None:
        self._url, self._home = url, home
        self.log = home / "kills.jsonl"

    def run(self, kill_at: str = "") -> int:
        """Work until the run is over or the point is reached; return the exit code."""
        env = {
            **os.environ, "DATABASE_URL": self._url, "MEMPORT_HOME": str(self._home),
            "TEST_KILL_AT": kill_at, "TEST_KILL_LOG": str(self.log),
        }  # fmt: skip
        command = [sys.executable, "-m", "tests.killing", "work"]
        done = subprocess.run(command, env=env, check=False, timeout=180, stderr=subprocess.DEVNULL)
        return done.returncode

    def kills(self) -> list[dict[str, object]]:
        """What the killed processes noted in their last moment."""
        return [json.loads(line) for line in self.log.read_text().splitlines()]


@pytest.fixture
def launched(sqlite_file: str, tmp_path: Path) -> Iterator[tuple[str, str]]:
    """Two copies of one database in which a study is launched; the first one is the default."""
    a_launched_run(n_histories=1, noise_repeats=2)
    from django.db import connection

    connection.close()
    quiet = tmp_path / "quiet.sqlite3"
    shutil.copy(tmp_path / "memport.sqlite3", quiet)
    yield sqlite_file, f"sqlite:///{quiet}"


def test_a_run_that_was_killed_at_every_point_ends_with_the_answers_of_a_quiet_one(
    launched: tuple[str, str], tmp_path: Path
) -> None:
    killed_url, quiet_url = launched
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    worker = Worker(killed_url, tmp_path / "a")
    for kill_at in KILLS:
        code = worker.run(kill_at)
        noted = worker.kills()[-1]
        print(kill_at, code, noted)
        assert noted["point"] == kill_at.partition(":")[0], f"{kill_at} was not reached"
        assert code == (0 if kill_at.startswith("child/") else -9)
    assert worker.run() == 0
    assert Worker(quiet_url, tmp_path / "b").run() == 0
    assert len(worker.kills()) == len(KILLS)
    killed = summary()
    with database(quiet_url):
        quiet = summary()
    assert killed == quiet


def summary() -> dict[str, object]:
    """What must not depend on where a run was killed."""
    run = Run.objects.get()
    return {
        "state": run.state,
        "answers": answers_table(run),
        "reader calls": Call.objects.filter(role="reader").count(),
        "answers kept": Answer.objects.count(),
        "writer calls": sorted(
            StoreBuild.objects.values_list("store_key", "calls__position", "calls__reply_text")
        ),
        "no reuse": prove_no_reuse(run).holds,
    }
