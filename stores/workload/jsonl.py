"""memport JSONL: `histories.jsonl` and `probes.jsonl`, read strictly and written canonically.

A field that is not known is refused, because it is most often a misspelt one (`scorng`) whose
meaning would be lost in silence; a reader may ask to have unknown fields counted and left out.
What this module writes, it reads back to equal values, and those write to equal bytes.

Beyond the required fields a probe may carry `memory_class` and `screening`; `scoring` is a method
(`"code"`, `"exact"`, `"token_f1"`) or `{"method": "token_f1", "threshold": 0.5}`.
"""

import json
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from stores.errors import InvalidInputError
from stores.workload.record import Record, type_name, unprintable
from stores.workload.types import MEMORY_CLASSES, Event, History, Probe, Scoring

HISTORIES_FILE = "histories.jsonl"
PROBES_FILE = "probes.jsonl"
HISTORY_FIELDS = ("key", "title", "events")
EVENT_FIELDS = ("key", "at", "actor", "text", "fields")
PROBE_FIELDS = (
    "key", "history", "kind", "question", "answer", "evidence", "scoring", "tags",
    "memory_class", "screening",
)  # fmt: skip
METHODS = ("code", "exact", "token_f1")
_KIND = re.compile(r"[a-z0-9][a-z0-9_-]{0,59}")
_TAG = re.compile(r"[^;\s][^;]{0,59}")
Unknown = dict[str, int] | None


def read_event(record: Record, *, seq: int, unknown: Unknown) -> Event:
    """Read one event; faults are noted in the record."""
    record.only(EVENT_FIELDS, unknown=unknown)
    at = record.text("at", default="", most=40)
    if at and not _is_iso(at):
        record.fault("at", f"found {at!r}", expected="an ISO 8601 time such as 2026-01-05T09:30Z")
    fields = record.data.get("fields")
    if fields is not None and not isinstance(fields, dict):
        record.fault("fields", f"found {type_name(fields)}", expected="an object")
    elif bad := unprintable(fields):
        record.fault("fields", f"holds the control character {bad}", expected="printable text")
    return Event(
        key=record.key("key"),
        seq=seq,
        text=record.text("text"),
        at=at,
        actor=record.text("actor", default="", most=200),
        fields=fields if isinstance(fields, dict) else None,
    )


def read_history(record: Record, *, problems: list[InvalidInputError], unknown: Unknown) -> History:
    """Read one history without its probes; faults are noted in `problems`."""
    record.only(HISTORY_FIELDS, unknown=unknown)
    events: list[Event] = []
    first_at: dict[str, int] = {}
    values = record.get("events", list)
    for position, value in enumerate(values or []):
        where = f"{record.where}, events[{position}]"
        inner = Record(value, where=where, problems=problems, limits=record.limits)
        event = read_event(inner, seq=position + 1, unknown=unknown)
        if event.key and event.key in first_at:
            other = first_at[event.key]
            inner.fault("key", f"{event.key!r} is the key of events[{other}] too", expected="one")
        first_at.setdefault(event.key, position)
        events.append(event)
    if values is not None and not values:
        record.fault("events", "is empty", expected="at least one event")
    return History(
        key=record.key("key"),
        title=record.text("title", default="", most=200),
        events=tuple(events),
    )


def read_probe(record: Record, *, unknown: Unknown) -> Probe:
    """Read one probe; faults are noted in the record. Its history is not looked at here."""
    record.only(PROBE_FIELDS, unknown=unknown)
    kind = record.text("kind", most=60)
    if kind.strip() and not _KIND.fullmatch(kind):
        record.fault("kind", f"found {kind!r}", expected="small letters, digits, _ and -")
    memory_class = record.text("memory_class", default="fact")
    if memory_class not in MEMORY_CLASSES:
        expected = f"one of {', '.join(MEMORY_CLASSES)}"
        record.fault("memory_class", f"found {memory_class!r}", expected=expected)
    evidence = record.texts("evidence")
    for event in evidence:
        if evidence.count(event) > 1:
            record.fault("evidence", f"names {event!r} twice", expected="each event once")
            break
    tags = record.texts("tags", default=[])
    for tag in tags:
        if not _TAG.fullmatch(tag):
            record.fault("tags", f"found {tag[:60]!r}", expected="up to 60 characters without ;")
    return Probe(
        key=record.key("key"),
        history=record.key("history"),
        kind=kind,
        question=record.text("question", most=10_000),
        answer=record.text("answer", most=10_000),
        evidence=evidence,
        memory_class=memory_class,
        scoring=_read_scoring(record),
        screening=record.get("screening", bool, default=False),
        tags=tags,
    )


def _read_scoring(record: Record) -> Scoring:
    given = record.data.get("scoring", "code")
    method, threshold = given, None
    if isinstance(given, dict) and set(given) <= {"method", "threshold"}:
        method, threshold = given.get("method"), given.get("threshold")
    if method not in METHODS:
        found = repr(method)[:60] if isinstance(method, str) else type_name(given)
        record.fault("scoring", f"found {found}", expected=f"one of {', '.join(METHODS)}")
        return Scoring()
    if threshold is not None:
        number = isinstance(threshold, int | float) and not isinstance(threshold, bool)
        if method != "token_f1" or not number or not 0 < threshold <= 1:
            expected = "a number above 0, up to 1, and only with token_f1"
            record.fault("scoring.threshold", f"found {threshold!r}", expected=expected)
            return Scoring(method)
        threshold = float(threshold)
    return Scoring(method, threshold)


def _is_iso(at: str) -> bool:
    try:
        datetime.fromisoformat(at)
    except ValueError:
        return False
    return True


def history_record(history: History) -> dict[str, Any]:
    """Return the history's JSON object; what is empty is left out."""
    events: list[dict[str, Any]] = []
    for event in history.events:
        row: dict[str, Any] = {"key": event.key, "at": event.at, "actor": event.actor}
        row = {name: value for name, value in row.items() if value} | {"text": event.text}
        if event.fields is not None:
            # Sorted, because a database may keep an object's fields in an order of its own.
            row["fields"] = json.loads(json.dumps(dict(event.fields), sort_keys=True))
        events.append(row)
    title = {"title": history.title} if history.title else {}
    return {"key": history.key, **title, "events": events}


def probe_record(probe: Probe) -> dict[str, Any]:
    """Return the probe's JSON object; what has its default is left out."""
    row: dict[str, Any] = {name: getattr(probe, name) for name in PROBE_FIELDS[:5]}
    row["evidence"] = list(probe.evidence)
    method, threshold = probe.scoring.method, probe.scoring.threshold
    if threshold is not None:
        row["scoring"] = {"method": method, "threshold": threshold}
    elif method != "code":
        row["scoring"] = method
    if probe.tags:
        row["tags"] = list(probe.tags)
    if probe.memory_class != "fact":
        row["memory_class"] = probe.memory_class
    if probe.screening:
        row["screening"] = True
    return row


def write_jsonl(records: Iterable[Mapping[str, Any]]) -> bytes:
    """Return one compact JSON object a line, UTF-8, each line ended."""
    return b"".join(
        json.dumps(r, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" for r in records
    )


def write_histories(histories: Iterable[History]) -> bytes:
    """Return the bytes of `histories.jsonl`."""
    return write_jsonl(history_record(h) for h in histories)


def write_probes(histories: Iterable[History]) -> bytes:
    """Return the bytes of `probes.jsonl`."""
    return write_jsonl(probe_record(p) for h in histories for p in h.probes)
