"""What every page test needs: plain static files, signed-in clients, a study with answers."""

import pytest
from django.test import Client

from experiments.models import Study
from memport_site.accounts.models import Workspace
from tests.factories import a_study, a_user, a_workspace
from tests.web.browser import chromium


@pytest.fixture(autouse=True)
def plain_settings(settings):
    """Serve static files as they are, and hash passwords quickly."""
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(scope="module")
def orm_beside_playwright():
    """Playwright keeps an event loop in this thread; Django would refuse its ORM beside one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        yield


@pytest.fixture(scope="module")
def browser(orm_beside_playwright):
    """A real Chromium, one for all tests of a module."""
    with chromium() as started:
        yield started


@pytest.fixture
def workspace(db) -> Workspace:
    """The workspace of the test."""
    return a_workspace()


@pytest.fixture
def study(workspace) -> Study:
    """A finished study of four formats in two directions, on three histories."""
    return a_study(workspace, n_histories=3)


@pytest.fixture
def admin(workspace) -> Client:
    """A client signed in as an admin."""
    return signed_in(workspace, "admin")


@pytest.fixture
def viewer(workspace) -> Client:
    """A client signed in as somebody who may only look."""
    return signed_in(workspace, "viewer")


def signed_in(workspace: Workspace, role: str) -> Client:
    """Return a client of a new user with this role."""
    client = Client()
    client.force_login(a_user(workspace, role=role))
    return client


def text_of(response) -> str:
    """The body of a response as text."""
    return response.content.decode()
