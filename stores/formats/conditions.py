"""Readings under a condition: what a reader is shown in place of a store's normal read.

`stored_evidence` shows the exact items of the store that hold the probe's evidence, so that nothing
has to be found. `raw_evidence` shows the original events, so that nothing was lost in writing.
`no_memory` shows nothing: whoever answers then guesses.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from stores.formats.base import MemoryFormat, Reading, Retrieved
from stores.formats.codes import DEFAULT_CODE_PATTERN, find_codes
from stores.formats.fence import event_line, event_lines, joined_days, neutral
from stores.formats.names import mentions, name_of, words
from stores.formats.prompts import DEFAULT_VERSION
from stores.formats.reading import selected_reading, shared_reading
from stores.formats.spans import normalized_tokens
from stores.workload.types import Event, History, Probe

Row = Mapping[str, Any]


def no_memory(probes: Sequence[Probe], *, prompts: str = DEFAULT_VERSION) -> list[Reading]:
    """Show each probe an empty memory."""
    return [shared_reading("", probe.question, prompts=prompts) for probe in probes]


def raw_evidence(
    history: History, probes: Sequence[Probe], *, prompts: str = DEFAULT_VERSION
) -> list[Reading]:
    """Show each probe its evidence events as they are in the history, in their order."""
    readings = []
    for probe in probes:
        wanted = set(probe.evidence)
        events = [event for event in history.events if event.key in wanted]
        shown = [
            Retrieved(event.key, rank, None, (event.key,), event_line(event))
            for rank, event in enumerate(events, start=1)
        ]
        readings.append(_reading(event_lines(events), probe, shown, prompts))
    return readings


def stored_evidence(
    memory_format: MemoryFormat,
    content: bytes,
    history: History,
    probes: Sequence[Probe],
    *,
    prompts: str = DEFAULT_VERSION,
    code_pattern: str = DEFAULT_CODE_PATTERN,
) -> list[Reading]:
    """Show each probe the items of a store that hold its evidence, in the order of the store.

    Chunks, claims and transcript lines are those of the evidence events. Notes name no single
    event, so that their lines are found by what the evidence says: its codes (also a changed form
    of one beside its entity); both names of a relation; the words of a free-text answer. An
    evidence event that no item holds has the rank None.
    """
    rows = memory_format.describe(content)
    if memory_format.name == "notes":
        covered = memory_format.coverage(content, history, probes, code_pattern=code_pattern)
        changed = {
            probe.probe: {s.event: s.found_in for s in probe.spans if s.state == "changed"}
            for probe in covered
        }
        finder = _NoteFinder(rows, code_pattern)
        return [
            _of_rows(rows, probe, finder.of(history, probe, changed.get(probe.key, {})), prompts)
            for probe in probes
        ]
    compose = _COMPOSE.get(memory_format.name, _plain)
    return [_of_rows(rows, probe, _by_event(rows, probe), prompts, compose) for probe in probes]


def _by_event(rows: Sequence[Row], probe: Probe) -> dict[str, list[str]]:
    return {
        key: [str(row["item"]) for row in rows if key in row["events"]] for key in probe.evidence
    }


class _NoteFinder:
    """Finds the lines of notes that hold an event."""

    def __init__(self, rows: Sequence[Row], code_pattern: str) -> None:
        self._pattern = code_pattern
        self._lines = [
            (
                str(row["item"]),
                frozenset(find_codes(row["text"], code_pattern)),
                words(row["text"]),
                normalized_tokens(row["text"]),
            )
            for row in rows
        ]

    def of(
        self, history: History, probe: Probe, changed: Mapping[str, str]
    ) -> dict[str, list[str]]:
        found = {}
        for key in probe.evidence:
            items = self._holding(history.event(key), probe)
            found[key] = items or [item for item in (changed.get(key, ""),) if item]
        return found

    def _holding(self, event: Event, probe: Probe) -> list[str]:
        codes = set(find_codes(event.text, self._pattern))
        if codes:
            return [item for item, held, _, _ in self._lines if held & codes]
        fields = event.fields or {}
        ends = [name_of(str(fields.get(part, ""))) for part in ("subject", "object")]
        if all(ends):
            return [i for i, _, said, _ in self._lines if all(mentions(said, e) for e in ends)]
        span = normalized_tokens(probe.answer)
        if not mentions(normalized_tokens(event.text), span):
            return []
        return [item for item, _, _, tokens in self._lines if mentions(tokens, span)]


def _plain(rows: Sequence[Row]) -> str:
    return "\n".join(neutral(str(row["text"])) for row in rows)


def _chunks(rows: Sequence[Row]) -> str:
    return joined_days(str(row["text"]) for row in rows)


# How the shown items become one text: as the format's own read shows them.
_COMPOSE: dict[str, Callable[[Sequence[Row]], str]] = {"rag": _chunks}


def _of_rows(
    rows: Sequence[Row],
    probe: Probe,
    held: Mapping[str, Sequence[str]],
    prompts: str,
    compose: Callable[[Sequence[Row]], str] = _plain,
) -> Reading:
    wanted = {item for items in held.values() for item in items}
    chosen = [row for row in rows if row["item"] in wanted]
    shown = [
        Retrieved(str(row["item"]), rank, None, tuple(row["events"]), str(row["text"]))
        for rank, row in enumerate(chosen, start=1)
    ]
    return _reading(compose(chosen), probe, shown, prompts, held)


def _reading(
    memory: str,
    probe: Probe,
    shown: Sequence[Retrieved],
    prompts: str,
    held: Mapping[str, Sequence[str]] | None = None,
) -> Reading:
    """Compose a reading; `held` says which items hold each evidence event."""
    rank = {item.item: item.rank for item in shown}
    held = held if held is not None else {key: [key] for key in probe.evidence}
    ranks = {
        key: min((rank[item] for item in held.get(key, ()) if item in rank), default=None)
        for key in probe.evidence
    }
    reading = selected_reading(
        memory, probe.question, retrieved=tuple(shown), evidence_ranks=ranks, prompts=prompts
    )
    items = {key: next(i.item for i in shown if i.rank == r) for key, r in ranks.items() if r}
    return replace(reading, evidence_items=items)
