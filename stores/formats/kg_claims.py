"""Claims of `kg_fixed`: their schema, fixed before any result, and how a writer's JSON is read."""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from stores.counting import count_of, was_or_were
from stores.formats.content import canonical_json
from stores.workload.types import Event
from stores.workload.vocabulary import NOTE, PREDICATES

# Everyday events say nothing that the schema holds, so that their predicate is no part of it.
CLAIM_PREDICATES = tuple(predicate for predicate in PREDICATES if predicate != NOTE)
MAX_NAME_CHARS = 80
MAX_CLAIMS_PER_EVENT = 3
# `"12":` before an event's claims, or the beginning of an array that holds a string first.
_NUMBER_OR_ARRAY = re.compile(r'"(?P<number>\d{1,9})"\s*:|\[(?=\s*")')


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
    """Return the JSON schema for one window: for every event, by its number, a list of claims.

    A claim is an array, subject, predicate, object, and where there is one its source: without
    the names of its parts it costs a writer half the tokens.
    """
    name = {"type": "string", "minLength": 1, "maxLength": MAX_NAME_CHARS}
    claim = {
        "type": "array",
        "prefixItems": [name, {"enum": list(CLAIM_PREDICATES)}, name, name],
        "items": False,
        "minItems": 3,
    }
    claims = {"type": "array", "items": claim, "maxItems": MAX_CLAIMS_PER_EVENT}
    numbers = [str(event.seq) for event in events]
    return {
        "type": "object",
        "properties": dict.fromkeys(numbers, claims),
        "required": numbers,
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
    by_number = {str(event.seq): event for event in events}
    taken: list[dict[str, Any]] = []
    dropped = 0
    candidates, broken = _candidates(text)
    for number, candidate in candidates:
        claim = _checked(candidate, by_number.get(number))
        if claim is None:
            dropped += 1
        elif claim not in taken:
            taken.append(claim)
    problems = []
    if broken:
        problems.append(f"its JSON was broken, {len(taken)} whole claims were taken from it")
    if dropped:
        problems.append(
            f"{count_of(dropped, 'claim')} did not fit the schema "
            f"and {was_or_were(dropped)} dropped"
        )
    return taken, "; ".join(problems)


def _candidates(text: str) -> tuple[list[tuple[str, Any]], bool]:
    """Return what may be claims with their event numbers, and whether the JSON was broken."""
    try:
        value = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        return list(_scan(text)), True
    if not isinstance(value, dict) or not all(isinstance(v, list) for v in value.values()):
        return list(_scan(text)), True
    return [(number, claim) for number, claims in value.items() for claim in claims], False


def _scan(text: str) -> Iterator[tuple[str, Any]]:
    """Return every complete array of strings in a broken text, under the last number before it."""
    decoder, number, at = json.JSONDecoder(), "", 0
    while found := _NUMBER_OR_ARRAY.search(text, at):
        at = found.end()
        if found["number"]:
            number = found["number"]
            continue
        try:
            value, at = decoder.raw_decode(text, found.start())
        except (json.JSONDecodeError, RecursionError):
            continue
        yield number, value


def _checked(value: Any, event: Event | None) -> dict[str, Any] | None:
    if event is None or not isinstance(value, list) or not 3 <= len(value) <= 4:
        return None
    if not all(isinstance(part, str) and len(part) <= MAX_NAME_CHARS for part in value):
        return None
    subject, predicate, object_, source = (" ".join(part.split()) for part in (*value, "")[:4])
    if not (subject and object_) or predicate not in CLAIM_PREDICATES:
        return None
    return {
        "subject": subject,
        "predicate": predicate,
        "object": object_,
        "source": source,
        "event": event.key,
        "seq": event.seq,
        "at": event.at,
    }
