"""The bugs that the paper tells of, planted one by one: a named check catches each of them."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.utils import timezone

from analysis.gatekeeping import decide
from analysis.stats.gates import Gate
from experiments.engines.scripted import ScriptedModel
from experiments.models import Answer, Attempt, Call, Evaluation, Run, Study, WorkerProcess
from experiments.no_reuse import prove_no_reuse
from experiments.plan.plan import parse_plan
from experiments.runtime.pool import use_pool
from experiments.services.launch import launch_study
from experiments.services.run_state import settle_runs
from stores.formats.content import canonical_json
from stores.formats.formats import FORMATS
from stores.models import Store
from stores.workload.generator import generate
from stores.workload.solver import prove
from stores.workload.types import History
from tests.answered import answered_study
from tests.factories import a_history, a_workspace, plan_data, written_by
from tests.runs import work_off

pytestmark = pytest.mark.django_db(transaction=True)
HISTORY = generate("tiny", seed=7)[0]


@pytest.fixture(autouse=True)
def scripted_pool() -> Iterator[None]:
    use_pool(None)
    yield
    use_pool(None)


def worked_off(history: History = HISTORY, **changes: Any) -> Study:
    """Launch a study over one history on scripted models, and work it off."""
    workspace = a_workspace()
    a_history(workspace, history)
    data = plan_data("planted", **{
        "histories": {"keys": [history.key]}, "formats": ["notes"],
        "budgets": {"context_tokens": 4096}, "tests": {"gates": {"doses": [75]}},
        "analysis": {"gates": "mark"}, **changes,
    })  # fmt: skip
    study = launch_study(plan=parse_plan(data), workspace=workspace, user=None, preflight=False)
    work_off()
    return study


def failed_gates(study: Study) -> list[Gate]:
    decision = decide(study)
    assert decision is not None
    return [gate for gate in decision.gates if gate.status == "failed"]


def contradiction(history: History) -> tuple[Any, str]:
    """The probe about a conflict, and the value that was reported and corrected later."""
    probe = next(probe for probe in history.probes if probe.kind == "contradiction")
    objects = [str((history.event(key).fields or {})["object"]) for key in probe.evidence]
    return probe, next(value for value in objects if value != probe.answer)


def test_answers_cut_short_fail_the_range_gate_and_their_reason_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read = ScriptedModel._read
    monkeypatch.setattr(
        ScriptedModel, "_read", lambda *a: f"Well, let me see, the code is {read(*a)}."
    )
    study = worked_off(budgets={"context_tokens": 4096, "reader_output_tokens": 4})
    answers = Answer.objects.filter(attempt__evaluation__condition="raw_evidence")
    assert set(answers.values_list("correct", "reason")) == {(False, "truncated")}
    assert {gate.name for gate in failed_gates(study)} >= {"range"}


def test_a_conflict_that_is_scored_wrongly_fails_the_solver_and_the_range_of_its_kind() -> None:
    probe, reported = contradiction(HISTORY)
    wrong = replace(probe, answer=reported)
    assert prove(HISTORY, probe).follows
    assert not prove(HISTORY, wrong).follows
    probes = tuple(wrong if one.key == probe.key else one for one in HISTORY.probes)
    study = worked_off(replace(HISTORY, probes=probes))
    failed = [gate for gate in failed_gates(study) if gate.name == "range"]
    assert "contradiction" in {gate.kind for gate in failed}


def test_a_reply_that_is_reused_across_repeats_breaks_the_proof_of_no_reuse() -> None:
    study = answered_study(n_histories=1, repeats=[("notes", "alpha", "beta")])
    run = study.runs.get()
    for attempt in Attempt.objects.filter(evaluation__run=run, evaluation__format="notes"):
        _own_calls(attempt)
    assert prove_no_reuse(run).holds, prove_no_reuse(run).problems
    repeat = Answer.objects.filter(attempt__evaluation__repeat=1).select_related("call").first()
    first = Answer.objects.get(
        attempt__evaluation__format="notes", attempt__evaluation__writer="alpha",
        attempt__evaluation__reader="beta", attempt__evaluation__repeat=0, probe=repeat.probe,
    )  # fmt: skip
    Call.objects.filter(pk=repeat.call_id).update(attempt=first.attempt, position=99)
    (problem, *_) = prove_no_reuse(run).problems
    assert "has no call of its own" in problem
    assert repeat.probe.key in problem


def _own_calls(attempt: Attempt) -> None:
    """Give each answer a call of its own, made by a process of its own, in an order of its own."""
    worker = WorkerProcess.objects.create(
        kind="command", host="here", pid=attempt.pk, pid_started="1", heartbeat_at=timezone.now()
    )
    answers = list(attempt.answers.order_by("probe__position"))
    for position, answer in enumerate(answers[::-1] if attempt.evaluation.repeat else answers):
        answer.call = Call.objects.create(
            attempt=attempt, role="reader", model="beta", position=position, worker=worker,
            request_sha256="0" * 64, finish_reason="stop",
        )  # fmt: skip
        answer.save()


def test_wrong_conflicts_in_the_kg_fail_its_evidence_coverage() -> None:
    probe, reported = contradiction(HISTORY)
    content = json.loads(written_by("kg_fixed", HISTORY, loses_every=1000).content)

    def coverage() -> Any:
        stored = canonical_json(content)
        covered = FORMATS["kg_fixed"].coverage(stored, HISTORY, HISTORY.probes)
        return next(one for one in covered if one.probe == probe.key)

    assert coverage().whole
    for claim in content["claims"]:
        if claim["object"] == probe.answer:
            claim["object"] = reported
    assert not coverage().whole
    missing = [span for span in coverage().spans if span.state != "kept"]
    assert {span.span for span in missing} == {probe.answer}


def test_a_complete_construction_that_blocks_its_run_is_freed_at_the_next_look() -> None:
    workspace = a_workspace()
    a_history(workspace, HISTORY)
    data = plan_data("blocked", histories={"keys": [HISTORY.key]}, formats=["notes"],
                     budgets={"context_tokens": 4096})  # fmt: skip
    launch_study(plan=parse_plan(data), workspace=workspace, user=None, preflight=False)
    work_off(at_most=2)
    run = Run.objects.get()
    assert set(run.store_builds.values_list("state", flat=True)) == {"complete"}
    Evaluation.objects.filter(run=run).update(state="waiting")
    assert work_off() == 0
    settle_runs()
    assert work_off() == 4
    run.refresh_from_db()
    assert run.state == Run.State.COMPLETE


def test_a_stop_at_the_output_limit_is_kept_with_the_store_and_does_not_end_the_run() -> None:
    study = worked_off(
        budgets={"context_tokens": 4096, "writer_output_tokens": 4},
        tests={"controlled_evidence": {}},
    )
    assert study.runs.get().state == Run.State.COMPLETE
    written = Store.objects.filter(format="notes", parent=None).first()
    assert "cut off at its limit of 4 tokens" in written.notices[0]
    assert Call.objects.filter(build__store=written, finish_reason="length").exists()
