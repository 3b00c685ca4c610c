"""Amounts of a forecast on pages: with their unit, or why there is none."""

from collections.abc import Mapping
from typing import Any

from django import template

from analysis import cost_tables, words

register = template.Library()


@register.filter
def hours(figure: Mapping[str, Any]) -> str:
    """A time, or why it is not known."""
    return words.amount(figure, words.duration_words)


@register.filter
def dollars(figure: Mapping[str, Any]) -> str:
    """Dollars, or why they are not known."""
    return words.amount(figure, cost_tables.dollars)


@register.filter
def plain_amount(figure: Mapping[str, Any]) -> str:
    """A plain number, or why it is not known."""
    return words.amount(figure, "{:,.2f}".format)
