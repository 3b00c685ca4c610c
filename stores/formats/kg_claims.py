"""Claims of `kg_fixed`: their schema, fixed before any result, and how a writer's JSON is read."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stores.formats.content import canonical_json
from stores.workload.types import Event
from stores.workload.vocabulary import NOTE, PREDICATES

# Everyday events say nothing that the schema holds, so that their predicate is no part of it.
CLAIM_PREDICATES = tuple(predicate for predicate in PREDICATES if predicate != NOTE)
MAX_NAME_CHARS = 80
MAX_CLAIMS_PER_EVENT = 3


@dataclass(frozen=True, slots=True)
class Claim:
    """Subject, predicate, object, who or what it comes from; and the event it was taken from.

    `seq`, `event` and `at` are those of the event that the writer named as the claim's source.
    """

    item: str
    subject: str
    predicate: str
    object: str
    source: str
    event: str
    seq: int
    at: str


def claims_schema(events: Sequence[Event]) -> dict[str, Any]:
    """Return the JSON schema for one window: a claim can name only the window's own events."""
    name = {"type": "string", "maxLength": MAX_NAME_CHARS}
    properties = {
        "event": {"enum": [event.seq for event in events]},
        "subject": {"minLength": 1, **name},
        "predicate": {"enum": list(CLAIM_PREDICATES)},
        "object": {"minLength": 1, **name},
        "source": name,
    }
    claim = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    claims = {"type": "array", "items": claim, "maxItems": MAX_CLAIMS_PER_EVENT * len(events)}
    return {
        "type": "object",
        "properties": {"claims": claims},
        "required": ["claims"],
        "additionalProperties": False,
    }


def _schema_version() -> str:
    """Return the schema's name: its number, and a hash over everything that it fixes."""
    digest = hashlib.sha256(canonical_json(claims_schema([Event("", 1, "")]))).hexdigest()
    return f"claims-1-{digest[:12]}"


SCHEMA_VERSION = _schema_version()


def parse_claims(text: str, events: Sequence[Event]) -> tuple[list[dict[str, Any]], str]:
    """Return the claims that a writer's reply holds, and in words what was left out, or ''.

    Whole claims are taken from broken or cut-off JSON too. A claim is dropped when a part is
    missing or too long, its predicate is not of the schema, or its event is not of the window.
    """
    by_seq = {event.seq: event for event in events}
    taken: list[dict[str, Any]] = []
    dropped = 0
    candidates, broken = _candidates(text)
    for candidate in candidates:
        claim = _checked(candidate, by_seq)
        if claim is None:
            dropped += 1
        elif claim not in taken:
            taken.append(claim)
    problems = []
    if broken:
        problems.append(f"its JSON was broken, {len(taken)} whole claims were taken from it")
    if dropped:
        problems.append(f"{dropped} claims did not fit the schema and were dropped")
    return taken, "; ".join(problems)


def _candidates(text: str) -> tuple[list[Any], bool]:
    """Return what may be claims, and whether the reply was anything but one JSON object of them."""
    try:
        value = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        return list(_scan(text)), True
    if isinstance(value, dict) and isinstance(value.get("claims"), list):
        return value["claims"], False
    return list(_scan(text)), True


def _scan(text: str) -> Iterator[Any]:
    """Return every complete JSON object in a broken text that says something of a subject."""
    decoder, at = json.JSONDecoder(), text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except (json.JSONDecodeError, RecursionError):
            end = at + 1
        else:
            if isinstance(value, dict) and isinstance(value.get("claims"), list):
                yield from value["claims"]
            elif isinstance(value, dict) and "subject" in value:
                yield value
        at = text.find("{", end)


def _checked(value: Any, by_seq: Mapping[int, Event]) -> dict[str, Any] | None:
    if not isinstance(value, dict):
        return None
    number = value.get("event")
    if isinstance(number, str) and number.strip().isascii() and number.strip().isdigit():
        number = int(number.strip()[:9])
    if not isinstance(number, int) or isinstance(number, bool) or number not in by_seq:
        return None
    parts = {name: value.get(name, "") for name in ("subject", "predicate", "object", "source")}
    if not all(isinstance(p, str) and len(p) <= MAX_NAME_CHARS for p in parts.values()):
        return None
    parts = {name: " ".join(part.split()) for name, part in parts.items()}
    if not (parts["subject"] and parts["object"]) or parts["predicate"] not in CLAIM_PREDICATES:
        return None
    event = by_seq[number]
    return {**parts, "event": event.key, "seq": event.seq, "at": event.at}
