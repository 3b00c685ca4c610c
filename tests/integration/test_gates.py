"""Gates of a study: what waits for them, what a failure stops, who may go on all the same."""

from collections.abc import Iterator
from typing import Any

import pytest

from analysis.gatekeeping import decide
from experiments.models import Deviation, Evaluation, Run, Study
from experiments.plan.calibration import calibration_plan
from experiments.plan.plan import parse_plan
from experiments.runtime.pool import use_pool
from experiments.services.control import resume_run
from experiments.services.gating import go_on_in_spite_of_gates
from experiments.services.launch import launch_study
from experiments.services.run_state import settle_runs
from stores.errors import InvalidInputError
from stores.workload.generator import generate
from tests.factories import a_history, a_workspace, plan_data
from tests.runs import work_off

pytestmark = pytest.mark.django_db(transaction=True)

HISTORY = generate("tiny", seed=7)[0]
# The scripted reader does not understand changes over time, so that its range fails.
PASSED = {"floor": "stop", "ceiling": "stop", "dose": "stop", "coverage": "stop"}
BAD = {"engine": "scripted", "options": {"accuracy": 0.0}}
GOOD = {"engine": "scripted"}


@pytest.fixture(autouse=True)
def scripted_pool() -> Iterator[None]:
    use_pool(None)
    yield
    use_pool(None)


def plan_values(*, gates: Any = PASSED, new: dict[str, Any] = GOOD, **changes: Any) -> Any:
    return plan_data("gated", **{
        "histories": {"keys": [HISTORY.key]}, "formats": ["notes"],
        "budgets": {"context_tokens": 4096}, "tests": {"gates": {"doses": [75]}, "writer_swap": {}},
        "models": [{"key": "old", **GOOD}, {"key": "new", **new}],
        "analysis": {"gates": gates}, **changes,
    })  # fmt: skip


def launched(**changes: Any) -> Study:
    """Launch a gated study over tiny histories."""
    gates_alone = changes.pop("gates_alone", False)
    plan, workspace = parse_plan(plan_values(**changes)), a_workspace()
    a_history(workspace, HISTORY)
    return launch_study(
        plan=plan, workspace=workspace, user=None, preflight=False, gates_alone=gates_alone
    )


def swap(study: Study) -> Run:
    return study.runs.get(test="writer_swap")


def test_the_tests_wait_for_gates_that_pass() -> None:
    study = launched()
    assert swap(study).state == Run.State.HELD
    work_off()
    decision = decide(study)
    assert decision is not None
    assert not decision.stops, decision.because
    assert swap(study).state == Run.State.COMPLETE
    assert {gate.name for gate in decision.gates if gate.status == "passed"} >= set(PASSED)


def test_a_failed_gate_stops_the_study_before_its_tests_begin() -> None:
    study = launched(new=BAD, gates="stop")
    work_off()
    run = swap(study)
    assert run.state == Run.State.BARRED
    assert "gate range (new" in run.note
    assert not Evaluation.objects.filter(run=run, state="complete").exists()
    resume_run(run=run, user=None)
    assert swap(study).state == Run.State.BARRED


def test_a_failed_gate_that_is_marked_stops_nothing() -> None:
    study = launched(new=BAD, gates="mark")
    assert swap(study).state == Run.State.QUEUED
    work_off()
    assert swap(study).state == Run.State.COMPLETE
    decision = decide(study)
    assert decision is not None
    assert any(gate.status == "failed" for gate in decision.gates)
    assert not decision.stops


def test_only_the_gates_that_the_plan_says_so_stop_it() -> None:
    policy = {
        "floor": "stop",
        "ceiling": "mark",
        "dose": "mark",
        "range": "mark",
        "coverage": "mark",
    }
    study = launched(new=BAD, gates=policy)
    work_off()
    assert swap(study).state == Run.State.COMPLETE


def test_a_person_may_go_on_and_the_deviations_say_why() -> None:
    study = launched(new=BAD, gates="stop")
    work_off()
    with pytest.raises(InvalidInputError, match="needs a reason"):
        go_on_in_spite_of_gates(study=study, user=None, why=" ")
    assert go_on_in_spite_of_gates(study=study, user=None, why="to see how bad it is") == 1
    work_off()
    assert swap(study).state == Run.State.COMPLETE
    deviation = Deviation.objects.get(study=study)
    assert "gate range" in deviation.what
    assert deviation.why == "to see how bad it is"


def test_gates_that_could_not_be_measured_stop_the_study_and_say_so() -> None:
    study = launched(new={"engine": "scripted", "options": {"fail_on": "(nothing)"}})
    work_off()
    assert study.runs.get(test="gates").state == Run.State.INCOMPLETE
    assert swap(study).state == Run.State.BARRED
    assert "not fully measured: 1 of their evaluations failed" in swap(study).note


def test_gates_alone_leave_the_tests_stopped_until_somebody_goes_on() -> None:
    study = launched(gates_alone=True)
    work_off()
    assert study.runs.get(test="gates").state == Run.State.COMPLETE
    assert swap(study).state == Run.State.STOPPED
    resume_run(run=swap(study), user=None)
    work_off()
    assert swap(study).state == Run.State.COMPLETE


def test_a_test_that_is_resumed_before_its_gates_are_measured_waits_for_them() -> None:
    study = launched(gates_alone=True)
    resume_run(run=swap(study), user=None)
    assert swap(study).state == Run.State.HELD


def test_a_decision_that_was_missed_is_made_at_the_next_look(monkeypatch: Any) -> None:
    study = launched()
    with monkeypatch.context() as patched:
        patched.setattr("experiments.services.run_state.tell", lambda study: None)
        work_off()
    assert swap(study).state == Run.State.HELD
    settle_runs()
    assert swap(study).state == Run.State.QUEUED


def test_the_calibration_of_a_plan_runs_gates_and_tests_on_histories_apart() -> None:
    plan = parse_plan(plan_values(histories={"preset": "tiny", "seed": 7}))
    first = calibration_plan(plan)
    assert (first.key, first.histories.split) == ("gated-calibration", "calibration")
    study = launch_study(plan=first, workspace=a_workspace(), user=None, preflight=False)
    histories = {e.history for e in Evaluation.objects.filter(run__study=study)}
    assert {h.split for h in histories} == {"calibration"}
    assert [run.test for run in study.runs.order_by("pk")] == ["gates", "writer_swap"]


def test_single_histories_have_no_calibration() -> None:
    plan = parse_plan(plan_values(histories={"keys": ["a"]}))
    with pytest.raises(InvalidInputError, match="single histories have no calibration"):
        calibration_plan(plan)
