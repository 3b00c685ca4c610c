"""Pydantic's errors → problems in the plan's own words, with the nearest key for a typo."""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from experiments.plan.problems import Location, Problem
from experiments.plan.schema import StudyPlan

# What pydantic calls a kind of value → what a person writes.
EXPECTED = {
    "string_type": "text (write numbers, dates and yes/no in quotes)",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "bool_type": "true or false",
}
LIMITS = {
    "greater_than": ("gt", "more than"),
    "greater_than_equal": ("ge", "at least"),
    "less_than": ("lt", "less than"),
    "less_than_equal": ("le", "at most"),
}


def problems_of(error: ValidationError) -> list[Problem]:
    """Return one problem for each error; places are those of the plan's text."""
    return [_problem(detail) for detail in error.errors()]


def nearest(word: str, known: Iterable[str]) -> str:
    """Return a hint that names the nearest known word, or ''."""
    near = get_close_matches(word.lower(), sorted(known), n=1, cutoff=0.6)
    return f"Did you mean {near[0]!r}?" if near else ""


def fields_at(at: Location) -> tuple[str, ...]:
    """Return the keys that the plan knows at a place; empty where it holds no part."""
    part: type[BaseModel] | None = StudyPlan
    for step in at:
        if isinstance(step, int) or part is None:
            continue
        known = part.model_fields.get(step)
        part = _part_in(known.annotation) if known is not None else None
    return tuple(part.model_fields) if part is not None else ()


def _part_in(annotation: Any) -> type[BaseModel] | None:
    """Find the plan part inside `tuple[Model, ...]`, `WriterSwap | None` and the like."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for argument in get_args(annotation):
        if (found := _part_in(argument)) is not None:
            return found
    return None


def _problem(detail: Any) -> Problem:
    at, kind, context = tuple(detail["loc"]), detail["type"], detail.get("ctx", {})
    given = detail.get("input")
    if kind == "extra_forbidden":
        known = fields_at(at[:-1])
        hint = nearest(str(at[-1]), known) or f"Known keys: {', '.join(known)}"
        return Problem(at, f"the key {at[-1]!r} is not known", hint=hint)
    if kind == "missing":
        return Problem(at, f"the key {at[-1]!r} is missing")
    if kind == "literal_error":
        choices = re.findall(r"'([^']*)'", context["expected"])
        hint = nearest(str(given), choices)
        return Problem(at, f"{_shown(given)} is not known", " or ".join(choices), hint)
    if kind == "string_pattern_mismatch":
        allowed = "letters, digits, '-' and '_'" if "." not in context["pattern"] else ""
        allowed = allowed or "letters, digits, '.', '-' and '_'"
        expected = f"1 to 80 characters, only {allowed}, a letter or digit first"
        return Problem(at, f"{_shown(given)} cannot be a key", expected)
    if kind in LIMITS:
        name, words = LIMITS[kind]
        return Problem(at, f"{_shown(given)} is out of range", f"{words} {context[name]}")
    if kind == "too_short":
        return Problem(at, "nothing is named", f"at least {context['min_length']}")
    if kind == "too_long":
        return Problem(at, "too many are named", f"at most {context['max_length']}")
    if kind in EXPECTED:
        return Problem(at, f"{_shown(given)} cannot be taken", EXPECTED[kind])
    return Problem(at, detail["msg"].removeprefix("Input ").strip())


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
