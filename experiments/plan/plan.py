"""Load a plan, say what is wrong with it, and give it its one canonical form."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from experiments.plan.checks import cross_check
from experiments.plan.problems import InvalidPlanError
from experiments.plan.schema import StudyPlan
from experiments.plan.source import PlanText, read_plan_text
from experiments.plan.translate import problems_of
from stores.errors import InvalidInputError

SHOWN_DIFFERENCES = 5


def load_plan(path: Path | str) -> StudyPlan:
    """Read a plan from a YAML or JSON file.

    Raises
    ------
    InvalidInputError
        The file cannot be read.
    InvalidPlanError
        The plan cannot be taken; names file, line, key and the nearest known key.
    """
    path = Path(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InvalidInputError(
            f"the study file cannot be read: {error.strerror or error}",
            where=str(path),
            hint="Give the path of a YAML or JSON file; docs/study-plan.md describes it",
        ) from None
    return load_plan_text(data, source=str(path))


def load_plan_text(data: bytes, *, source: str) -> StudyPlan:
    """Read a plan from the bytes of a file, such as an upload; see `load_plan`."""
    text = read_plan_text(data, source=source)
    return _validated(text.value, text)


def parse_plan(data: Mapping[str, Any], *, source: str = "") -> StudyPlan:
    """Build a plan from values, such as a form's or a locked plan's; see `load_plan`.

    `InvalidPlanError.by_field` gives the problems by form field.
    """
    return _validated(dict(data), PlanText(source))


def _validated(value: Any, text: PlanText) -> StudyPlan:
    try:
        plan = StudyPlan.model_validate(value)
    except ValidationError as error:
        problems = problems_of(error)
    else:
        problems = cross_check(plan)
        if not problems:
            return plan
    raise InvalidPlanError(
        [replace(problem, line=text.line(problem.at)) for problem in problems], source=text.source
    ) from None


def plan_value(plan: StudyPlan) -> dict[str, Any]:
    """Return the plan as plain JSON values, defaults written out: what a lock keeps.

    A test that the plan does not name is left out, so that a plan keeps its hash when memport
    learns another test.
    """
    value = plan.model_dump(mode="json")
    tests = value["tests"]
    return {**value, "tests": {name: kept for name, kept in tests.items() if kept is not None}}


def canonical_json(plan: StudyPlan | Mapping[str, Any]) -> bytes:
    """Return the one form of a plan that is hashed and signed.

    UTF-8 JSON without spaces, keys sorted by code point, numbers in Python's shortest form,
    every default written out. A mapping (a plan as it was locked) is taken as it stands.
    """
    value = plan_value(plan) if isinstance(plan, StudyPlan) else plan
    text = json.dumps(
        value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
    )
    return text.encode()


def plan_sha256(plan: StudyPlan | Mapping[str, Any]) -> str:
    """SHA-256 (hex) of `canonical_json`."""
    return hashlib.sha256(canonical_json(plan)).hexdigest()


def differences(locked: Mapping[str, Any], given: Mapping[str, Any]) -> list[str]:
    """Say in words where two plans differ: `budgets.top_k: locked 8, given 5`."""
    found: list[str] = []
    _compare(locked, given, "", found)
    if len(found) > SHOWN_DIFFERENCES:
        rest = len(found) - SHOWN_DIFFERENCES
        return [*found[:SHOWN_DIFFERENCES], f"and {rest} more"]
    return found


def _compare(locked: Any, given: Any, at: str, found: list[str]) -> None:
    if isinstance(locked, Mapping) and isinstance(given, Mapping):
        for key in sorted({*locked, *given}):
            path = f"{at}.{key}" if at else key
            _compare(locked.get(key), given.get(key), path, found)
    elif isinstance(locked, list) and isinstance(given, list) and len(locked) == len(given):
        for n, (one, other) in enumerate(zip(locked, given, strict=True)):
            _compare(one, other, f"{at}[{n}]", found)
    elif locked != given:
        found.append(f"{at}: locked {_short(locked)}, given {_short(given)}")


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:77] + "…"
