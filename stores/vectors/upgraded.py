"""An index in the middle of an embedding upgrade, searched as its test arm says.

Every vector belongs to a generation. Ranks are exact and complete: of every item that an arm
searches, not only of the first ones.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np
import numpy.typing as npt

from stores.roles import EmbeddingGeneration, Vectors
from stores.vectors.arms import Arm, Part
from stores.vectors.index import VectorIndex

# The usual constant of reciprocal rank fusion. No item stands in both parts, so that it decides
# scores and never an order.
FUSION_CONSTANT = 60


@dataclass(frozen=True, slots=True)
class Queries:
    """Questions as one embedder made vectors of them, one row each."""

    generation: EmbeddingGeneration
    vectors: Vectors


@dataclass(frozen=True, slots=True)
class PartRanking:
    """The items that were searched for one query, best first, as positions in the store.

    `scores` is by position, NaN where an item was not searched.
    """

    order: npt.NDArray[np.intp]
    scores: npt.NDArray[np.float64]


@dataclass(frozen=True)
class UpgradedIndex:
    """Items of which some have their old vector and the others their new one.

    Attributes
    ----------
    arm
        How it is searched.
    sides
        By part: the vectors, of one generation, and the positions of their items in the store.
    """

    arm: Arm
    sides: Mapping[Part, tuple[VectorIndex, tuple[int, ...]]]

    @property
    def size(self) -> int:
        """How many items the index has."""
        return sum(len(positions) for _, positions in self.sides.values())

    def rank(
        self, queries: Mapping[Part, Queries], evidence: Sequence[Iterable[int]]
    ) -> list[PartRanking]:
        """Rank the items for every query.

        Parameters
        ----------
        queries
            By the embedder that made them: those that `arm.asks` names.
        evidence
            For every query the positions that hold its evidence; the router alone looks at them.
        """
        if self.arm.crosses:
            return self._mixed(queries["new"])
        by_part = {
            part: self._own_space(part, queries[part])
            for part in self.arm.asks
            if part in self.sides
        }
        searched = [self._searched(set(wanted)) for wanted in evidence]
        return [
            self._merged({part: by_part[part][at] for part in parts if part in by_part})
            for at, parts in enumerate(searched)
        ]

    def _searched(self, wanted: set[int]) -> tuple[Part, ...]:
        """The parts to search, the new one first: all that are asked, or those with evidence."""
        asked: tuple[Part, ...] = tuple(part for part in ("new", "old") if part in self.arm.asks)
        if self.arm.deployable:
            return asked
        holding = tuple(p for p in asked if p in self.sides and wanted & set(self.sides[p][1]))
        return holding or asked

    def _own_space(self, part: Part, queries: Queries) -> list[PartRanking]:
        index, positions = self.sides[part]
        scores = index.scores(queries.vectors, generation=queries.generation)
        return [self._placed(row, positions) for row in scores]

    def _mixed(self, queries: Queries) -> list[PartRanking]:
        """All vectors, whatever their generation, against the new embedder's query."""
        found = [
            (index.scores(queries.vectors, generation=queries.generation, across=self.arm), at)
            for index, at in self.sides.values()
        ]
        positions = tuple(place for _, at in found for place in at)
        scores = np.concatenate([scores for scores, _ in found], axis=1)
        return [self._placed(row, positions) for row in scores]

    def _placed(self, scores: npt.NDArray[np.float64], positions: tuple[int, ...]) -> PartRanking:
        """Best first; of equal cosines the item that comes first in the store."""
        at = np.array(positions, dtype=np.intp)
        order = at[np.lexsort((at, -scores))]
        placed = np.full(self.size, np.nan)
        placed[at] = scores
        return PartRanking(order, placed)

    def _merged(self, rankings: Mapping[Part, PartRanking]) -> PartRanking:
        """Merge by rank; of equal ranks the item of the part that is named first."""
        if len(rankings) == 1:
            return next(iter(rankings.values()))
        # Of no part at all (nothing is migrated yet, and nothing else is searched): nothing found.
        rows = zip_longest(*(ranking.order.tolist() for ranking in rankings.values()))
        order = [int(place) for row in rows for place in row if place is not None]
        scores = np.full(self.size, np.nan)
        for ranking in rankings.values():
            scores[ranking.order] = 1 / (FUSION_CONSTANT + np.arange(1, len(ranking.order) + 1))
        return PartRanking(np.array(order, dtype=np.intp), scores)
