import pytest
from django.test import Client
from django.urls import reverse

from experiments.models import Study
from memport_site.accounts.models import User
from tests.factories import a_study, a_workspace
from tests.web.conftest import signed_in, text_of
from tests.web.pages import LIST_PAGES, object_pages


def test_nothing_of_another_workspace_can_be_opened(study):
    stranger = signed_in(a_workspace("other"), "admin")
    for page in object_pages(study):
        assert stranger.get(page).status_code == 404, page


def test_nothing_of_another_workspace_is_listed(study):
    stranger = signed_in(a_workspace("other"), "admin")
    for name in LIST_PAGES:
        page = text_of(stranger.get(reverse(name)))
        assert study.title not in page
        assert "tiny-s7" not in page


def test_the_same_study_key_in_two_workspaces_opens_ones_own(study):
    other = a_workspace("other")
    theirs = a_study(other, n_histories=3)
    Study.objects.filter(pk=theirs.pk).update(title="Theirs alone")
    page = text_of(signed_in(other, "admin").get(f"/studies/{study.key}/"))
    assert "Theirs alone" in page


def test_nothing_of_another_workspace_can_be_stopped(study):
    stranger = signed_in(a_workspace("other"), "admin")
    run = study.runs.get()
    assert stranger.post(reverse("run-stop", args=[run.pk])).status_code == 404
    assert stranger.post(reverse("run-resume", args=[run.pk])).status_code == 404
    assert stranger.post(reverse("run-rerun", args=[run.pk]), {"why": "x"}).status_code == 404


@pytest.mark.parametrize("role", ["viewer", "reviewer"])
def test_who_may_only_look_is_offered_and_allowed_no_launch(workspace, study, role):
    client = signed_in(workspace, role)
    assert "New study" not in text_of(client.get("/"))
    run = study.runs.get()
    for name, args in (("launch-form", []), ("launch-file", []), ("run-stop", [run.pk])):
        response = client.post(reverse(name, args=args))
        assert response.status_code == 403, name
        assert f"“{role}”" in text_of(response)
    assert client.get("/studies/new/").status_code == 403


def test_every_role_may_look(workspace, study):
    for role in ("admin", "operator", "reviewer", "viewer"):
        client = signed_in(workspace, role)
        for page in object_pages(study):
            assert client.get(page).status_code == 200, (role, page)


def test_an_account_without_a_workspace_is_told_so(db):
    client = Client()
    client.force_login(User.objects.create_user("nobody"))
    response = client.get("/")
    assert response.status_code == 403
    assert "no workspace" in text_of(response)


def test_changes_need_the_token_of_the_form(workspace, study):
    client = Client(enforce_csrf_checks=True)
    client.force_login(User.objects.create_user("x"))
    response = client.post(reverse("run-stop", args=[study.runs.get().pk]))
    assert response.status_code == 403
    assert "This form has expired" in text_of(response)


def test_an_address_that_acts_does_nothing_on_a_visit_and_leads_back(admin, study):
    run = study.runs.get()
    before = run.state
    page = reverse("run", args=[run.pk])
    for name in ("run-stop", "run-resume", "run-rerun"):
        assert admin.get(reverse(name, args=[run.pk])).headers["Location"] == page
    for name in ("launch-file", "launch-form"):
        assert admin.get(reverse(name)).headers["Location"] == reverse("new-study")
    run.refresh_from_db()
    assert run.state == before
