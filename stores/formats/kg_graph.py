"""Walking a writer's claims: from the entities of a question to what is said about them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from stores.formats.kg_claims import Claim
from stores.formats.names import Name, mentions, name_of, words
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


def walk(claims: Sequence[Claim], question: str) -> list[Found]:
    """Return every claim in time order, with its hop and rank for this question.

    An entity is any subject or object of a claim; the question names it when its words stand in
    the question. Two names are one entity when the writer claims so (`also_called`). A claim's
    hop is the smaller distance of its two ends. Ranks go by hop, then time; claims that are not
    reached come last.
    """
    root = _roots(claims)
    ends = {c.item: (root[name_of(c.subject)], root[name_of(c.object)]) for c in claims}
    asked = words(question)
    distance = {root[name]: 0 for name in root if mentions(asked, name)}
    _spread(distance, ends.values())
    hops: dict[str, int | None] = {}
    for claim in claims:
        reached = [distance[end] for end in ends[claim.item] if end in distance and end]
        hops[claim.item] = min(reached, default=None)
    in_time = sorted(claims, key=lambda claim: (claim.seq, claim.item))
    by_rank = sorted(in_time, key=lambda claim: _rank_key(hops[claim.item]))
    ranks = {claim.item: rank for rank, claim in enumerate(by_rank, start=1)}
    return [Found(claim, hops[claim.item], ranks[claim.item]) for claim in in_time]


def _rank_key(hop: int | None) -> int:
    return MAX_HOPS + 1 if hop is None else hop


def _roots(claims: Sequence[Claim]) -> Mapping[Name, Name]:
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


def _spread(distance: dict[Name, int], edges: Iterable[tuple[Name, Name]]) -> None:
    """Add to `distance` every name within MAX_HOPS of those in it. Claims lead both ways."""
    pairs = [pair for pair in edges if all(pair)]
    for hop in range(1, MAX_HOPS + 1):
        nearer = set(distance)
        for one, other in pairs:
            for here, there in ((one, other), (other, one)):
                if here in nearer and there not in distance:
                    distance[there] = hop
