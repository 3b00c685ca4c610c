"""`memport study calibrate`: gates first, spread for the planner, and what a failure ends."""

import json
from pathlib import Path

import pytest

from analysis import planner_view
from analysis.calibration import calibration_of, spreads
from analysis.page_parts import Asked
from analysis.report import study_report
from experiments.models import Run, Study
from experiments.runtime.pool import use_pool
from stores.services import keep_generated
from stores.workload.generator import generate
from tests.commands import memport
from tests.factories import a_workspace

PLAN = """\
key: sized
title: Two scripted models
histories: {{collection: tiny-s7}}
formats: [notes]
models:
  - {{key: old, engine: scripted, price: {{}}}}
  - {{key: new, engine: scripted, price: {{}}, options: {{accuracy: {accuracy}}}}}
tests: {{gates: {{doses: [75]}}, writer_swap: {{}}}}
analysis:
  contrasts: [{{key: H1}}]
  gates: {{floor: stop, ceiling: stop, dose: stop, range: {range}}}
"""


@pytest.fixture
def run(sqlite_file, capsys):
    use_pool(None)
    keep_generated(
        generated={"study": generate("tiny", seed=7)[:1],
                   "calibration": generate("tiny", seed=7, split="calibration")[:2]},
        preset="tiny", seed=7, workspace=a_workspace(),
    )  # fmt: skip
    yield lambda *arguments: memport(capsys, "study", *arguments)
    use_pool(None)


def plan_file(folder: Path, *, accuracy: float = 1.0) -> Path:
    path = folder / "study.yaml"
    path.write_text(PLAN.format(accuracy=accuracy, range="mark" if accuracy else "stop"))
    return path


def test_gates_that_pass_leave_the_study_ready_to_go_on(run, tmp_path):
    plan = plan_file(tmp_path)
    ended = run("calibrate", plan, "--json")
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    assert found["study"] == "sized-calibration"
    assert (found["gates"]["stops"], found["own_gates"]["stops"]) == (False, False)
    (spread,) = found["spreads"]
    assert (spread["contrast"], spread["n_histories"]) == ("H1", 2)
    study = Study.objects.get(key="sized")
    states = dict(study.runs.values_list("test", "state"))
    assert states == {"gates": Run.State.COMPLETE, "writer_swap": Run.State.STOPPED}
    kept = calibration_of(study)
    assert kept is not None
    assert spreads(kept)[0].sd_pp == spread["sd_pp"]
    assert study_report(kept)["study"]["labels"][0].startswith("calibration: ")
    if spread["sd_pp"]:
        page = planner_view.build(Asked(study, study_report(study) | {"coverage": []}, {}))
        assert page.fields[2].value == f"{spread['sd_pp']:.6g}"
    assert run("run", plan).code == 0
    assert set(study.runs.values_list("state", flat=True)) == {Run.State.COMPLETE}


def test_a_gate_that_fails_on_the_calibration_histories_launches_nothing_else(run, tmp_path):
    ended = run("calibrate", plan_file(tmp_path, accuracy=0.0))
    assert ended.code == 100
    assert "Stopped: gate" in ended.out
    assert not Study.objects.filter(key="sized").exists()
    again = run("resume", "sized-calibration")
    assert again.code == 1
    assert "--in-spite-of-gates" in again.err
