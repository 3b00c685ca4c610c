"""The words of synthetic histories: what can be said about an entity, and how it is asked for.

Every predicate belongs to one class of memory, and its sentence really is of that class: a
preference says what somebody prefers, a task what is still to be done. Sentences are short and
regular, so that a small model can read them.

In `fields`, `source` is the reporter of a report, the authority of a correction and the occasion
of a change.
"""

from dataclasses import dataclass
from types import MappingProxyType

OPS = ("state", "change", "report", "correct", "relate", "alias", "note")


@dataclass(frozen=True, slots=True)
class Predicate:
    """One property that holds a value code. Templates take `s` (the subject) and `o` (the code).

    `clause` says that it holds, `changed` that it holds from now on. `question` asks for a value
    that never changed, `first` and `before` and `now` for one that did.
    """

    key: str
    memory_class: str
    clause: str
    changed: str
    question: str
    now: str
    first: str
    before: str


def _fact(noun: str) -> Predicate:
    return Predicate(
        key=noun.replace(" ", "_"),
        memory_class="fact",
        clause=f"the {noun} of {{s}} is {{o}}",
        changed=f"the {noun} of {{s}} is now {{o}}",
        question=f"What is the {noun} of {{s}}?",
        now=f"What is the {noun} of {{s}} now?",
        first=f"What was the {noun} of {{s}} at first?",
        before=f"What was the {noun} of {{s}} before the change at {{occasion}}?",
    )


def _preference(noun: str) -> Predicate:
    return Predicate(
        key=f"prefers_{noun}",
        memory_class="preference",
        clause=f"{{s}} prefers the {noun} {{o}}",
        changed=f"{{s}} now prefers the {noun} {{o}}",
        question=f"Which {noun} does {{s}} prefer?",
        now=f"Which {noun} does {{s}} prefer now?",
        first=f"Which {noun} did {{s}} prefer at first?",
        before=f"Which {noun} did {{s}} prefer before the change at {{occasion}}?",
    )


def _decision(noun: str) -> Predicate:
    return Predicate(
        key=f"decided_to_use_{noun}",
        memory_class="decision",
        clause=f"{{s}} decided to use the {noun} {{o}}",
        changed=f"{{s}} decided to use the {noun} {{o}} instead",
        question=f"Which {noun} did {{s}} decide to use?",
        now=f"Which {noun} did {{s}} decide to use in the end?",
        first=f"Which {noun} did {{s}} decide to use at first?",
        before=f"Which {noun} had {{s}} decided to use before the change at {{occasion}}?",
    )


def _task(verb: str, noun: str) -> Predicate:
    return Predicate(
        key=f"has_to_{verb}_{noun}",
        memory_class="task",
        clause=f"{{s}} still has to {verb} the {noun} {{o}}",
        changed=f"{{s}} now has to {verb} the {noun} {{o}} instead",
        question=f"Which {noun} does {{s}} still have to {verb}?",
        now=f"Which {noun} does {{s}} have to {verb} now?",
        first=f"Which {noun} did {{s}} have to {verb} at first?",
        before=f"Which {noun} did {{s}} have to {verb} before the change at {{occasion}}?",
    )


# No noun occurs in two predicates: a question then names its predicate by the noun alone.
VALUE_PREDICATES = MappingProxyType(
    {
        predicate.key: predicate
        for predicate in (
            *(_fact(f"{noun} code") for noun in ("locker", "gate", "badge", "account", "shelf")),
            *(_preference(noun) for noun in ("room", "seat", "menu", "printer", "lamp")),
            *(_decision(noun) for noun in ("vendor", "plan", "route", "template", "server")),
            _task("send", "form"),
            _task("return", "parcel"),
            _task("close", "ticket"),
            _task("sign", "contract"),
            _task("check", "invoice"),
        )
    }
)


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation between two entities. `sentence` takes `s` and `o`, each with its own kind."""

    key: str
    sentence: str
    subject_kind: str
    object_kind: str


WORKS_IN = Relation("works_in", "{s} works in {o}", "person", "team")
WORKS_ON = Relation("works_on", "{s} works on {o}", "person", "project")
BELONGS_TO = Relation("belongs_to", "{s} belongs to {o}", "project", "team")
RELATIONS = MappingProxyType({r.key: r for r in (WORKS_IN, WORKS_ON, BELONGS_TO)})

ALSO_CALLED = "also_called"
NOTE = "note"

# Every predicate that the fields of a synthetic event can name.
PREDICATES: tuple[str, ...] = (*VALUE_PREDICATES, *RELATIONS, ALSO_CALLED, NOTE)

ACTORS = ("analyst", "assistant", "clerk", "coordinator", "operator", "planner")
AUTHORITIES = ("auditor", "director", "inspector", "registrar")
OCCASIONS = ("audit", "briefing", "meeting", "review", "workshop")


def entity(kind: str, name: str) -> str:
    """Return how a sentence names an entity: a person by the bare name, others with their kind."""
    return name if kind == "person" else f"the {kind} {name}"


def sentence(text: str) -> str:
    """Return the clause as a sentence: first letter large, a full stop at the end."""
    return f"{text[0].upper()}{text[1:]}."
