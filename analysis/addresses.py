"""Addresses of a page with some of their parameters changed."""

from collections.abc import Mapping
from typing import Any

from django.http import QueryDict

# What a page's own script adds: never part of an address that a person follows.
OF_THE_SCRIPT = ("seen",)


def query_with(params: Mapping[str, Any], changes: Mapping[str, Any]) -> str:
    """The query string of `params` with some of them changed; None or '' removes one."""
    query = QueryDict(mutable=True)
    query.update({name: str(value) for name, value in params.items() if name not in OF_THE_SCRIPT})
    for name, value in changes.items():
        if value is None or value == "":
            query.pop(name, None)
        else:
            query[name] = str(value)
    return f"?{query.urlencode()}"
