"""What can be done with users and workspaces."""

import hashlib
import secrets
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.utils import timezone

from memport_site.accounts.models import AuditEntry, Membership, Token, User, Workspace
from memport_site.accounts.permissions import Role

DEFAULT_WORKSPACE = "default"
ADMIN_USERNAME = "admin"
SIGN_IN_LINK_VALID = timedelta(hours=12)


def default_workspace() -> Workspace:
    """Return the one workspace of an embedded installation; make it at first use."""
    workspace, _ = Workspace.objects.get_or_create(
        slug=DEFAULT_WORKSPACE, defaults={"name": "Default workspace"}
    )
    return workspace


def ensure_admin(*, username: str = ADMIN_USERNAME) -> User:
    """Return the admin of the default workspace; make them at first use, without a password."""
    found = User.objects.filter(username=username).first()
    if found is not None:
        Membership.objects.get_or_create(
            user=found, workspace=default_workspace(), defaults={"role": Role.ADMIN.value}
        )
        return found
    return add_user(username=username, role=Role.ADMIN)


def add_user(*, username: str, role: Role, password: str | None = None) -> User:
    """Make a user of the default workspace. Without a password they sign in by link alone.

    Raises
    ------
    ValueError
        When the name is taken.
    """
    try:
        with transaction.atomic():
            workspace = default_workspace()
            user = User.objects.create_user(username=username, password=password)
            Membership.objects.create(user=user, workspace=workspace, role=role.value)
            AuditEntry.objects.create(
                workspace=workspace,
                user=user,
                action="user.add",
                subject=username,
                detail={"role": role.value},
            )
    except IntegrityError as error:
        raise ValueError(f"there is already a user {username!r}") from error
    return user


def make_sign_in_link(
    user: User, *, now: datetime | None = None, valid_for: timedelta = SIGN_IN_LINK_VALID
) -> str:
    """Return the path of a link that signs `user` in once, until it expires.

    The database keeps the token's SHA-256 alone: who reads the database cannot sign in with it.
    """
    token = secrets.token_urlsafe(32)
    Token.objects.create(
        user=user,
        purpose="sign_in",
        sha256=_digest(token),
        expires_at=(now or timezone.now()) + valid_for,
    )
    return f"/sign-in/link/{token}/"


def use_sign_in_token(token: str, *, now: datetime | None = None) -> User | None:
    """Use up a token and return its user; None for one that is unknown, used or expired."""
    now = now or timezone.now()
    with transaction.atomic():
        # One conditional update decides: of two requests at the same time one gets the user.
        usable = Token.objects.filter(
            sha256=_digest(token),
            purpose="sign_in",
            used_at=None,
            expires_at__gt=now,
            user__is_active=True,
        )
        if usable.update(used_at=now) != 1:
            return None
        user = User.objects.get(tokens__sha256=_digest(token))
        AuditEntry.objects.create(
            workspace=Workspace.objects.filter(memberships__user=user).order_by("id").first(),
            user=user,
            action="user.sign_in_by_link",
            subject=user.username,
        )
    return user


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
