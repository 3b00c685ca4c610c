"""Which regular expressions a plan may hold: bounded ones, so that no answer can stall a run."""

import re
from collections.abc import Iterable
from re import _constants as c  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

from stores.errors import InvalidInputError
from stores.formats.codes import compile_code_pattern

MAX_PATTERN_CHARS = 200
MAX_MATCH_CHARS = 64
MAX_VARIABLE_PARTS = 4


def why_not_bounded(pattern: str) -> str:
    """Return why a code pattern is refused, or ''.

    A pattern is taken when it compiles, matches at least one and at most 64 characters, has at
    most four parts of variable length, and repeats no part that itself varies: matching then
    takes time linear in the text.
    """
    if len(pattern) > MAX_PATTERN_CHARS:
        return f"it has {len(pattern)} characters, at most {MAX_PATTERN_CHARS} are taken"
    try:
        parsed = _parser.parse(pattern)
        shortest, longest = parsed.getwidth()
    except (re.error, OverflowError, RecursionError) as error:
        return f"it is no regular expression: {error}"
    if shortest < 1:
        return "it matches the empty text"
    if longest > MAX_MATCH_CHARS:
        return f"it can match more than {MAX_MATCH_CHARS} characters (no '*', '+' or '{{n,}}')"
    variable = [repeated for low, high, repeated in _repeats(parsed) if low != high]
    if len(variable) > MAX_VARIABLE_PARTS:
        return f"it has {len(variable)} parts of variable length, at most {MAX_VARIABLE_PARTS}"
    if any(_varies(repeated) for _, _, repeated in _repeats(parsed)):
        return "it repeats a part that itself varies in length"
    try:
        # The scorer's own bound, so that no plan is launched whose answers it would refuse.
        compile_code_pattern(pattern)
    except InvalidInputError as error:
        return error.what
    return ""


def _items(parsed: Any) -> Iterable[tuple[Any, Any]]:
    """Every (operator, argument) of a parsed pattern, its nested parts too."""
    for op, argument in parsed:
        yield op, argument
        for nested in _nested(op, argument):
            yield from _items(nested)


def _nested(op: Any, argument: Any) -> list[Any]:
    if op in (c.MAX_REPEAT, c.MIN_REPEAT, c.POSSESSIVE_REPEAT):
        return [argument[2]]
    if op is c.SUBPATTERN:
        return [argument[3]]
    if op is c.ATOMIC_GROUP:
        return [argument]
    if op is c.BRANCH:
        return list(argument[1])
    if op in (c.ASSERT, c.ASSERT_NOT):
        return [argument[1]]
    if op is c.GROUPREF_EXISTS:
        return [part for part in argument[1:] if part is not None]
    return []


def _repeats(parsed: Any) -> list[tuple[int, int, Any]]:
    kinds = (c.MAX_REPEAT, c.MIN_REPEAT, c.POSSESSIVE_REPEAT)
    return [argument for op, argument in _items(parsed) if op in kinds]


def _varies(parsed: Any) -> bool:
    """Whether a part can match in several ways: a repeat, a branch or a reference in it."""
    ways = (c.MAX_REPEAT, c.MIN_REPEAT, c.BRANCH, c.GROUPREF, c.GROUPREF_EXISTS)
    return any(
        op in ways and not (op in ways[:2] and argument[0] == argument[1])
        for op, argument in _items(parsed)
    )
