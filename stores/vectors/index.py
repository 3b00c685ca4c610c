"""The cosine index: exact, small, and the same ranks everywhere."""

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stores.errors import InvalidInputError
from stores.roles import EmbeddingGeneration, Vectors
from stores.vectors.arms import Arm
from stores.vectors.generations import (
    checked_vectors,
    require_same_generation,
    require_same_size,
)

# Cosines closer than this are a tie, which the item's place in the store decides. The last bits of
# a dot product differ between processors; ranks must not.
SCORE_DECIMALS = 9


@dataclass(frozen=True, slots=True)
class Ranking:
    """All items of an index for one query. `order[0]` is the position of the best item."""

    order: npt.NDArray[np.intp]
    scores: npt.NDArray[np.float64]  # by position, not by rank

    @property
    def ranks(self) -> npt.NDArray[np.intp]:
        """The rank of every item, by position, counted from 1."""
        ranks = np.empty(len(self.order), dtype=np.intp)
        ranks[self.order] = np.arange(1, len(self.order) + 1)
        return ranks


@dataclass(frozen=True)
class VectorIndex:
    """Vectors of one generation, one row per item."""

    generation: EmbeddingGeneration
    vectors: Vectors

    def rank(self, queries: Vectors, *, generation: EmbeddingGeneration) -> list[Ranking]:
        """Rank all items for every query by cosine, best first.

        Raises
        ------
        InvalidInputError
            When the queries were embedded by another generation than the items.
        """
        scores = self.scores(queries, generation=generation)
        return [Ranking(np.argsort(-row, kind="stable"), row) for row in scores]

    def scores(
        self, queries: Vectors, *, generation: EmbeddingGeneration, across: Arm | None = None
    ) -> npt.NDArray[np.float64]:
        """Return the cosine of every query (rows) with every item (columns).

        Parameters
        ----------
        across
            A test arm that compares generations; without one that is refused.
        """
        if across is None or not across.crosses:
            require_same_generation(self.generation, generation)
        require_same_size(self.generation, generation)
        count = len(queries)
        asked = unit_rows(
            checked_vectors(queries, generation=generation, count=count, where="query")
        )
        held = unit_rows(
            checked_vectors(
                self.vectors, generation=self.generation, count=len(self.vectors), where="index"
            )
        )
        return np.clip(np.round(asked @ held.T, SCORE_DECIMALS), -1.0, 1.0)


def unit_rows(vectors: Vectors) -> npt.NDArray[np.float64]:
    """Scale every row to length 1, in double precision."""
    rows = vectors.astype(np.float64)
    if not len(rows):
        return rows
    unit: npt.NDArray[np.float64] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def encode_vector(vector: Vectors) -> str:
    """Return one vector as base64 of little-endian float32."""
    return base64.b64encode(np.asarray(vector, dtype="<f4").tobytes()).decode("ascii")


def decode_vectors(encoded: Sequence[str], *, generation: EmbeddingGeneration) -> Vectors:
    """Return the rows that `encode_vector` wrote; refuse what is not base64 or of another size."""
    rows = []
    for number, text in enumerate(encoded, start=1):
        try:
            data = base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            data = b""
        if len(data) != 4 * generation.dimension:
            raise InvalidInputError(
                f"vector {number} holds {len(data)} bytes",
                where="store content", expected=f"base64 of {4 * generation.dimension}",
            )  # fmt: skip
        rows.append(np.frombuffer(data, dtype="<f4"))
    stacked = np.stack(rows) if rows else np.empty((0, generation.dimension), dtype="<f4")
    return checked_vectors(
        stacked, generation=generation, count=len(encoded), where="store content"
    )
