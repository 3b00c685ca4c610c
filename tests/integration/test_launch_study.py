"""Launching a study locks its plan and writes down all of its work, or nothing."""

from collections import Counter

import pytest
from django.db import IntegrityError
from kombu.exceptions import OperationalError as BrokerError

from experiments.models import Evaluation, Run, StoreBuild, Study
from experiments.plan.plan import parse_plan, plan_sha256
from experiments.services import launch as launching
from experiments.services.launch import RefusedAtPreflightError, check_study, launch_study
from memport_site.accounts.models import AuditEntry
from memport_site.accounts.services import default_workspace, ensure_admin
from stores.errors import InvalidInputError
from stores.models import History
from tests.unit.engines import FakeChat, around
from tests.unit.plans import plan_values

pytestmark = pytest.mark.django_db


@pytest.fixture
def workspace():
    return default_workspace()


def launch(workspace, *, surroundings=None, **changes) -> Study:
    return launch_study(
        plan=parse_plan(plan_values(**changes)),
        workspace=workspace,
        user=ensure_admin(),
        surroundings=surroundings or around(),
    )


def rows_of_a_launch() -> list[int]:
    return [model.objects.count() for model in (Study, Run, StoreBuild, Evaluation, History)]


def test_a_launch_locks_the_plan_and_queues_all_work(workspace):
    study = launch(workspace, tests={"writer_swap": {"noise_repeats": 2}})
    assert study.locked_at is not None
    assert study.plan_sha256 == plan_sha256(study.plan)
    (run,) = study.runs.all()
    assert (run.test, run.number, run.state) == ("writer_swap", 1, "queued")
    assert Counter(run.store_builds.values_list("state", flat=True)) == {"ready": 36}
    assert Counter(run.evaluations.values_list("state", "repeat")) == {
        ("waiting", 0): 72,
        ("waiting", 1): 2,
    }
    assert {check["ok"] for check in run.preflight} == {True}
    assert AuditEntry.objects.filter(action="study.launch", subject="two-models").count() == 1


def test_every_evaluation_waits_for_the_store_of_its_own_cell(workspace):
    for evaluation in launch(workspace).runs.get().evaluations.select_related("build"):
        build = evaluation.build
        assert (build.history_id, build.format, build.writer, build.embedder) == (
            evaluation.history_id,
            evaluation.format,
            evaluation.writer,
            evaluation.embedder,
        )


def test_the_histories_of_a_preset_are_made_once_and_found_the_second_time(workspace):
    launch(workspace)
    launch(workspace, key="another")
    assert History.objects.count() == 6
    assert set(History.objects.values_list("split", "source", "collection")) == {
        ("study", "synthetic", "tiny-s7")
    }


def test_launching_the_same_plan_again_returns_the_same_study(workspace):
    first = launch(workspace)
    before = rows_of_a_launch()
    assert launch(workspace) == first
    assert rows_of_a_launch() == before


def test_another_plan_under_the_same_key_is_refused_with_what_differs(workspace):
    launch(workspace)
    with pytest.raises(InvalidInputError, match=r"budgets\.top_k: locked 8, given 5"):
        launch(workspace, budgets={"top_k": 5})


def test_a_failed_check_refuses_with_its_numbers_and_leaves_nothing_behind(workspace):
    small = around(chat=lambda key: FakeChat(key, context_tokens=512))
    with pytest.raises(RefusedAtPreflightError, match=r"at least 2,048 tokens, found 512 tokens"):
        launch(workspace, surroundings=small)
    assert rows_of_a_launch() == [0, 0, 0, 0, 0]


def test_an_error_in_the_middle_leaves_nothing_behind(workspace, monkeypatch):
    def broken(*args):
        raise OSError("no space left on device")

    monkeypatch.setattr(launching, "_write_work", broken)
    with pytest.raises(OSError, match="no space"):
        launch(workspace)
    assert rows_of_a_launch() == [0, 0, 0, 0, 0]


def test_two_launches_at_the_same_moment_end_in_one_study(workspace, monkeypatch):
    first = launch(workspace)
    answers = iter([None, first])
    monkeypatch.setattr(launching, "find_launched", lambda **_: next(answers))

    def taken(*args, **_):
        raise IntegrityError

    monkeypatch.setattr(launching, "_write", taken)
    assert launch(workspace) == first


def test_workers_are_woken_only_after_the_commit(
    workspace, monkeypatch, django_capture_on_commit_callbacks
):
    woken = []
    monkeypatch.setattr(launching, "wake_workers", lambda: woken.append(1))
    with django_capture_on_commit_callbacks(execute=True):
        launch(workspace)
        assert woken == []
    assert woken == [1]


def test_a_launch_stands_where_the_broker_is_out_of_reach(
    workspace, monkeypatch, caplog, django_capture_on_commit_callbacks
):
    def refuse(*_, **__):
        raise BrokerError("connection refused")

    monkeypatch.setattr(launching.current_app, "send_task", refuse)
    with django_capture_on_commit_callbacks(execute=True):
        study = launch(workspace)
    assert study.runs.exists()
    assert "the broker is out of reach" in caplog.text


def test_a_check_writes_nothing(workspace):
    checks = check_study(plan=parse_plan(plan_values()), workspace=workspace, surroundings=around())
    assert all(check.ok for check in checks)
    assert rows_of_a_launch() == [0, 0, 0, 0, 0]


def test_a_history_that_is_not_there_is_refused_and_the_nearest_named(workspace):
    launch(workspace)
    with pytest.raises(InvalidInputError, match=r"no history 'tiny-s7-1'\. Did you mean 'tiny-s7-"):
        launch(workspace, key="other", histories={"keys": ["tiny-s7-1"]})
    with pytest.raises(
        InvalidInputError, match=r"no collection 'tiny-s8'\. Did you mean 'tiny-s7'"
    ):
        launch(workspace, key="other", histories={"collection": "tiny-s8"})


def test_a_study_of_single_keys_asks_only_as_many_probes_as_planned(workspace):
    launch(workspace)
    study = launch(
        workspace, key="two", histories={"keys": ["tiny-s7-02", "tiny-s7-01"], "max_probes": 2}
    )
    assert study.runs.get().evaluations.count() == 24


def test_a_history_without_a_probe_to_ask_is_refused(workspace):
    launch(workspace)
    history = History.objects.get(key="tiny-s7-01")
    history.probes.update(quarantined_because="wrong gold label")
    with pytest.raises(InvalidInputError, match="'tiny-s7-01' has no probe to ask"):
        launch(workspace, key="one", histories={"keys": ["tiny-s7-01"]})


def test_calibration_histories_are_never_part_of_a_study(workspace):
    launch(workspace)
    History.objects.filter(key="tiny-s7-01").update(split="calibration")
    with pytest.raises(InvalidInputError, match="no history 'tiny-s7-01'"):
        launch(workspace, key="one", histories={"keys": ["tiny-s7-01"]})


def test_formats_left_out_are_kept_with_the_run(workspace):
    launch(workspace)
    History.objects.get(key="tiny-s7-02").events.update(fields=None)
    study = launch(workspace, key="mixed", histories={"keys": ["tiny-s7-01", "tiny-s7-02"]})
    (left,) = study.runs.get().left_out
    assert (left["history"], left["format"]) == ("tiny-s7-02", "kg_fixed")
    assert left["reason"]


def test_a_preset_whose_key_is_taken_by_other_events_is_refused(workspace):
    launch(workspace)
    History.objects.filter(key="tiny-s7-01").update(checksum="0" * 64)
    with pytest.raises(InvalidInputError, match="'tiny-s7-01' exists with other events"):
        launch(workspace, key="again")
