import pytest
from django.urls import reverse
from django.utils import timezone

from experiments.models import Deviation, Evaluation, Run
from memport_site.accounts.models import AuditEntry
from tests.factories import a_study
from tests.web.conftest import text_of
from tests.web.test_study_page import words_of

HTMX = {"HX-Request": "true"}


@pytest.fixture
def running(workspace) -> Run:
    """A run of which half is done."""
    return a_study(workspace, n_histories=3, answered=0.5, state=Run.State.RUNNING).runs.get()


def test_the_page_says_how_far_the_run_is(admin, running):
    words = words_of(text_of(admin.get(reverse("run", args=[running.pk]))))
    assert "Evaluations 18 of 36" in words
    assert "Stores 18 of 18" in words
    assert "of work left" in words
    assert "● running" in words


def test_a_run_of_which_nothing_was_measured_shows_no_time_left(admin, workspace):
    run = a_study(workspace, n_histories=1, answered=0, state=Run.State.QUEUED).runs.get()
    words = words_of(text_of(admin.get(reverse("run", args=[run.pk]))))
    assert "estimating the time left" in words
    assert "of work left" not in words


def test_every_evaluation_has_its_state_time_and_cost(admin, running):
    words = words_of(text_of(admin.get(reverse("run", args=[running.pk]))))
    assert words.count("✓ complete 2.0 s $0.0001") == 18
    assert words.count("○ ready – –") == 18


def test_an_error_stands_in_plain_words_beside_its_evaluation(admin, running):
    failed = running.evaluations.filter(state="ready").first()
    Evaluation.objects.filter(pk=failed.pk).update(
        state="failed", error="the endpoint answered 500 five times"
    )
    words = words_of(text_of(admin.get(reverse("run", args=[running.pk]))))
    assert words.count("The endpoint answered 500 five times") == 2
    assert "✗ failed" in words


def test_a_running_page_polls_and_gets_nothing_while_there_is_no_news(admin, running):
    page = text_of(admin.get(reverse("run", args=[running.pk])))
    address = page.split('hx-get="')[1].split('"')[0].replace("&amp;", "&")
    assert admin.get(address, headers=HTMX).status_code == 204
    Evaluation.objects.filter(run=running, state="ready").update(state="running")
    news = admin.get(address, headers=HTMX)
    assert news.status_code == 200
    assert "<html" not in text_of(news)
    assert "hx-get" in text_of(news)


def test_the_changing_part_opened_by_itself_leads_to_the_whole_page(admin, running):
    response = admin.get(reverse("run-progress", args=[running.pk]))
    assert response.url == reverse("run", args=[running.pk])


def test_polling_ends_with_the_run(admin, running):
    page = text_of(admin.get(reverse("run", args=[running.pk])))
    address = page.split('hx-get="')[1].split('"')[0].replace("&amp;", "&")
    Run.objects.filter(pk=running.pk).update(state="complete", finished_at=timezone.now())
    last = text_of(admin.get(address, headers=HTMX))
    assert "✓ complete" in last
    assert "hx-get" not in last


def test_stop_and_resume_are_asked_for_by_a_post_and_kept_in_the_audit(admin, running):
    stopped = admin.post(reverse("run-stop", args=[running.pk]), follow=True)
    assert "The run stops at its next answer" in text_of(stopped)
    running.refresh_from_db()
    assert running.state == Run.State.STOPPED
    assert "Resume" in text_of(stopped)
    admin.post(reverse("run-resume", args=[running.pk]))
    running.refresh_from_db()
    assert running.state in (Run.State.QUEUED, Run.State.RUNNING)
    actions = AuditEntry.objects.values_list("action", flat=True)
    assert list(actions) == ["run.stop", "run.resume"]


def test_a_finished_run_offers_neither_stop_nor_resume(admin, study):
    run = study.runs.get()
    page = text_of(admin.get(reverse("run", args=[run.pk])))
    assert reverse("run-stop", args=[run.pk]) not in page
    assert reverse("run-resume", args=[run.pk]) not in page
    assert not Deviation.objects.exists()


def test_the_preflight_checks_stand_on_the_page(admin, study):
    check = {"name": "served model", "expected": "old", "found": "other", "ok": False,
             "subject": "old", "hint": ""}  # fmt: skip
    study.runs.update(preflight=[check])
    words = words_of(text_of(admin.get(reverse("run", args=[study.runs.get().pk]))))
    assert "served model old old other ✗ failed" in words


def test_a_long_run_comes_in_pages(admin, workspace):
    run = a_study(workspace, n_histories=6, answered=0, state=Run.State.QUEUED).runs.get()
    first = run.evaluations.first()
    Evaluation.objects.bulk_create(
        Evaluation(run=run, history=first.history, format="lc_raw", reader=f"m{n}", position=n)
        for n in range(60)
    )
    page = text_of(admin.get(reverse("run", args=[run.pk])))
    assert "Page 1 of 2" in page
