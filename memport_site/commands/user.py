"""`memport user`: make users and one-time sign-in links."""

import json

import click
from django.utils import timezone

from experiments.runtime.processes import live_workers
from memport_site.accounts.models import Membership, User
from memport_site.accounts.permissions import Role
from memport_site.accounts.services import (
    ADMIN_USERNAME,
    SIGN_IN_LINK_VALID,
    add_user,
    ensure_admin,
    make_sign_in_link,
)
from memport_site.database import needs_database
from stores.errors import InvalidInputError

DEFAULT_ADDRESS = "http://127.0.0.1:8000"


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Make users and one-time sign-in links.

    \b
    Examples:
      memport user link
      memport user add vera --role viewer
      memport user list
    """


@command.command("link")
@click.argument("username", default=ADMIN_USERNAME)
@click.option(
    "--address",
    help=f"Where memport serves; by default as the server at work says, else {DEFAULT_ADDRESS}.",
)
@needs_database
def link(username: str, address: str | None) -> None:
    """Print a link that signs USERNAME in once (by default the admin, made at first use).

    \b
    Example:
      memport user link vera --address http://127.0.0.1:8080
    """
    address = address or next((w.address for w in live_workers() if w.address), DEFAULT_ADDRESS)
    user = ensure_admin() if username == ADMIN_USERNAME else _user(username)
    click.echo(f"{address.rstrip('/')}{make_sign_in_link(user, now=timezone.now())}")
    hours = int(SIGN_IN_LINK_VALID.total_seconds() // 3600)
    click.echo(f"Works once, within {hours} hours.", err=True)


@command.command("add")
@click.argument("username")
@click.option(
    "--role",
    type=click.Choice([role.value for role in Role]),
    default=Role.VIEWER.value,
    show_default=True,
)
@click.option("--password", is_flag=True, help="Ask for a password; else sign in by link alone.")
@needs_database
def add(username: str, role: str, password: bool) -> None:
    """Make the user USERNAME.

    \b
    Example:
      memport user add vera --role reviewer --password
    """
    secret = None
    if password:
        secret = click.prompt("Password", hide_input=True, confirmation_prompt=True)
        _check_password(secret)
    try:
        add_user(username=username, role=Role(role), password=secret)
    except ValueError as error:
        raise InvalidInputError(str(error), hint="`memport user list` shows all") from error
    click.echo(f"Made {username} ({role}). `memport user link {username}` signs them in.")


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Report as JSON.")
@needs_database
def list_users(as_json: bool) -> None:
    """List the users and their roles.

    \b
    Example:
      memport user list --json
    """
    rows = [
        {"username": m.user.username, "role": m.role, "workspace": m.workspace.slug}
        for m in Membership.objects.select_related("user", "workspace").order_by("user__username")
    ]
    if as_json:
        click.echo(json.dumps(rows, indent=2))
        return
    for row in rows:
        click.echo(f"{row['username']:30} {row['role']:10} {row['workspace']}")


def _user(username: str) -> User:
    try:
        return User.objects.get(username=username)
    except User.DoesNotExist as error:
        raise InvalidInputError(
            f"there is no user {username!r}", hint=f"Make one: memport user add {username}"
        ) from error


def _check_password(secret: str) -> None:
    from django.contrib.auth.password_validation import validate_password
    from django.core.exceptions import ValidationError

    try:
        validate_password(secret)
    except ValidationError as error:
        raise InvalidInputError("this password will not do: " + " ".join(error.messages)) from error
