"""Drafts of probes: for each kind its events, its question and its one right answer."""

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType

from stores.workload.cast import Cast, Entity
from stores.workload.vocabulary import (
    ALSO_CALLED,
    AUTHORITIES,
    BELONGS_TO,
    OCCASIONS,
    WORKS_IN,
    WORKS_ON,
    Predicate,
    sentence,
)


@dataclass(frozen=True, slots=True)
class DraftEvent:
    """An event that has no place and no time yet."""

    text: str
    fields: dict[str, str]


@dataclass(frozen=True, slots=True)
class DraftProbe:
    """A probe and its evidence. `ordered`: the events must happen in this order."""

    kind: str
    memory_class: str
    question: str
    answer: str
    events: tuple[DraftEvent, ...]
    ordered: bool = False


def _event(
    op: str, subject: str, predicate: str, value: str, text: str, source: str = ""
) -> DraftEvent:
    fields = {"op": op, "subject": subject, "predicate": predicate, "object": value}
    if source:
        fields["source"] = source
    return DraftEvent(sentence(text), fields)


def _state(subject: Entity, predicate: Predicate, code: str) -> DraftEvent:
    text = predicate.clause.format(s=subject.phrase(), o=code)
    return _event("state", subject.name, predicate.key, code, text)


def decoy(cast: Cast, memory_class: str) -> DraftEvent:
    """Return a fact with a code of its own that no probe asks for."""
    predicate = cast.predicate(memory_class)
    return _state(cast.subject(predicate), predicate, cast.names.code())


def direct(cast: Cast, memory_class: str, turn: int, size: int) -> DraftProbe:  # noqa: ARG001
    """One fact, asked for."""
    predicate = cast.predicate(memory_class)
    subject = cast.subject(predicate)
    event = _state(subject, predicate, cast.names.code())
    question = predicate.question.format(s=subject.phrase())
    return DraftProbe("direct", memory_class, question, event.fields["object"], (event,))


def temporal(cast: Cast, memory_class: str, turn: int, size: int) -> DraftProbe:
    """A value that changes `size` times: asked for now, at first, or before a named change."""
    predicate = cast.predicate(memory_class)
    subject = cast.subject(predicate)
    codes = [cast.names.code() for _ in range(size + 1)]
    events = [_state(subject, predicate, codes[0])]
    occasions = []
    for code in codes[1:]:
        occasion = f"{cast.names.name()} {cast.stream.choice(OCCASIONS)}"
        changed = predicate.changed.format(s=subject.phrase(), o=code)
        text = f"change at the {occasion}: {changed}"
        events.append(_event("change", subject.name, predicate.key, code, text, occasion))
        occasions.append(f"the {occasion}")
    at = cast.stream.below(size)
    template, answer = (
        (predicate.now, codes[-1]),
        (predicate.first, codes[0]),
        (predicate.before, codes[at]),
    )[turn % 3]
    question = template.format(s=subject.phrase(), occasion=occasions[at])
    return DraftProbe("temporal", memory_class, question, answer, tuple(events), ordered=True)


def contradiction(cast: Cast, memory_class: str, turn: int, size: int) -> DraftProbe:  # noqa: ARG001
    """Two reports disagree; an authority settles which value is right, in either order."""
    predicate = cast.predicate(memory_class)
    subject = cast.subject(predicate)
    codes = (cast.names.code(), cast.names.code())
    events = []
    for code in codes:
        reporter = cast.names.name()
        clause = predicate.clause.format(s=subject.phrase(), o=code)
        text = f"{reporter} reported: {clause}"
        events.append(_event("report", subject.name, predicate.key, code, text, reporter))
    right = cast.stream.choice(codes)
    authority = cast.names.name()
    clause = predicate.clause.format(s=subject.phrase(), o=right)
    text = f"correction by the {cast.stream.choice(AUTHORITIES)} {authority}: {clause}"
    events.append(_event("correct", subject.name, predicate.key, right, text, authority))
    question = predicate.question.format(s=subject.phrase())
    return DraftProbe("contradiction", memory_class, question, right, tuple(events), ordered=True)


def multi_hop(cast: Cast, memory_class: str, turn: int, size: int) -> DraftProbe:
    """One or two relations lead to the entity that holds the value."""
    predicate = cast.predicate(memory_class)
    team, code = cast.new("team"), cast.names.code()
    cast.claim(team, predicate)
    person, project = cast.new("person"), cast.new("project")
    if size == 2:
        links = [(person, WORKS_ON, project), (project, BELONGS_TO, team)]
        asked = f"the team of {person.name}'s project"
    elif turn % 2 == 0:
        links = [(person, WORKS_IN, team)]
        asked = f"{person.name}'s team"
    else:
        links = [(project, BELONGS_TO, team)]
        asked = f"the team of {project.phrase()}"
    events = [
        _event("relate", a.name, r.key, b.name, r.sentence.format(s=a.phrase(), o=b.phrase()))
        for a, r, b in links
    ]
    events.append(_state(team, predicate, code))
    question = predicate.question.format(s=asked)
    return DraftProbe("multi_hop", memory_class, question, code, tuple(events))


def alias(cast: Cast, memory_class: str, turn: int, size: int) -> DraftProbe:  # noqa: ARG001
    """The entity is asked for by a name that another event introduces."""
    predicate = cast.predicate(memory_class)
    subject, code, other = cast.subject(predicate), cast.names.code(), cast.names.name()
    text = f"{subject.phrase()} is also called {other}"
    events = (
        _state(subject, predicate, code),
        _event("alias", subject.name, ALSO_CALLED, other, text),
    )
    question = predicate.question.format(s=other)
    return DraftProbe("alias", memory_class, question, code, events)


DRAFTERS: MappingProxyType[str, Callable[[Cast, str, int, int], DraftProbe]] = MappingProxyType(
    {
        "direct": direct,
        "temporal": temporal,
        "contradiction": contradiction,
        "multi_hop": multi_hop,
        "alias": alias,
    }
)
