"""The seeded generator of synthetic histories.

Everything is drawn from one `Stream` named by preset, seed, split and index, so that a history is
byte-identical on every machine and in every Python version (see `stores.workload.stream`), and so
that one history never depends on how many others are made.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from stores.errors import InvalidInputError
from stores.workload.cast import Cast
from stores.workload.drafts import DRAFTERS, DraftEvent, DraftProbe, decoy
from stores.workload.names import Names
from stores.workload.notes import note
from stores.workload.parameters import PRESETS, Parameters, SplitName
from stores.workload.stream import Stream
from stores.workload.types import MEMORY_CLASSES, PROBE_KINDS, Event, History, Probe
from stores.workload.vocabulary import ACTORS

# Part of every stream's name. A change of any sentence or draw must raise it.
GENERATOR_VERSION = 2
_START = datetime(2026, 1, 5, 8, 0, tzinfo=UTC)


def generate(preset: str, *, seed: int, split: SplitName = "study") -> tuple[History, ...]:
    """Return all histories of one split of a preset.

    Raises
    ------
    InvalidInputError
        For an unknown preset.
    """
    if preset not in PRESETS:
        raise InvalidInputError(
            f"there is no preset {preset!r}", expected=f"one of {', '.join(PRESETS)}"
        )
    parameters = PRESETS[preset]
    return tuple(
        generate_history(parameters, seed=seed, index=index, split=split)
        for index in range(parameters.count(split))
    )


def history_key(parameters: Parameters, *, seed: int, index: int, split: SplitName) -> str:
    """Return the key of a synthetic history, such as `tiny-s7-01` or `tiny-s7-cal-01`."""
    middle = "cal-" if split == "calibration" else ""
    return f"{parameters.name}-s{seed}-{middle}{index + 1:02d}"


def generate_history(
    parameters: Parameters, *, seed: int, index: int, split: SplitName = "study"
) -> History:
    """Return one history with its probes. `index` counts from 0."""
    stream = Stream("memport", GENERATOR_VERSION, parameters.name, seed, split, index)
    names = Names(stream, split=split, code_digits=parameters.code_digits)
    cast = Cast(stream, names, parameters.reuse_percent)
    drafts = _draft_probes(cast, parameters, index)
    sequences: list[list[DraftEvent]] = [
        list(d.events) if d.ordered else stream.shuffled(d.events) for d in drafts
    ]
    sequences.extend([decoy(cast, stream.choice(MEMORY_CLASSES))] for _ in range(parameters.decoys))
    sequences.extend([note(cast)] for _ in range(parameters.notes))
    placed = _interleave(stream, sequences)
    key = history_key(parameters, seed=seed, index=index, split=split)
    events = _date(stream, placed, recorded=parameters.recorded)
    keys = {id(draft): event.key for draft, event in zip(placed, events, strict=True)}
    screening = _screening(stream, drafts, parameters.screening_per_kind)
    title = f"Synthetic history {index + 1} ({parameters.name}, seed {seed}"
    title += ", calibration)" if split == "calibration" else ")"
    return History(
        key=key,
        title=title,
        events=events,
        probes=tuple(
            Probe(
                key=f"{draft.kind.replace('_', '-')}-{number // len(PROBE_KINDS) + 1:02d}",
                history=key,
                kind=draft.kind,
                question=draft.question,
                answer=draft.answer,
                # In the order in which it happened.
                evidence=tuple(sorted((keys[id(e)] for e in draft.events), key=_number)),
                memory_class=draft.memory_class,
                screening=number in screening,
            )
            for number, draft in enumerate(drafts)
        ),
    )


def _draft_probes(cast: Cast, parameters: Parameters, index: int) -> list[DraftProbe]:
    """Draft the probes, kind by kind in turn: every prefix of them is balanced."""
    drafts = []
    for turn in range(parameters.probes_per_kind):
        for position, kind in enumerate(PROBE_KINDS):
            memory_class = MEMORY_CLASSES[(index + turn + position) % len(MEMORY_CLASSES)]
            most = {"temporal": parameters.max_changes, "multi_hop": parameters.max_relations}
            size = 1 + cast.stream.below(most.get(kind, 1))
            drafts.append(DRAFTERS[kind](cast, memory_class, index + turn, size))
    return drafts


def _interleave(stream: Stream, sequences: Sequence[list[DraftEvent]]) -> list[DraftEvent]:
    """Mix the sequences at random; each one keeps its own order."""
    turns = stream.shuffled([i for i, events in enumerate(sequences) for _ in events])
    waiting = [iter(events) for events in sequences]
    return [next(waiting[i]) for i in turns]


def _date(stream: Stream, drafts: Sequence[DraftEvent], *, recorded: bool) -> tuple[Event, ...]:
    """Give every event its key and its time, and the neutral role that wrote it down."""
    width = max(2, len(str(len(drafts))))
    at, events = _START, []
    for seq, draft in enumerate(drafts, start=1):
        at += timedelta(minutes=5 + stream.below(116))
        events.append(
            Event(
                key=f"e{seq:0{width}d}",
                seq=seq,
                text=draft.text,
                at=at.strftime("%Y-%m-%dT%H:%MZ" if recorded else "%Y-%m-%d"),
                actor=stream.choice(ACTORS) if recorded else "",
                fields=draft.fields,
            )
        )
    return tuple(events)


def _screening(stream: Stream, drafts: Sequence[DraftProbe], per_kind: int) -> frozenset[int]:
    """Choose the numbers of the screening probes, equally many of each kind."""
    chosen: set[int] = set()
    for kind in PROBE_KINDS:
        of_kind = [number for number, draft in enumerate(drafts) if draft.kind == kind]
        chosen.update(stream.shuffled(of_kind)[:per_kind])
    return frozenset(chosen)


def _number(event_key: str) -> int:
    return int(event_key[1:])
