"""Filling a JSON schema from event lines, for the scripted engine."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

CODE = re.compile(r"[A-Z]{2}-\d{4}")
NAME = re.compile(r"[A-Z][a-z]+(?: [A-Z][a-z]+)*")
NUMBERS = {"integer": 0, "number": 0.0, "boolean": False, "null": None}

Line = tuple[int, str]


def fill_schema(schema: Mapping[str, Any], lines: Sequence[Line]) -> str:
    """Return JSON of the schema: each of its lists gets one item per line that holds something."""
    return json.dumps(_value(schema, "", list(lines), (0, "")), ensure_ascii=False)


def _value(schema: Mapping[str, Any], name: str, lines: list[Line], line: Line) -> Any:
    if "enum" in schema:
        return _choice(schema["enum"], line)
    if "const" in schema:
        return schema["const"]
    match schema.get("type"):
        case "object":
            properties = schema.get("properties", {})
            return {key: _value(part, key, lines, line) for key, part in properties.items()}
        case "array":
            telling = [item for item in lines if CODE.search(item[1]) or NAME.search(item[1])]
            items = [_value(schema["items"], name, lines, item) for item in telling]
            return items[: schema.get("maxItems", len(items))]
        case "string":
            text = _text(name, line[1]) or "-" * int(schema.get("minLength", 0))
            return text[: int(schema.get("maxLength", len(text)))]
        case other:
            return NUMBERS.get(str(other), 0)


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
