"""One probe, followed from the raw history through each store and its retrieval to the answer."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.selectors import Cell
from experiments.models import Answer
from stores.models import Event, Probe, Store

# Events shown on each side of an evidence event; the rest is named as a gap.
CONTEXT_EVENTS = 1


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of text; `marked` where it is an evidence span."""

    text: str
    marked: bool


@dataclass(frozen=True, slots=True)
class EventRow:
    """An event of the raw history, or a gap of `skipped` events."""

    event: Event | None
    evidence: bool
    segments: tuple[Segment, ...]
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class EventRank:
    """An evidence event in a retrieval: its rank, None where no item holds it."""

    event: str
    rank: int | None
    shown: bool


@dataclass(frozen=True, slots=True)
class CellPath:
    """How one cell did on one probe: what its store kept, what was retrieved, what was answered."""

    cell: Cell
    answer: Answer | None
    store: Store | None
    spans: tuple[Mapping[str, Any], ...]
    no_spans: str
    ranks: tuple[EventRank, ...] | None
    n_retrieved: int

    @property
    def css(self) -> str:
        """`right`, `wrong`, or `never` where there is no scored answer."""
        if self.answer is None or self.answer.correct is None:
            return "never"
        return "right" if self.answer.correct else "wrong"


def marked(text: str, spans: Iterable[str]) -> tuple[Segment, ...]:
    """Cut `text` into segments, the evidence spans marked (letter case does not matter)."""
    wanted = sorted({span for span in spans if span}, key=len, reverse=True)
    if not wanted:
        return (Segment(text, False),)
    pattern = re.compile("|".join(re.escape(span) for span in wanted), re.IGNORECASE)
    segments, end = [], 0
    for match in pattern.finditer(text):
        if match.start() > end:
            segments.append(Segment(text[end : match.start()], False))
        segments.append(Segment(match.group(), True))
        end = match.end()
    if end < len(text):
        segments.append(Segment(text[end:], False))
    return tuple(segments) or (Segment(text, False),)


def evidence_rows(
    events: Sequence[Event], probe: Probe, spans: Iterable[str], *, whole: bool = False
) -> list[EventRow]:
    """The raw history around the evidence of a probe, its spans marked; `whole` shows all of it."""
    wanted, spans = set(probe.evidence), list(spans)
    near = {
        position + offset
        for position, event in enumerate(events)
        if event.key in wanted
        for offset in range(-CONTEXT_EVENTS, CONTEXT_EVENTS + 1)
    }
    rows: list[EventRow] = []
    skipped = 0
    for position, event in enumerate(events):
        if not whole and position not in near:
            skipped += 1
            continue
        if skipped:
            rows.append(EventRow(None, False, (), skipped))
            skipped = 0
        evidence = event.key in wanted
        segments = marked(event.text, spans) if evidence else (Segment(event.text, False),)
        rows.append(EventRow(event, evidence, segments))
    if skipped:
        rows.append(EventRow(None, False, (), skipped))
    return rows


def spans_in(store: Store | None, probe: Probe) -> tuple[Mapping[str, Any], ...]:
    """The required spans of a probe as this store kept them; empty where that was not computed."""
    if store is None:
        return ()
    return tuple(store.coverage.get("by_probe", {}).get(probe.key, ()))


def _why_no_spans(store: Store | None, probe: Probe) -> str:
    """Why the evidence of a probe cannot be looked for in this store."""
    if store is None:
        return ""
    return str(store.coverage.get("undefined_because", {}).get(probe.key, ""))


def paths(probe: Probe, cells: Sequence[Cell]) -> list[CellPath]:
    """Follow a probe through every cell of a study."""
    attempts = [cell.attempt.pk for cell in cells if cell.attempt]
    found = Answer.objects.filter(attempt__in=attempts, probe=probe).select_related("call")
    answers = {answer.attempt_id: answer for answer in found}
    result = []
    for cell in cells:
        answer = answers.get(cell.attempt.pk) if cell.attempt else None
        store = cell.attempt.store if cell.attempt else None
        result.append(
            CellPath(
                cell=cell,
                answer=answer,
                store=store,
                spans=spans_in(store, probe),
                no_spans=_why_no_spans(store, probe),
                ranks=_ranks(answer),
                n_retrieved=len(answer.retrieved) if answer else 0,
            )
        )
    return result


def _ranks(answer: Answer | None) -> tuple[EventRank, ...] | None:
    """The rank of every evidence event; None for a format that retrieves nothing."""
    if answer is None or answer.evidence_ranks is None:
        return None
    shown = {event for item in answer.retrieved for event in item.get("events", ())}
    return tuple(
        EventRank(event, rank, event in shown) for event, rank in answer.evidence_ranks.items()
    )


def all_spans(probe: Probe, followed: Sequence[CellPath]) -> list[str]:
    """The texts to highlight in the raw history: the required spans, else the answer itself."""
    spans = {str(span["span"]) for path in followed for span in path.spans}
    return sorted(spans | {probe.answer})
