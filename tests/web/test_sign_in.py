from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from axes.models import AccessAttempt
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from memport_site.accounts.services import make_sign_in_link
from tests.factories import a_user
from tests.web.conftest import text_of
from tests.web.pages import all_pages


def test_every_page_is_behind_the_sign_in(study):
    stranger = Client()
    for page in all_pages(study):
        response = stranger.get(page)
        assert response.status_code == 302, page
        assert response.url.startswith(reverse("sign-in")), page


def test_a_password_signs_in_and_leads_to_the_page_that_was_asked_for(workspace):
    a_user(workspace, name="ada")
    client = Client()
    form = {"username": "ada", "password": "let me in 42", "next": "/histories/"}
    assert client.post("/sign-in/", form).url == "/histories/"
    assert client.get("/histories/").status_code == 200


def test_a_wrong_password_is_refused_in_plain_words(workspace):
    a_user(workspace, name="ada")
    response = Client().post("/sign-in/", {"username": "ada", "password": "guess"})
    assert "do not match an account" in text_of(response)


def test_signing_in_never_leads_to_another_site(workspace):
    a_user(workspace, name="ada")
    form = {"username": "ada", "password": "let me in 42", "next": "https://elsewhere.example/"}
    assert Client().post("/sign-in/", form).url == "/"


def test_opening_a_one_time_link_does_not_use_it_up(workspace):
    link = make_sign_in_link(a_user(workspace))
    for _ in range(2):
        response = Client().get(link)
        assert response.status_code == 200
        assert "no-cache" in response["Cache-Control"] or "no-store" in response["Cache-Control"]
    assert Client().post(link).url == "/"


def test_a_one_time_link_works_once(workspace):
    link = make_sign_in_link(a_user(workspace))
    first, second = Client(), Client()
    assert first.post(link).status_code == 302
    refused = second.post(link)
    assert refused.status_code == 403
    assert "no longer works" in text_of(refused)
    assert first.get("/").status_code == 200
    assert second.get("/").status_code == 302


@pytest.mark.parametrize("path", ["/sign-in/link/nonsense/", "/sign-in/link/x%00y/"])
def test_a_link_that_was_never_made_signs_nobody_in(db, path):
    client = Client()
    assert client.post(path).status_code in (403, 404)
    assert client.get("/").status_code == 302


def test_a_link_that_has_expired_signs_nobody_in(workspace):
    long_ago = timezone.now() - timedelta(days=2)
    link = make_sign_in_link(a_user(workspace), now=long_ago)
    assert Client().post(link).status_code == 403


def test_the_token_of_a_link_is_not_kept_in_the_database(workspace):
    user = a_user(workspace)
    token = make_sign_in_link(user).rstrip("/").rsplit("/", 1)[-1]
    assert token not in str(list(user.tokens.values()))


def test_signing_out_needs_a_post_and_ends_the_session(admin):
    assert admin.get("/sign-out/").headers["Location"] == "/"
    assert admin.get("/").status_code == 200
    assert admin.post("/sign-out/").status_code == 302
    assert admin.get("/").status_code == 302


def guess(name: str, password: str = "guess"):
    return Client().post("/sign-in/", {"username": name, "password": password})


def test_guessing_a_password_is_stopped_and_says_for_how_long(workspace, settings):
    a_user(workspace, name="ada")
    tries = [guess("ada").status_code for _ in range(settings.AXES_FAILURE_LIMIT)]
    assert tries == [200] * (settings.AXES_FAILURE_LIMIT - 1) + [429]
    locked = guess("ada", "let me in 42")
    assert locked.status_code == 429
    assert "For a quarter of an hour no password is looked at" in text_of(locked)


def test_a_lock_holds_for_one_name_alone_and_never_for_a_one_time_link(workspace, settings):
    ada = a_user(workspace, name="ada")
    a_user(workspace, name="bea")
    for _ in range(settings.AXES_FAILURE_LIMIT):
        guess("ada")
    assert guess("bea", "let me in 42").status_code == 302
    client = Client()
    assert client.post(make_sign_in_link(ada)).url == "/"
    assert client.get("/").status_code == 200


def test_a_lock_ends_and_a_right_password_forgets_the_wrong_ones(workspace, settings):
    a_user(workspace, name="ada")
    for _ in range(settings.AXES_FAILURE_LIMIT - 1):
        guess("ada")
    assert guess("ada", "let me in 42").status_code == 302
    for _ in range(settings.AXES_FAILURE_LIMIT):
        guess("ada")
    assert guess("ada", "let me in 42").status_code == 429
    AccessAttempt.objects.update(attempt_time=timezone.now() - settings.AXES_COOLOFF_TIME)
    assert guess("ada", "let me in 42").status_code == 302


def test_wrong_passwords_at_the_same_time_all_count(sqlite_file, settings):
    """Immediate transactions: two threads that count lose none and lock nothing up."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    with ThreadPoolExecutor(4) as pool:
        seen = list(pool.map(lambda _: guess("ada").status_code, range(6)))
    assert seen == [200] * 6
    assert AccessAttempt.objects.get().failures_since_start == 6
