"""Evidence coverage: which required spans of the evidence are still in a store, and in which state.

Required of a probe that is scored by codes: every code in the text of each of its evidence
events. An event without a code (a relation, another name) requires nothing by itself.

Required of a free-text probe: the words of its answer, where they stand in one of its evidence
events as they are. Where they do not (the answer is a paraphrase, a computed date, a yes), the
coverage of that probe is undefined, with the reason.

A span is
* `kept` when it stands in some item of the store: a code as a whole, words next to each other;
* `changed` when it is not kept, but an item that names the code's entity holds a code-like word
  (with a digit, no code of this history) at most MAX_EDITS edits away from it;
* `missing` otherwise.

`with_entity` is told of codes whose event has structured fields: some item holds the code and the
event's subject, by its name or by another name that the history itself gives it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from stores.formats.base import ProbeCoverage, SpanCoverage
from stores.formats.codes import DEFAULT_CODE_PATTERN, find_codes, fold
from stores.formats.names import Name, mentions, name_of, words
from stores.formats.spans import normalized_tokens
from stores.workload.types import Event, History, Probe
from stores.workload.vocabulary import ALSO_CALLED

MAX_EDITS = 2
_CODE_LIKE = re.compile(r"[^\W_](?:[^\W_]|-)*")


@dataclass(frozen=True, slots=True)
class Item:
    """A stretch of a store in which an entity and its code belong together: a line, a claim."""

    key: str
    text: str


class _Line:
    """An item, prepared for many look-ups."""

    def __init__(self, item: Item, pattern: str) -> None:
        self.key = item.key
        self.codes = frozenset(find_codes(item.text, pattern))
        self.words = words(item.text)
        self.tokens = normalized_tokens(item.text)
        self.code_like = tuple(
            word.upper()
            for word in _CODE_LIKE.findall(fold(item.text))
            if any(character.isdigit() for character in word)
        )


def cover(
    items: Iterable[Item],
    history: History,
    probes: Sequence[Probe],
    *,
    code_pattern: str = DEFAULT_CODE_PATTERN,
) -> list[ProbeCoverage]:
    """Follow the required spans of every probe into the items of a store."""
    lines = [_Line(item, code_pattern) for item in items]
    holders: dict[str, list[_Line]] = {}
    for line in lines:
        for code in line.codes:
            holders.setdefault(code, []).append(line)
    events = {event.key: event for event in history.events}
    codes = {event.key: find_codes(event.text, code_pattern) for event in history.events}
    every_code = frozenset(code for found in codes.values() for code in found)
    names = _names(history)
    covered: dict[tuple[str, str], SpanCoverage] = {}
    result = []
    for probe in probes:
        if probe.scoring.method != "code":
            result.append(_cover_text(lines, events, probe))
            continue
        spans = []
        for key in probe.evidence:
            for code in codes[key]:
                if (key, code) not in covered:
                    entity = _entity_names(events[key], names)
                    covered[key, code] = _cover_code(lines, holders, key, code, entity, every_code)
                spans.append(covered[key, code])
        reason = "" if spans else "its evidence holds no code"
        result.append(ProbeCoverage(probe.key, tuple(spans), reason))
    return result


def _names(history: History) -> dict[Name, set[Name]]:
    """Return the other names that the history gives to entities, both ways."""
    names: dict[Name, set[Name]] = {}
    for event in history.events:
        fields = event.fields or {}
        if fields.get("predicate") == ALSO_CALLED:
            one, other = name_of(str(fields["subject"])), name_of(str(fields["object"]))
            names.setdefault(one, set()).add(other)
            names.setdefault(other, set()).add(one)
    return names


def _entity_names(event: Event, names: Mapping[Name, set[Name]]) -> tuple[Name, ...]:
    """Return the names of the entity that an event's code belongs to; () when not known."""
    subject = name_of(str((event.fields or {}).get("subject", "")))
    return (subject, *sorted(names.get(subject, ()))) if subject else ()


def _cover_code(
    lines: Sequence[_Line],
    holders: Mapping[str, Sequence[_Line]],
    event: str,
    code: str,
    entity: Sequence[Name],
    known: frozenset[str],
) -> SpanCoverage:
    def named(line: _Line) -> bool:
        return any(mentions(line.words, name) for name in entity)

    holding = holders.get(code, ())
    beside = [line for line in holding if named(line)]
    if holding:
        with_entity = bool(beside) if entity else None
        return SpanCoverage(event, code, "kept", with_entity, (beside or holding)[0].key)
    for line in lines:
        if any(_changed_form(word, code, known) for word in line.code_like) and named(line):
            return SpanCoverage(event, code, "changed", False, line.key)
    return SpanCoverage(event, code, "missing", False if entity else None)


def _changed_form(word: str, code: str, known: frozenset[str]) -> bool:
    return word not in known and word != code and edits(word, code, MAX_EDITS) <= MAX_EDITS


def edits(one: str, other: str, most: int) -> int:
    """Return the Levenshtein distance of two short words, or `most + 1` when it is larger."""
    if abs(len(one) - len(other)) > most:
        return most + 1
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, start=1):
        diagonal, row[0] = row[0], i
        for j, b in enumerate(other, start=1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (a != b))
        if min(row) > most:
            return most + 1
    return row[-1]


def _cover_text(lines: Sequence[_Line], events: Mapping[str, Event], probe: Probe) -> ProbeCoverage:
    span = normalized_tokens(probe.answer)
    holders = [key for key in probe.evidence if mentions(normalized_tokens(events[key].text), span)]
    if not span or not holders:
        reason = "its answer does not stand in its evidence word for word"
        return ProbeCoverage(probe.key, (), reason)
    line = next((line for line in lines if mentions(line.tokens, span)), None)
    state = SpanCoverage(
        holders[0], probe.answer, "kept" if line else "missing", None, line.key if line else ""
    )
    return ProbeCoverage(probe.key, (state,))
