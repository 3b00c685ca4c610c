"""SIGKILL at twenty points of a run, then a resume: the answers are those of a quiet run."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from analysis.observations import from_run
from analysis.tables import write_csv
from experiments.models import Answer, Call, Run, StoreBuild
from experiments.selectors import prove_no_reuse
from tests.runs import a_launched_run, answers_table
from tests.services import database

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
    # One try, two deaths: the child that runs a repeat, then the process that waits for the next.
    "child/reader replied, not committed:3;main/repeat in a child:2",
)


def work(url: str, home: Path, *, kills: Sequence[str]) -> tuple[list[int], list[dict[str, Any]]]:
    """Work a run off, killed on the way; return every try's exit code and every death's note."""
    home.mkdir()
    log = home / "kills.jsonl"
    env = {
        **os.environ, "DATABASE_URL": url, "MEMPORT_HOME": str(home),
        "TEST_KILLS": json.dumps([*kills, ""]), "TEST_KILL_LOG": str(log),
    }  # fmt: skip
    command = [sys.executable, "-m", "tests.killing"]
    done = subprocess.run(command, env=env, check=True, timeout=900, stdout=subprocess.PIPE)
    codes = [json.loads(line)["code"] for line in done.stdout.splitlines()]
    notes = log.read_text().splitlines() if kills else []
    return codes, [json.loads(line) for line in notes]


@pytest.fixture
def launched(sqlite_file: str, tmp_path: Path) -> tuple[str, str]:
    """Two copies of one database in which a study is launched; the first one is the default."""
    a_launched_run(n_histories=1, noise_repeats=2)
    connection.close()
    quiet = tmp_path / "quiet.sqlite3"
    shutil.copy(tmp_path / "memport.sqlite3", quiet)
    return sqlite_file, f"sqlite:///{quiet}"


def test_a_run_that_was_killed_at_every_point_ends_with_the_answers_of_a_quiet_one(
    launched: tuple[str, str], tmp_path: Path
) -> None:
    killed_url, quiet_url = launched
    codes, notes = work(killed_url, tmp_path / "killed", kills=KILLS)
    for note in notes:
        print(json.dumps(note))
    assert codes == [-signal.SIGKILL] * len(KILLS) + [0]
    wanted = [point.rpartition(":")[0] for kill in KILLS for point in kill.split(";")]
    assert [note["point"] for note in notes] == wanted
    assert len(wanted) >= 20
    assert any(note["in_transaction"] for note in notes)
    killed = summary(tmp_path / "killed.csv")
    assert work(quiet_url, tmp_path / "quiet", kills=()) == ([0], [])
    with database(quiet_url):
        quiet = summary(tmp_path / "quiet.csv")
    assert killed == quiet
    export = (tmp_path / "killed.csv").read_bytes()
    assert export == (tmp_path / "quiet.csv").read_bytes()
    assert len(export.splitlines()) == 1 + 14 * 5


def summary(export: Path) -> dict[str, object]:
    """Export the answers of the run, and return what else must not depend on the kills."""
    run = Run.objects.get()
    write_csv(from_run(run), export)
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
