"""Store content as bytes: canonical JSON, so that equal stores are equal bytes."""

import json
from collections.abc import Mapping
from typing import Any

from stores.errors import InvalidInputError
from stores.workload.types import Event


def canonical_json(value: Any) -> bytes:
    """Return UTF-8 JSON with sorted keys and no spaces; a lone surrogate becomes `?`."""
    text = json.dumps(
        value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
    )
    return text.encode("utf-8", errors="replace")


def parse_content(content: bytes, expected_format: str) -> dict[str, Any]:
    """Return a store's content; raise InvalidInputError when it is none of this format."""
    try:
        value = json.loads(content)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise InvalidInputError(
            f"the store's content is not JSON: {error}",
            where="store content", hint="Compare its checksum with the stored one.",
        ) from None  # fmt: skip
    found = value.get("format") if isinstance(value, dict) else None
    if found != expected_format:
        raise InvalidInputError(
            f"the store's content is of format {found!r}",
            where="store content", expected=repr(expected_format),
        )  # fmt: skip
    assert isinstance(value, dict)
    return value


def event_to_json(event: Event) -> dict[str, Any]:
    """Return what a store keeps of an event: never its structured fields."""
    return {
        "key": event.key, "seq": event.seq, "at": event.at, "actor": event.actor,
        "text": event.text,
    }  # fmt: skip


def event_from_json(row: Mapping[str, Any]) -> Event:
    """Return the event that `event_to_json` kept."""
    return Event(key=row["key"], seq=row["seq"], at=row["at"], actor=row["actor"], text=row["text"])
