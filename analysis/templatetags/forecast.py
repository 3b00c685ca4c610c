"""Amounts of a forecast on pages: with their unit, or why there is none."""

from collections.abc import Mapping
from typing import Any

from django import template

from analysis import words

register = template.Library()
NAMES = {
    "calls": "Calls",
    "prompt_tokens": "Prompt tokens",
    "computed_tokens": "Prompt tokens computed",
    "output_tokens": "Output tokens",
    "engine_s": "Engine time",
    "cost_usd": "Cost",
    "store_bytes": "Stores on disk",
    "answers": "Answers",
}


@register.filter
def hours(figure: Mapping[str, Any]) -> str:
    """A time, or why it is not known."""
    return words.amount(figure, words.duration_words)


@register.filter
def dollars(figure: Mapping[str, Any]) -> str:
    """Dollars, or why they are not known."""
    return words.amount(figure, _usd)


@register.filter
def plain_amount(figure: Mapping[str, Any]) -> str:
    """A plain number, or why it is not known."""
    return words.amount(figure, "{:,.2f}".format)


@register.filter
def taken_name(what: str) -> str:
    """What a row of forecast and actual is about."""
    return NAMES.get(what, what)


@register.filter
def taken(value: float, what: str) -> str:
    """A value of such a row in its unit."""
    if what == "engine_s":
        return words.duration_words(value)
    if what == "cost_usd":
        return _usd(value)
    return words.bytes_words(value) if what == "store_bytes" else f"{value:,.0f}"


def _usd(value: float) -> str:
    return f"${value:,.2f}" if value == 0 or value >= 1 else f"${value:.2g}"
