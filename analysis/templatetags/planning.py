"""The word *unplanned* on pages: one tag, so that no table forgets it."""

from collections.abc import Mapping
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from analysis import planning

register = template.Library()
EXPLAINED = "The plan did not name this before results existed."


@register.simple_tag
def unplanned(report: Mapping[str, Any], part: str) -> SafeString | str:
    """A label where a part of a report is unplanned; nothing where it is planned."""
    return "" if planning.is_planned(report, part) else _label()


@register.simple_tag
def unplanned_entry(entry: Mapping[str, Any]) -> SafeString | str:
    """The same for one format in one direction, or one contrast."""
    return "" if entry.get("planned", False) else _label()


def _label() -> SafeString:
    return format_html(
        '<span class="label warn" title="{}">{}</span>', EXPLAINED, planning.UNPLANNED
    )
