"""`memport study`: launched, watched, stopped, resumed, reported and exported."""

import json
import signal
import sqlite3
import time
from pathlib import Path

import pytest

from experiments.models import Answer, Deviation, Evaluation, Run, Study, WorkerProcess
from experiments.runtime.pool import use_pool
from experiments.runtime.standby import StandbyWorker
from tests.commands import Ended, end_of, memport, start_memport

PLAN = """\
key: commands
title: Two scripted models
histories: {{preset: tiny, seed: 7, max_probes: 2}}
formats: {formats}
models:
  - {{key: old, engine: scripted, options: {{accuracy: 0.6, delay_s: {delay_s}}}}}
  - {{key: new, engine: scripted, options: {options}}}
embedders: [{{key: vectors, engine: scripted}}]
tests: {tests}
"""


def plan_file(
    folder: Path, *, formats="[notes]", delay_s=0.0, options="{}", tests="{writer_swap: {}}"
) -> Path:
    path = folder / "study.yaml"
    path.write_text(PLAN.format(formats=formats, delay_s=delay_s, options=options, tests=tests))
    return path


@pytest.fixture
def run(sqlite_file, capsys):
    use_pool(None)
    yield lambda *arguments: memport(capsys, "study", *arguments)
    use_pool(None)


def test_a_study_runs_to_its_end_and_the_same_command_again_measures_nothing(run, tmp_path):
    plan = plan_file(tmp_path)
    first = run("run", plan)
    assert (first.code, first.out) == (0, "commands: complete.\n")
    assert "the work is done by this process" in first.err
    before = list(Answer.objects.values_list("pk", flat=True))
    assert len(before) == 6 * 4 * 2
    assert run("run", plan).code == 0
    assert list(Answer.objects.values_list("pk", flat=True)) == before


def test_the_end_of_a_run_as_json_names_every_job(run, tmp_path):
    ended = json.loads(run("run", plan_file(tmp_path), "--json").out)
    (one,) = ended["runs"]
    assert (one["state"], one["jobs_done"], one["jobs_total"]) == ("complete", 36, 36)


def test_report_export_list_and_show_of_a_study(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run("run", plan_file(tmp_path, formats="[lc_raw, rag, notes, kg_fixed]"))
    report = json.loads(run("report", "commands", "--json").out)
    assert [(d["old"], d["new"]) for d in report["directions"]] == [("old", "new"), ("new", "old")]
    text = run("report", "commands").out
    assert "old → new" in text
    assert "Not affected" in text
    assert "no real model gave these answers" in text
    assert run("export", "commands").code == 0
    written = (tmp_path / "commands-answers.csv").read_text()
    assert written.count("\n") == 1 + 6 * 12 * 2
    (row,) = json.loads(run("list", "--json").out)
    assert (row["key"], row["state"]) == ("commands", "complete")
    assert row["evaluations"] == {"complete": 72, "all": 72}
    shown = json.loads(run("show", "commands", "--json").out)
    assert shown["plan_sha256"] == Study.objects.get().plan_sha256
    assert "ok  model (old): revision 1" in run("show", "commands").out
    assert "commands" in run("list").out


def test_a_report_prints_every_test_of_the_study(run, tmp_path):
    tests = "{writer_swap: {}, repair: {rungs: [400]}, controlled_evidence: {}}"
    assert run("run", plan_file(tmp_path, tests=tests)).code == 0
    text = run("report", "commands").out
    for title in (
        "old → new", "Tests (unplanned)", "Where memory is lost", "Old notes in the new model's",
        "Repairs that reach a share of the fresh store",
    ):  # fmt: skip
        assert title in text
    assert "new rewrites old" in text
    # These models have no price, so that dollars would tell nothing.
    assert "the median cost of those alone in tokens" in " ".join(text.split())


def test_a_stopped_study_is_kept_and_resumed(run, tmp_path):
    assert run("run", plan_file(tmp_path), "--no-wait").out == "commands: launched.\n"
    assert run("stop", "commands").out == "commands: stopped.\n"
    watched = run("watch", "commands")
    assert watched.code == 1
    assert "`memport study resume commands` goes on at the last answer" in watched.err
    assert run("resume", "commands").out == "commands: complete.\n"


def test_an_engine_that_fails_is_said_and_rerun_whole_for_a_reason_only(run, tmp_path):
    plan = plan_file(tmp_path, options="{fail_on: '</memory>'}", formats="[lc_raw]")
    ended = run("run", plan)
    assert ended.code == 1
    assert "ended with failures" in ended.err
    assert "fails on '</memory>', as it was told to" in ended.err
    assert Evaluation.objects.filter(state="failed").count() == 6
    refused = run("resume", "commands", "--rerun-failed", "--no-wait")
    assert (refused.code, refused.err) == (2, "memport: why: a rerun needs a reason.\n")
    rerun = run("resume", "commands", "--rerun-failed", "--why", "it was down", "--no-wait")
    assert "6 failed jobs to run again" in rerun.err
    assert Deviation.objects.get().why == "it was down"


def test_beside_a_worker_that_has_the_seat_a_command_hands_its_work_over(run, tmp_path):
    server = StandbyWorker(kind=WorkerProcess.Kind.SERVER)
    assert server.start()
    try:
        ended = run("run", plan_file(tmp_path))
        assert "the work is done by this process" not in ended.err
        assert ended.code == 0
    finally:
        server.stop()
    assert Run.objects.get().state == "complete"


@pytest.mark.parametrize("command", ["show", "report", "export", "stop", "resume", "watch"])
def test_an_unknown_study_is_refused_and_the_nearest_named(run, tmp_path, command):
    run("run", plan_file(tmp_path), "--no-wait")
    ended = run(command, "comands")
    assert ended.code == 2
    assert ended.err == "memport: there is no study 'comands'. Did you mean 'commands'?\n"


def answers_in(home: Path) -> int:
    try:
        with sqlite3.connect(home / "memport.sqlite3") as database:
            return database.execute("SELECT count(*) FROM experiments_answer").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def test_ctrl_c_loses_nothing_and_the_same_command_goes_on(tmp_path):
    plan = plan_file(tmp_path, formats="[lc_raw]", delay_s=0.15)
    process = start_memport(tmp_path, "study", "run", plan)
    deadline = time.monotonic() + 90
    while answers_in(tmp_path) < 15 and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    stopped: Ended = end_of(process)
    assert stopped.code == 130
    assert "what was measured is kept, the same command resumes" in stopped.err
    kept = answers_in(tmp_path)
    assert 15 <= kept < 24
    assert end_of(start_memport(tmp_path, "study", "run", plan)).out == "commands: complete.\n"
    assert answers_in(tmp_path) == 24
