"""The values a study starts from: histories of events, and probes with their evidence."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

ScoringMethod = Literal["code", "exact", "token_f1"]

PROBE_KINDS = ("direct", "temporal", "contradiction", "multi_hop", "alias")
MEMORY_CLASSES = ("fact", "preference", "decision", "task")


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened. `fields` is the structured form of a synthetic event, else None."""

    key: str
    seq: int
    text: str
    at: str = ""
    actor: str = ""
    fields: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Scoring:
    """How an answer is judged; `threshold` (0 to 1) belongs to `token_f1` alone."""

    method: ScoringMethod = "code"
    threshold: float | None = None


@dataclass(frozen=True, slots=True)
class Probe:
    """A question about one history, its one right answer, and its evidence (event keys)."""

    key: str
    history: str
    kind: str
    question: str
    answer: str
    evidence: tuple[str, ...]
    memory_class: str = "fact"
    scoring: Scoring = Scoring()
    screening: bool = False
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class History:
    """An ordered list of events that one agent experienced: the unit of analysis."""

    key: str
    events: tuple[Event, ...]
    title: str = ""
    probes: tuple[Probe, ...] = field(default=())

    def event(self, key: str) -> Event:
        """Return the event with this key; raise KeyError where the history has none."""
        for event in self.events:
            if event.key == key:
                return event
        raise KeyError(f"history {self.key!r} has no event {key!r}")

    def checksum(self) -> str:
        """SHA-256 (hex) over the events alone: two histories with equal events are one input."""
        rows = [
            [e.key, e.seq, e.at, e.actor, e.text, dict(e.fields) if e.fields is not None else None]
            for e in self.events
        ]
        text = json.dumps(rows, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()
