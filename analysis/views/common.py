"""What several pages need: an object of this workspace or 404, and paging."""

from collections.abc import Sequence
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest
from django.shortcuts import get_object_or_404

from experiments.models import Study
from memport_site.accounts.access import workspace_of
from memport_site.accounts.models import User

PAGE_SIZE = 100
STUDIES_ON_A_PAGE = 20


def study_or_404(request: HttpRequest, key: str) -> Study:
    """The study with this key in the workspace of the request."""
    return get_object_or_404(Study, workspace=workspace_of(request), key=key)


def page_of(
    request: HttpRequest, found: QuerySet[Any] | Sequence[Any], name: str = "page", *,
    size: int = PAGE_SIZE,
) -> Page[Any]:  # fmt: skip
    """The page that `?page=` (or another name) asks for; out of range gives the nearest one."""
    return Paginator(found, size).get_page(request.GET.get(name))


def filters_of(request: HttpRequest, names: tuple[str, ...]) -> dict[str, str]:
    """The filters that the address names, without empty ones."""
    return {
        name: str(value).replace("\x00", "")
        for name, value in request.GET.dict().items()
        if name in names and value
    }


def user_of(request: HttpRequest) -> User:
    """The signed-in user; views are behind the sign-in, so that there is one."""
    assert isinstance(request.user, User)
    return request.user
