"""Users, the default workspace and one-time sign-in links."""

from datetime import UTC, datetime, timedelta

import pytest
from click.testing import CliRunner
from django.utils import timezone

from experiments.models import WorkerProcess
from memport_site.accounts.models import AuditEntry, Membership, Token
from memport_site.accounts.permissions import Role
from memport_site.accounts.services import (
    SIGN_IN_LINK_VALID,
    add_user,
    default_workspace,
    ensure_admin,
    make_sign_in_link,
    use_sign_in_token,
)
from memport_site.commands.user import DEFAULT_ADDRESS, command
from stores.errors import InvalidInputError

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def token_of(path: str) -> str:
    return path.removeprefix("/sign-in/link/").removesuffix("/")


def test_the_admin_is_made_once_without_a_password():
    first, second = ensure_admin(), ensure_admin()

    assert first == second
    assert not first.has_usable_password()
    membership = Membership.objects.get(user=first)
    assert (membership.role, membership.workspace) == ("admin", default_workspace())


def test_a_link_signs_in_once():
    user = ensure_admin()
    token = token_of(make_sign_in_link(user, now=NOW))

    assert use_sign_in_token(token, now=NOW + timedelta(minutes=1)) == user
    assert use_sign_in_token(token, now=NOW + timedelta(minutes=2)) is None
    assert AuditEntry.objects.filter(action="user.sign_in_by_link", user=user).count() == 1


def test_a_link_expires():
    token = token_of(make_sign_in_link(ensure_admin(), now=NOW))

    assert use_sign_in_token(token, now=NOW + SIGN_IN_LINK_VALID) is None


def test_the_database_keeps_no_token_in_plain():
    token = token_of(make_sign_in_link(ensure_admin(), now=NOW))

    assert len(token) >= 40
    kept = Token.objects.get()
    assert token not in {kept.sha256, kept.purpose}
    assert len(kept.sha256) == 64


def test_a_made_up_token_signs_nobody_in():
    make_sign_in_link(ensure_admin(), now=NOW)

    assert use_sign_in_token("x" * 43, now=NOW) is None
    assert use_sign_in_token("", now=NOW) is None


def test_a_switched_off_user_cannot_use_a_link():
    user = ensure_admin()
    token = token_of(make_sign_in_link(user, now=NOW))
    user.is_active = False
    user.save()

    assert use_sign_in_token(token, now=NOW) is None


def test_a_name_that_is_taken_is_refused_and_leaves_nothing():
    add_user(username="vera", role=Role.VIEWER)

    with pytest.raises(ValueError, match="already a user 'vera'"):
        add_user(username="vera", role=Role.ADMIN)
    assert Membership.objects.filter(user__username="vera").get().role == "viewer"


def test_the_command_prints_a_link_that_works():
    result = CliRunner().invoke(command, ["link", "--address", "http://127.0.0.1:9000/"])

    address = result.stdout.strip()
    assert address.startswith("http://127.0.0.1:9000/sign-in/link/")
    user = use_sign_in_token(token_of(address.removeprefix("http://127.0.0.1:9000")))
    assert user == ensure_admin()


def test_the_command_names_a_user_that_is_missing():
    result = CliRunner().invoke(command, ["link", "nobody"])

    assert isinstance(result.exception, InvalidInputError)
    assert "no user 'nobody'" in str(result.exception)


def test_a_link_leads_to_the_server_that_is_at_work():
    def begins() -> str:
        return CliRunner().invoke(command, ["link"]).stdout.partition("/sign-in/link/")[0]

    assert begins() == DEFAULT_ADDRESS
    WorkerProcess.objects.create(
        kind="server", host="elsewhere", pid=1, pid_started="1", heartbeat_at=timezone.now(),
        address="http://127.0.0.1:8123",
    )  # fmt: skip
    assert begins() == "http://127.0.0.1:8123"
