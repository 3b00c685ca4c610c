"""One JSON object of a file, read field by field; every fault is noted with its place."""

import difflib
import json
import re
import unicodedata
from collections.abc import Iterator
from typing import Any

from stores.errors import InvalidInputError
from stores.workload.source_file import Limits

# Keys stand in addresses, tables and prompts: no blanks, no quotes, nothing that needs escaping.
KEY_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,119}")
_KEY_EXPECTED = "letters, digits and . _ : - (at most 120, a letter or digit first)"
_TYPE_NAMES = {
    dict: "an object",
    list: "a list",
    str: "text",
    bool: "true or false",
    int: "a number",
    float: "a number",
    type(None): "null",
}


def type_name(value: object) -> str:
    """Return what a JSON value is, in words."""
    return _TYPE_NAMES.get(type(value), type(value).__name__)


def parse_json(text: str, *, where: str) -> Any:
    """Parse strict JSON: no NaN, no key twice in one object.

    Raises
    ------
    InvalidInputError
        Naming the column.
    """
    try:
        return json.loads(text, object_pairs_hook=_no_twins, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise InvalidInputError(
            f"not JSON: {error.msg} at column {error.pos + 1}",
            where=where,
            expected="one JSON object a line",
        ) from error
    except (ValueError, RecursionError) as error:
        what = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise InvalidInputError(
            f"not JSON: {what}", where=where, expected="one JSON object a line"
        ) from error


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        names = [name for name, _ in pairs]
        twin = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the field {twin!r} occurs twice in one object")
    return result


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")


def unprintable(value: Any) -> str:
    """Return the first character that no text should hold, such as 'U+0000', or ''.

    Tabs and line ends are fine. Lone halves of a surrogate pair cannot be written as UTF-8.
    """
    for text in _texts(value):
        for char in text:
            if unicodedata.category(char) in ("Cc", "Cs") and char not in "\t\n\r":
                return f"U+{ord(char):04X}"
    return ""


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def nearest(name: str, known: list[str]) -> str:
    """Return a hint that names the most similar known word, or ''."""
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return f"Did you mean {close[0]!r}?" if close else ""


class Record:
    """Reads the fields of one object and notes every fault in `problems`."""

    def __init__(
        self, value: Any, *, where: str, problems: list[InvalidInputError], limits: Limits
    ) -> None:
        self.where, self.limits, self._problems = where, limits, problems
        self._before = len(problems)
        self.data: dict[str, Any] = value if isinstance(value, dict) else {}
        self._no_object = False
        if not isinstance(value, dict):
            self.fault("", f"found {type_name(value)}", expected="an object")
            self._no_object = True

    @property
    def sound(self) -> bool:
        """Whether nothing was wrong so far."""
        return len(self._problems) == self._before

    def fault(self, field: str, what: str, *, expected: str = "", hint: str = "") -> None:
        """Note that something is wrong with a field (or, with '', the whole record)."""
        if self._no_object:
            return  # said once; that each of its fields is missing says no more
        where = f"{self.where}, field {field!r}" if field else self.where
        self._problems.append(InvalidInputError(what, where=where, expected=expected, hint=hint))

    def only(self, known: tuple[str, ...], *, unknown: dict[str, int] | None) -> None:
        """Refuse fields that are not known; with `unknown`, count them there instead."""
        for name in self.data:
            if name in known:
                continue
            if unknown is not None:
                unknown[name] = unknown.get(name, 0) + 1
            else:
                self.fault(
                    str(name)[:60],
                    "this field is not known",
                    expected=f"only {', '.join(known)}",
                    hint=nearest(str(name), list(known))
                    or "To leave such fields out, use --ignore-unknown",
                )

    def get(self, field: str, kind: type, *, default: Any = None) -> Any:
        """Return a value of this type; None (and a fault) where it is missing or another type."""
        if field not in self.data:
            if default is None:
                self.fault(field, "is missing", expected=_TYPE_NAMES[kind])
            return default
        value = self.data[field]
        if type(value) is not kind:
            self.fault(field, f"found {type_name(value)}", expected=_TYPE_NAMES[kind])
            return default
        return value

    def text(self, field: str, *, default: str | None = None, most: int | None = None) -> str:
        """Return a text. Without a default it must be there and not be blank."""
        value = self.get(field, str, default=default)
        if value is None:
            return ""
        most = most or self.limits.text_chars
        if default is None and not value.strip():
            self.fault(field, "is blank", expected="text")
        elif len(value) > most:
            self.fault(field, f"has {len(value):,} characters", expected=f"at most {most:,}")
        elif bad := unprintable(value):
            self.fault(field, f"holds the control character {bad}", expected="printable text")
        return str(value)

    def key(self, field: str) -> str:
        """Return a key."""
        value = self.text(field)
        if value.strip() and not KEY_PATTERN.fullmatch(value):
            self.fault(field, f"found {value[:60]!r}", expected=_KEY_EXPECTED)
        return value

    def texts(self, field: str, *, default: list[str] | None = None) -> tuple[str, ...]:
        """Return a list of texts."""
        values = self.get(field, list, default=default) or []
        for position, value in enumerate(values):
            if not isinstance(value, str) or not value.strip() or unprintable(value):
                found = type_name(value) if not isinstance(value, str) else repr(value[:60])
                self.fault(f"{field}[{position}]", f"found {found}", expected="text")
                return ()
        return tuple(values)
