"""Who may open a page: the table of permissions, applied to views and templates."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect

from memport_site.accounts.models import Membership, Workspace
from memport_site.accounts.permissions import Permission, allows

View = Callable[..., HttpResponseBase]


def membership_of(request: HttpRequest) -> Membership | None:
    """The signed-in user's membership (the oldest one), or None."""
    if not request.user.is_authenticated:
        return None
    found = getattr(request, "_membership", None)
    if found is None:
        memberships = Membership.objects.filter(user=request.user).select_related("workspace")
        found = memberships.order_by("id").first()
        request._membership = found  # type: ignore[attr-defined]
    return found


def requires(permission: Permission) -> Callable[[View], View]:
    """Guard a view: it runs only for a role that has `permission`, else 403 in plain words."""

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            membership = membership_of(request)
            if membership is None:
                raise PermissionDenied("Your account belongs to no workspace yet.")
            if not allows(membership.role, permission):
                raise PermissionDenied(
                    f"Your role here is “{membership.role}”, which may not {permission.value}."
                )
            return view(request, *args, **kwargs)

        return guarded

    return decorate


def post_or_go_to(name: str) -> Callable[[View], View]:
    """Guard a view that acts: whoever comes by a link, as after signing in again, sees `name`."""

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if request.method != "POST":
                return redirect(name, *args, **kwargs)
            return view(request, *args, **kwargs)

        return guarded

    return decorate


def workspace_of(request: HttpRequest) -> Workspace:
    """The workspace that every query of this request is limited to."""
    membership = membership_of(request)
    if membership is None:
        raise PermissionDenied("Your account belongs to no workspace yet.")
    return membership.workspace


def access(request: HttpRequest) -> dict[str, Any]:
    """Context processor: `may.launch`, `may.import` … and `workspace`, for templates."""
    membership = membership_of(request) if hasattr(request, "user") else None
    role = membership.role if membership else ""
    return {
        "may": {permission.value: allows(role, permission) for permission in Permission},
        "workspace": membership.workspace if membership else None,
    }
