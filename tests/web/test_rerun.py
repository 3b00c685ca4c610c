"""What failed can be run again from the run's page, with a reason that stays with the study."""

import pytest
from django.urls import reverse

from experiments.models import Deviation, Evaluation, Run
from memport_site.accounts.models import AuditEntry
from tests.web.conftest import signed_in, text_of
from tests.web.test_study_page import words_of

BUTTON = "Run what failed again"


@pytest.fixture
def run(study) -> Run:
    """A run that ended with one failed evaluation."""
    run = study.runs.get()
    last = run.evaluations.order_by("position").last()
    last.attempts.update(state="open")
    Evaluation.objects.filter(pk=last.pk).update(state="failed", error="the endpoint was down")
    Run.objects.filter(pk=run.pk).update(state=Run.State.INCOMPLETE)
    return run


def page_of(client, run) -> str:
    return text_of(client.get(reverse("run", args=[run.pk])))


def test_the_button_is_shown_only_where_something_failed_and_nothing_runs(admin, run):
    assert BUTTON in page_of(admin, run)
    Run.objects.update(state=Run.State.RUNNING)
    assert BUTTON not in page_of(admin, run)
    Run.objects.update(state=Run.State.COMPLETE)
    Evaluation.objects.update(state="complete")
    assert BUTTON not in page_of(admin, run)


def test_a_rerun_makes_the_job_ready_and_its_reason_stands_on_the_study_page(admin, run):
    response = admin.post(
        reverse("run-rerun", args=[run.pk]), {"why": " The endpoint is up again "}, follow=True
    )
    assert "1 failed job to run again, whole" in text_of(response)
    assert run.evaluations.order_by("position").last().state == "ready"
    run.refresh_from_db()
    assert run.state in (Run.State.QUEUED, Run.State.RUNNING)
    deviation = Deviation.objects.get()
    assert (deviation.why, deviation.by.username) == ("The endpoint is up again", "admin-default")
    assert list(AuditEntry.objects.values_list("action", flat=True)) == ["run.rerun"]
    words = words_of(text_of(admin.get(reverse("study", args=[run.study.key]))))
    assert "0 failed stores and 1 failed evaluation of writer_swap were run again" in words
    assert "The endpoint is up again" in words


def test_without_a_reason_nothing_is_run_again(admin, run):
    response = admin.post(reverse("run-rerun", args=[run.pk]), {"why": "  "}, follow=True)
    assert "A rerun needs a reason" in text_of(response)
    assert not Deviation.objects.exists()
    assert run.evaluations.order_by("position").last().state == "failed"


def test_where_nothing_failed_nothing_is_written(admin, study):
    run = study.runs.get()
    response = admin.post(reverse("run-rerun", args=[run.pk]), {"why": "to be sure"}, follow=True)
    assert "Nothing has failed in this run" in text_of(response)
    assert not Deviation.objects.exists()


def test_who_may_only_look_can_run_nothing_again(workspace, run):
    viewer = signed_in(workspace, "viewer")
    assert BUTTON not in page_of(viewer, run)
    assert viewer.post(reverse("run-rerun", args=[run.pk]), {"why": "x"}).status_code == 403
    assert viewer.get(reverse("run-rerun", args=[run.pk])).status_code == 302
    assert not Deviation.objects.exists()
