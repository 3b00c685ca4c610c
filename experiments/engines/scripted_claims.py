"""Filling a JSON schema from event lines, for the scripted engine."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

CODE = re.compile(r"[A-Z]{2}-\d{2,4}")
NAME = re.compile(r"[A-Z][a-z]+(?: [A-Z][a-z]+)*")
FENCED = re.compile(r"<events>\n(.*?)</events>", re.DOTALL)
NUMBERED = re.compile(r"(?:\[(\d+)\]|(\d+)\.)\s+(.*)")
DAY = re.compile(r"On [\d-]+:")
NUMBERS = {"integer": 0, "number": 0.0, "boolean": False, "null": None}

Line = tuple[int, str]


def event_lines(text: str) -> list[Line]:
    """Return the events that a prompt lists, each with its number.

    They stand between `<events>` and `</events>`; where nothing is marked so, numbered lines are
    meant. A line without a number of its own (`[3]`, `3.`) has that of its place.
    """
    fenced = FENCED.findall(text)
    lines = [line.strip() for line in (fenced[-1] if fenced else text).splitlines()]
    found: list[Line] = []
    for line in lines:
        numbered = NUMBERED.fullmatch(line)
        if numbered:
            found.append((int(numbered[1] or numbered[2]), numbered[3]))
        elif fenced and line and not DAY.fullmatch(line):
            found.append((len(found) + 1, line))
    return found


def fill_schema(schema: Mapping[str, Any], lines: Sequence[Line]) -> str:
    """Return JSON of the schema: each of its lists gets one item per line that holds something.

    A property that is named by a number is about the line of that number.
    """
    return json.dumps(_value(schema, "", list(lines), (0, "")), ensure_ascii=False)


def _value(schema: Mapping[str, Any], name: str, lines: list[Line], line: Line) -> Any:
    if "enum" in schema:
        return _choice(schema["enum"], line)
    if "const" in schema:
        return schema["const"]
    match schema.get("type"):
        case "object":
            return {
                key: _value(part, key, _about(key, lines), line)
                for key, part in schema.get("properties", {}).items()
            }
        case "array" if "prefixItems" in schema:
            return _tuple(schema, lines, line)
        case "array":
            telling = [item for item in lines if CODE.search(item[1]) or NAME.search(item[1])]
            items = [_value(schema["items"], name, lines, item) for item in telling]
            return items[: schema.get("maxItems", len(items))]
        case "string":
            text = _text(name, line[1]) or "-" * int(schema.get("minLength", 0))
            return text[: int(schema.get("maxLength", len(text)))]
        case other:
            return NUMBERS.get(str(other), 0)


def _about(key: str, lines: list[Line]) -> list[Line]:
    return [line for line in lines if line[0] == int(key)] if key.isdecimal() else lines


def _tuple(schema: Mapping[str, Any], lines: list[Line], line: Line) -> list[Any]:
    """Fill the places that a list must have: what comes before a choice is its subject."""
    places = schema["prefixItems"][: schema.get("minItems", len(schema["prefixItems"]))]
    choice = next((i for i, place in enumerate(places) if "enum" in place), 0)
    names = ["subject" if i < choice else "object" for i in range(len(places))]
    return [_value(p, n, lines, line) for p, n in zip(places, names, strict=True)]


def _choice(allowed: Sequence[Any], line: Line) -> Any:
    """Choose the line's own number, or the allowed word that has most in common with the line."""
    number, text = line
    if number in allowed:
        return number
    words = set(re.findall(r"[a-z]+", text.lower()))

    def shared(value: Any) -> int:
        return len(words & set(re.findall(r"[a-z]+", str(value).lower())))

    return max(allowed, key=shared)


def _text(name: str, line: str) -> str:
    """What a property of this name takes from a line: the object its code, the subject a name."""
    codes, names = CODE.findall(line), NAME.findall(line)
    if name == "object":
        return str((codes or names or [""])[-1])
    if name == "subject":
        return str((names or codes or [""])[-1 if codes else 0])
    return ""
