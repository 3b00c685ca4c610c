"""A run can be stopped, gone on with, and what failed in it run again whole."""

import pytest

from experiments.models import Attempt, Deviation, Evaluation, Run, StoreBuild
from experiments.plan.plan import parse_plan
from experiments.run_progress import progress
from experiments.services.control import rerun_failed, resume_run, stop_run
from experiments.services.launch import launch_study
from memport_site.accounts.services import default_workspace, ensure_admin
from stores.errors import InvalidInputError
from tests.unit.engines import around
from tests.unit.plans import plan_values

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> Run:
    study = launch_study(
        plan=parse_plan(plan_values(histories={"preset": "tiny", "seed": 1}, formats=["notes"])),
        workspace=default_workspace(),
        user=None,
        surroundings=around(),
    )
    return study.runs.get()


def test_a_run_without_work_in_progress_stops_at_once_and_resumes(run):
    assert stop_run(run=run, user=ensure_admin()).state == Run.State.STOPPED
    assert resume_run(run=run, user=ensure_admin()).state == Run.State.QUEUED


def test_a_run_with_a_job_in_progress_stops_when_the_job_gives_back(run):
    run.store_builds.filter(position=0).update(state="running")
    assert stop_run(run=run, user=None).state == Run.State.STOPPING
    assert resume_run(run=run, user=None).state == Run.State.RUNNING


@pytest.mark.parametrize("state", [Run.State.COMPLETE, Run.State.INCOMPLETE])
def test_a_run_that_has_ended_is_neither_stopped_nor_resumed(run, state):
    Run.objects.filter(pk=run.pk).update(state=state)
    assert stop_run(run=run, user=None).state == state
    assert resume_run(run=run, user=None).state == state


def test_a_failed_evaluation_is_run_again_whole_and_written_to_the_deviations(run):
    evaluation = run.evaluations.first()
    attempt = Attempt.objects.create(evaluation=evaluation)
    Evaluation.objects.filter(pk=evaluation.pk).update(state="failed", error="no answer")
    StoreBuild.objects.filter(pk=evaluation.build_id).update(state="failed", error="no answer")
    Run.objects.filter(pk=run.pk).update(state=Run.State.INCOMPLETE)

    assert rerun_failed(run=run, user=ensure_admin(), why="the endpoint was down") == 2

    attempt.refresh_from_db()
    evaluation.refresh_from_db()
    assert attempt.state == Attempt.State.ABANDONED
    assert (evaluation.state, evaluation.error) == ("waiting", "")
    assert StoreBuild.objects.get(pk=evaluation.build_id).state == "ready"
    deviation = Deviation.objects.get()
    assert deviation.why == "the endpoint was down"
    assert {"evaluation": evaluation.pk} in deviation.touches


def test_a_rerun_without_anything_failed_changes_nothing(run):
    assert rerun_failed(run=run, user=None, why="to be sure") == 0
    assert not Deviation.objects.exists()


def test_a_rerun_needs_a_reason(run):
    with pytest.raises(InvalidInputError, match="needs a reason"):
        rerun_failed(run=run, user=None, why=" ")


def test_a_run_behind_another_one_says_for_which_it_waits(run):
    assert progress(run).step == "waiting for a worker"
    study = launch_study(
        plan=parse_plan(plan_values(key="later", formats=["notes"])),
        workspace=default_workspace(),
        user=None,
        surroundings=around(),
    )
    assert progress(study.runs.get()).step == (
        "waiting for the study two-models, which was launched before"
    )
