"""A solver that proves synthetic probes from text alone.

It reads sentences by a grammar of its own and shares nothing with the generator: neither its
templates nor the events' fields. What it can derive from the evidence, a careful reader can too.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from stores.workload.types import History, Probe

_CODE = r"(?P<code>[A-Z]{2}-\d{2,4})"
_PREFIXES = (
    ("change", re.compile(r"Change at the (?P<source>[^:]+): (?P<rest>.+)")),
    ("correction", re.compile(r"Correction by the \w+ (?P<source>\w+): (?P<rest>.+)")),
    ("report", re.compile(r"(?P<source>\w+) reported: (?P<rest>.+)")),
)
_VALUES = (
    re.compile(rf"[Tt]he (?P<noun>[a-z ]+?) of (?P<who>.+?) is (?:now )?{_CODE}"),
    re.compile(rf"(?P<who>.+?) (?:now )?(?P<verb>prefer)s the (?P<noun>[a-z ]+) {_CODE}"),
    re.compile(
        rf"(?P<who>.+?) (?P<verb>decide)d to use the (?P<noun>[a-z ]+) {_CODE}(?: instead)?"
    ),
    re.compile(
        rf"(?P<who>.+?) (?:still|now) has to (?P<verb>\w+) the (?P<noun>[a-z ]+) {_CODE}"
        r"(?: instead)?"
    ),
)
_RELATIONS = (
    ("team", re.compile(r"(?P<who>.+) works in (?P<whom>.+)")),
    ("project", re.compile(r"(?P<who>.+) works on (?P<whom>.+)")),
    ("team", re.compile(r"(?P<who>.+) belongs to (?P<whom>.+)")),
)
_ALIAS = re.compile(r"(?P<who>.+) is also called (?P<whom>.+)")
_WHEN = r"(?: (?P<when>now|in the end|at first|before the change at the (?P<occasion>.+)))?\?"
_QUESTIONS = (
    re.compile(rf"What (?:is|was) the (?P<noun>[a-z ]+?) of (?P<who>.+?){_WHEN}"),
    re.compile(rf"Which (?P<noun>[a-z ]+?) (?:does|did) (?P<who>.+?) (?P<verb>prefer){_WHEN}"),
    re.compile(
        rf"Which (?P<noun>[a-z ]+?) (?:did|had) (?P<who>.+?) (?P<verb>decide)d? to use{_WHEN}"
    ),
    re.compile(
        rf"Which (?P<noun>[a-z ]+?) (?:does|did) (?P<who>.+?) (?:still )?have to "
        rf"(?P<verb>\w+?){_WHEN}"
    ),
)
_NAMED = re.compile(r"(?:[Tt]he (?:team|project) )?(?P<name>[A-Z]\w+)")
_OWNED = re.compile(r"the (?P<kind2>team) of (?P<of>.+)|(?P<owner>.+)'s (?P<kind>team|project)")


@dataclass(frozen=True, slots=True)
class _Value:
    how: str  # state, change, report, correction
    source: str
    code: str


@dataclass(slots=True)
class _Knowledge:
    """What the sentences say: values by (verb, noun, name), relations by (kind, name), aliases."""

    values: dict[tuple[str, str, str], list[_Value]] = field(default_factory=dict)
    relations: dict[tuple[str, str], str] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)

    def read(self, text: str) -> None:
        """Add what one sentence says; a sentence that fits no form says nothing."""
        how, source, rest = "state", "", text.removesuffix(".")
        for name, prefix in _PREFIXES:
            if match := prefix.fullmatch(rest):
                how, source, rest = name, match["source"], match["rest"]
                break
        for form in _VALUES:
            if match := form.fullmatch(rest):
                key = (match.groupdict().get("verb") or "", match["noun"], _name(match["who"]))
                self.values.setdefault(key, []).append(_Value(how, source, match["code"]))
                return
        for kind, form in _RELATIONS:
            if match := form.fullmatch(rest):
                self.relations[kind, _name(match["who"])] = _name(match["whom"])
                return
        if match := _ALIAS.fullmatch(rest):
            self.aliases[_name(match["whom"])] = _name(match["who"])

    def resolve(self, phrase: str) -> str:
        """Return the name of the entity that a question's phrase means, or '' if unknown."""
        if named := _NAMED.fullmatch(phrase):
            return self.aliases.get(named["name"], named["name"])
        owned = _OWNED.fullmatch(phrase)
        if owned is None:
            return ""
        owner = self.resolve(owned["owner"] or owned["of"])
        return self.relations.get((owned["kind"] or owned["kind2"], owner), "")


def _name(phrase: str) -> str:
    match = _NAMED.fullmatch(phrase)
    return match["name"] if match else ""


def _chosen(values: Sequence[_Value], when: str, occasion: str) -> frozenset[str]:
    """Return the codes that can be the answer: one if it is settled, several if it is not."""
    if corrections := [v.code for v in values if v.how == "correction"]:
        return frozenset(corrections[-1:])
    timeline = [v for v in values if v.how in ("state", "change")]
    if when in ("now", "in the end"):
        return frozenset(v.code for v in timeline[-1:])
    if when == "at first":
        return frozenset(v.code for v in timeline[:1] if v.how == "state")
    if occasion:
        return frozenset(
            earlier.code
            for earlier, later in pairwise(timeline)
            if later.how == "change" and later.source == occasion
        )
    return frozenset(v.code for v in values)


def fitting_codes(question: str, texts: Iterable[str]) -> frozenset[str]:
    """Return every code that the texts, in order of time, allow as the answer.

    One code: the answer follows. None: it does not. Several: the texts leave it open.
    """
    knowledge = _Knowledge()
    for text in texts:
        knowledge.read(text)
    for form in _QUESTIONS:
        if asked := form.fullmatch(question):
            verb, noun = asked.groupdict().get("verb") or "", asked["noun"]
            values = knowledge.values.get((verb, noun, knowledge.resolve(asked["who"])), [])
            return _chosen(values, asked["when"] or "", asked["occasion"] or "")
    return frozenset()


@dataclass(frozen=True, slots=True)
class Proof:
    """What the evidence of a probe shows.

    `follows`: the evidence allows the probe's answer and no other code. `necessary`: the evidence
    events without which it no longer follows (a report that a correction confirms is not one).
    """

    follows: bool
    codes: frozenset[str]
    necessary: tuple[str, ...]


def prove(history: History, probe: Probe) -> Proof:
    """Try to derive the probe's answer from the text of its evidence events alone."""
    texts = {key: history.event(key).text for key in probe.evidence}
    codes = fitting_codes(probe.question, texts.values())
    right = frozenset({probe.answer})
    necessary = tuple(
        dropped
        for dropped in texts
        if fitting_codes(probe.question, [t for k, t in texts.items() if k != dropped]) != right
    )
    return Proof(follows=codes == right, codes=codes, necessary=necessary)
