"""Walking a writer's claims: from the entities of a question to what is said about them."""

from collections.abc import Sequence
from dataclasses import dataclass

from stores.formats.kg_claims import Claim
from stores.formats.names import Name, name_of, words
from stores.workload.vocabulary import ALSO_CALLED

MAX_HOPS = 2


@dataclass(frozen=True, slots=True)
class Found:
    """A claim, how many hops it lies from the question, and its rank among all claims.

    `hop` is None when no path of MAX_HOPS leads to it: then it is not shown.
    """

    claim: Claim
    hop: int | None
    rank: int


class ClaimGraph:
    """All claims of a store. An entity is any subject or object of a claim.

    Two names are one entity when the writer claims so (`also_called`); nothing else joins names.
    """

    def __init__(self, claims: Sequence[Claim]) -> None:
        self._claims = sorted(claims, key=lambda claim: (claim.seq, claim.item))
        self._root = _roots(self._claims)
        self._longest = max(map(len, self._root), default=0)
        self._ends = [
            tuple(end for end in (self._entity(c.subject), self._entity(c.object)) if end)
            for c in self._claims
        ]
        self._beside: dict[Name, set[Name]] = {}
        for ends in self._ends:
            for end in ends:
                self._beside.setdefault(end, set()).update(ends)

    def walk(self, question: str) -> list[Found]:
        """Return every claim in time order, with its hop and rank for this question.

        The question names an entity when the words of one of its names stand in it. A claim's hop
        is the smaller distance of its two ends. Ranks go by hop, then time; claims that are not
        reached come last.
        """
        distance = self._distances(self._named(words(question)))
        hops = [
            min((distance[end] for end in ends if end in distance), default=None)
            for ends in self._ends
        ]
        by_rank = sorted(range(len(hops)), key=lambda at: _nearness(hops[at]))
        ranks = {at: rank for rank, at in enumerate(by_rank, start=1)}
        return [Found(c, hops[at], ranks[at]) for at, c in enumerate(self._claims)]

    def _entity(self, text: str) -> Name:
        return self._root[name_of(text)]

    def _named(self, asked: Name) -> set[Name]:
        """Return the entities whose names stand in a question."""
        stretches = (
            asked[start : start + width]
            for start in range(len(asked))
            for width in range(1, min(self._longest, len(asked) - start) + 1)
        )
        return {self._root[stretch] for stretch in stretches if stretch in self._root}

    def _distances(self, start: set[Name]) -> dict[Name, int]:
        """Return every entity within MAX_HOPS of the start. Claims lead both ways."""
        distance = dict.fromkeys(start, 0)
        edge = start
        for hop in range(1, MAX_HOPS + 1):
            edge = {n for name in edge for n in self._beside.get(name, ()) if n not in distance}
            distance.update(dict.fromkeys(edge, hop))
        return distance


def _nearness(hop: int | None) -> int:
    return MAX_HOPS + 1 if hop is None else hop


def _roots(claims: Sequence[Claim]) -> dict[Name, Name]:
    """Return for every name the one name that stands for it and its aliases."""
    parent: dict[Name, Name] = {}

    def root(name: Name) -> Name:
        while parent.setdefault(name, name) != name:
            name = parent[name]
        return name

    for claim in claims:
        one, other = root(name_of(claim.subject)), root(name_of(claim.object))
        if claim.predicate == ALSO_CALLED and one and other:
            low, high = sorted((one, other))
            parent[high] = low
    return {name: root(name) for name in list(parent)}
