"""LoCoMo conversations (`locomo10.json`) as histories and probes.

One conversation becomes one history: a turn is an event, its session's time is its time, and the
caption of a shared picture stands in brackets behind the text. Answers are free text, often a
paraphrase of what was said, and are scored by token F1. A question that cannot be asked fairly is
left out, and its reason is counted.

The file gives its categories as bare numbers. `CATEGORIES` is how the authors' evaluation code
reads them; others read them differently, so a caller may pass another mapping.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any

from stores.errors import InvalidInputError
from stores.workload.record import Record, nearest, parse_json, type_name
from stores.workload.source_file import Limits, SourceFile, decode
from stores.workload.types import Event, History, Probe, Scoring

CATEGORIES: Mapping[int, str] = MappingProxyType(
    {1: "multi_hop", 2: "temporal", 3: "open_domain", 4: "single_hop", 5: "adversarial"}
)
ADVERSARIAL = "adversarial"
_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
_TIME = re.compile(r"(\d{1,2}):(\d{2}) (am|pm) on (\d{1,2}) ([A-Za-z]+), (\d{4})")
_TURN_ID = re.compile(r"D:?(\d+):(\d+)")


@dataclass(frozen=True, slots=True)
class LeftOut:
    """One question that was not taken: its JSON path and the reason."""

    where: str
    reason: str


@dataclass(slots=True)
class Conversion:
    """A history with its probes, and an account of what became of every question."""

    history: History
    taken: Counter[str] = field(default_factory=Counter)
    left: list[LeftOut] = field(default_factory=list)
    notices: Counter[str] = field(default_factory=Counter)


def convert_locomo(
    source: SourceFile,
    *,
    conversation: str,
    questions: int | None = None,
    categories: Mapping[int, str] = CATEGORIES,
    threshold: float | None = None,
    limits: Limits | None = None,
) -> Conversion:
    """Convert one conversation and up to so many of its questions, taken kind by kind in turn.

    Raises
    ------
    InvalidInputError
        For a file of another shape (with the JSON path) or an unknown conversation.
    """
    problems: list[InvalidInputError] = []
    limits = limits or Limits()
    place, sample = _find(source, conversation)
    record = Record(sample, where=place, problems=problems, limits=limits)
    notices: Counter[str] = Counter()
    events, speakers = _events(record, problems, notices)
    history = History(
        key=conversation, title=f"LoCoMo {conversation}: {' and '.join(speakers)}", events=events
    )
    result = Conversion(history, notices=notices)
    usable: dict[str, list[Probe]] = {}
    for position, value in enumerate(record.get("qa", list) or []):
        where = f"{place}.qa[{position}]"
        qa = Record(value, where=where, problems=problems, limits=limits)
        probe = _probe(qa, position, result, categories, Scoring("token_f1", threshold))
        if isinstance(probe, Probe):
            usable.setdefault(probe.kind, []).append(probe)
        else:
            result.left.append(LeftOut(where, probe))
    if problems:
        raise problems[0]
    chosen = list(_in_turn(usable))[:questions]
    left = sum(len(probes) for probes in usable.values()) - len(chosen)
    more = LeftOut(f"{place}.qa", f"more than the {questions} that were asked for")
    result.left.extend([more] * left)
    chosen.sort(key=lambda p: p.key)
    result.taken.update(p.kind for p in chosen)
    result.history = History(history.key, history.events, history.title, tuple(chosen))
    return result


def _find(source: SourceFile, conversation: str) -> tuple[str, Any]:
    """Return the JSON path and the value of one conversation."""
    value = parse_json(decode(source), where=source.name)
    if not isinstance(value, list):
        raise InvalidInputError(
            f"found {type_name(value)}", where=source.name, expected="a list of conversations"
        )
    names = []
    for position, sample in enumerate(value):
        name = sample.get("sample_id") if isinstance(sample, dict) else None
        if name == conversation:
            return f"{source.name} [{position}]", sample
        names.append(str(name))
    raise InvalidInputError(
        f"there is no conversation {conversation!r}",
        where=f"{source.name} [*].sample_id",
        expected=f"one of {', '.join(names[:20])}",
        hint=nearest(conversation, names),
    )


def _events(
    sample: Record, problems: list[InvalidInputError], notices: Counter[str]
) -> tuple[tuple[Event, ...], list[str]]:
    place, limits = f"{sample.where}.conversation", sample.limits
    talk = Record(
        sample.get("conversation", dict) or {}, where=place, problems=problems, limits=limits
    )
    speakers = [talk.text("speaker_a"), talk.text("speaker_b")]
    numbers = sorted(
        int(m[1]) for name in talk.data if (m := re.fullmatch(r"session_(\d+)", str(name)))
    )
    dated = sum(str(name).endswith("_date_time") for name in talk.data)
    if dated > len(numbers):
        notices["dates of sessions that the file does not hold"] += dated - len(numbers)
    events: list[Event] = []
    for number in numbers:
        name = f"session_{number}"
        at = _iso(talk, f"{name}_date_time")
        for position, value in enumerate(talk.get(name, list) or []):
            where = f"{place}.{name}[{position}]"
            turn = Record(value, where=where, problems=problems, limits=limits)
            events.append(_event(turn, seq=len(events) + 1, at=at, notices=notices))
    if not events:
        talk.fault("", "holds no session", expected="session_1, session_2 …")
    return tuple(events), speakers


def _event(turn: Record, *, seq: int, at: str, notices: Counter[str]) -> Event:
    text = turn.text("text", default="" if "blip_caption" in turn.data else None)
    if caption := turn.text("blip_caption", default=""):
        text = f"{text} [shares a picture: {caption}]".strip()
        notices["pictures told by their caption"] += 1
    return Event(
        key=turn.key("dia_id"), seq=seq, text=text, at=at, actor=turn.text("speaker", most=200)
    )


def _iso(talk: Record, field_name: str) -> str:
    """Return `1:56 pm on 8 May, 2023` as `2023-05-08T13:56`; the file names no time zone."""
    given = talk.text(field_name)
    match = _TIME.fullmatch(given.strip())
    if match and match[5].lower() in _MONTHS:
        hour = int(match[1]) % 12 + (12 if match[3] == "pm" else 0)
        try:
            at = datetime(
                int(match[6]), _MONTHS.index(match[5].lower()) + 1, int(match[4]), hour,
                int(match[2]),
            )  # fmt: skip
        except ValueError:
            at = None
        if at is not None:
            return at.isoformat(timespec="minutes")
    if given.strip():
        talk.fault(field_name, f"found {given!r}", expected="a time like '1:56 pm on 8 May, 2023'")
    return ""


def _probe(
    qa: Record, position: int, made: Conversion, categories: Mapping[int, str], scoring: Scoring
) -> Probe | str:
    """Return the probe, or the reason why the question is left out."""
    question, category = qa.text("question"), qa.get("category", int)
    kind = categories.get(category)
    if kind is None:
        return f"category {category} has no kind"
    if kind == ADVERSARIAL:
        return "adversarial: the right answer is to abstain"
    answer = qa.data.get("answer")
    if answer is None:
        return "no answer"
    if isinstance(answer, int | float) and not isinstance(answer, bool):
        answer = str(answer)
        made.notices["answers that were numbers, taken as text"] += 1
    if not isinstance(answer, str) or not answer.strip():
        return f"the answer is {type_name(answer) if not isinstance(answer, str) else 'blank'}"
    known = {event.key for event in made.history.events}
    named = [
        f"D{int(session)}:{int(turn)}"
        for text in qa.texts("evidence", default=[])
        for session, turn in _TURN_ID.findall(text)
    ]
    if not named:
        return "no evidence is named"
    if not set(named) <= known:
        return "its evidence names a turn that the conversation does not hold"
    return Probe(
        key=f"q{position + 1:03d}",
        history=made.history.key,
        kind=kind,
        question=question,
        answer=answer,
        evidence=tuple(dict.fromkeys(named)),
        scoring=scoring,
        tags=("locomo", f"category-{category}"),
    )


def _in_turn(by_kind: Mapping[str, list[Probe]]) -> Iterator[Probe]:
    """Yield one probe of each kind in turn, each kind in the order of the file."""
    longest = max((len(probes) for probes in by_kind.values()), default=0)
    for turn in range(longest):
        for kind in sorted(by_kind):
            yield from by_kind[kind][turn : turn + 1]
