"""Codes in free-running text: how they are found, and which patterns are safe to search with."""

import functools
import re
import unicodedata
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser as sre_parser  # type: ignore[attr-defined]
from typing import Any

from stores.errors import InvalidInputError

DEFAULT_CODE_PATTERN = r"[A-Z]{2}-\d{2,4}"
MAX_PATTERN_CHARS = 200
# Ways in which the pattern may try to match at one place of a text. Every way costs time, so a
# small bound here and a bounded text make a runaway search impossible.
MAX_PATHS = 512
_SINGLE = {
    sre.LITERAL, sre.NOT_LITERAL, sre.ANY, sre.IN, sre.AT, sre.CATEGORY, sre.RANGE,
}  # fmt: skip

# Everything that people and models write for a hyphen; NFKC alone leaves most of them as they are.
_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—―⁃−﹘﹣－", "-"))


def fold(text: str) -> str:
    """Make spellings of one code equal: NFKC, case folding, every dash a hyphen-minus."""
    return unicodedata.normalize("NFKC", text).casefold().translate(_DASHES)


def plain_dashes(text: str) -> str:
    """Make every dash a hyphen-minus and change nothing else."""
    return text.translate(_DASHES)


def _paths(parsed: Any) -> int:
    """Return the number of ways a parsed pattern can match at one place, capped above MAX_PATHS."""
    total = 1
    for op, argument in parsed:
        if op in _SINGLE:
            ways = 1
        elif op is sre.BRANCH:
            ways = sum(_paths(branch) for branch in argument[1])
        elif op is sre.SUBPATTERN:
            ways = _paths(argument[3])
        elif op in (sre.ASSERT, sre.ASSERT_NOT):
            ways = _paths(argument[1])
        elif op in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
            least, most, inner = argument
            if most is sre.MAXREPEAT or most > MAX_PATHS:
                return MAX_PATHS + 1
            each = _paths(inner)
            ways = min(sum(min(each, MAX_PATHS) ** n for n in range(least, most + 1)), 10**9)
        else:  # back references, conditionals: nothing a code needs
            return MAX_PATHS + 1
        total *= ways
        if total > MAX_PATHS:
            return MAX_PATHS + 1
    return total


@functools.lru_cache(maxsize=64)
def compile_code_pattern(pattern: str, *, where: str = "code_pattern") -> re.Pattern[str]:
    """Compile a plan's code pattern, or refuse it.

    The compiled pattern is meant for folded text (see `fold`). A match inside a longer run of
    letters and digits is no code: `AB-12345` does not hold `AB-1234`.

    Raises
    ------
    InvalidInputError
        When the pattern is too long, no regular expression, matches the empty text, or could
        match one place in more than MAX_PATHS ways (unbounded repeats, back references).
    """
    if not pattern or len(pattern) > MAX_PATTERN_CHARS:
        raise InvalidInputError(
            f"the pattern for codes has {len(pattern)} characters",
            where=where, expected=f"1 to {MAX_PATTERN_CHARS}",
        )  # fmt: skip
    try:
        paths = _paths(sre_parser.parse(pattern))
        compiled = re.compile(f"(?<![^\\W_])(?:{pattern})(?![^\\W_])", re.IGNORECASE)
    except (re.error, RecursionError, OverflowError) as error:
        raise InvalidInputError(
            f"the pattern for codes is no regular expression: {error}",
            where=where, expected=rf"for example {DEFAULT_CODE_PATTERN}",
        ) from None  # fmt: skip
    if paths > MAX_PATHS:
        raise InvalidInputError(
            "the pattern for codes can match one place in too many ways to be searched safely",
            where=where, expected="bounded repeats and no back references",
            hint="Write {1,8} in place of + or *.",
        )  # fmt: skip
    if compiled.fullmatch(""):
        raise InvalidInputError("the pattern for codes matches the empty text", where=where)
    return compiled


def find_codes(text: str, pattern: str = DEFAULT_CODE_PATTERN) -> tuple[str, ...]:
    """Return the distinct codes of a text, upper case, in order of first appearance."""
    found = (match.group().upper() for match in compile_code_pattern(pattern).finditer(fold(text)))
    return tuple(dict.fromkeys(found))
