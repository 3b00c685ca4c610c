"""The space check: do two embedders make one space of vectors, or two?"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stores.roles import Vectors
from stores.vectors.index import unit_rows

SAME_SPACE = 0.999
NEIGHBOURS = 10
INSTEAD = (
    "a service would keep both indexes and ask each with its own embedder (dual_query), search "
    "only what is migrated (version_filter), or embed everything anew before it switches (full)"
)


def no_mixing(old_dimension: int, new_dimension: int) -> str:
    """Say why vectors of two sizes cannot stand in one index, and what to do instead."""
    return f"no mixing is possible of {old_dimension} and {new_dimension} dimensions; {INSTEAD}"


@dataclass(frozen=True, slots=True)
class SpaceCheck:
    """What the same texts look like in two spaces.

    Attributes
    ----------
    texts
        How many texts were compared.
    old_dimension, new_dimension
        Where they differ, no cosine between the spaces exists and no mixing is possible.
    mean_cosine, sd_cosine
        Mean and standard deviation over texts of the cosine between a text's two vectors; None
        where the dimensions differ.
    neighbour_overlap
        The share of a text's 10 nearest neighbours that both spaces name, mean over texts; None
        where there are too few texts to tell (with 11 or fewer, all are neighbours of all).
    """

    texts: int
    old_dimension: int
    new_dimension: int
    mean_cosine: float | None
    sd_cosine: float | None
    neighbour_overlap: float | None

    @property
    def same_size(self) -> bool:
        """Whether vectors of the two generations can be compared at all."""
        return self.old_dimension == self.new_dimension

    @property
    def one_space(self) -> bool:
        """Whether there is nothing to migrate: the mean cosine is at least 0.999."""
        return self.mean_cosine is not None and self.mean_cosine >= SAME_SPACE

    def sentence(self) -> str:
        """The finding in words."""
        overlap = "not measured: too few texts"
        if self.neighbour_overlap is not None:
            overlap = f"{self.neighbour_overlap:.0%}"
        near = f"nearest neighbours agreed on: {overlap}"
        if not self.same_size:
            sizes = f"{self.old_dimension} and {self.new_dimension} dimensions"
            return f"{sizes}: no mixing is possible; {INSTEAD}; {near}"
        cosine = f"mean cosine {self.mean_cosine:.4f}, spread {self.sd_cosine:.4f}"
        return f"{cosine}, over {self.texts} texts; {near}"

    def as_json(self) -> dict[str, Any]:
        """Return every part and the finding."""
        return {
            **asdict(self),
            "bound": SAME_SPACE,
            "neighbours": NEIGHBOURS,
            "same_size": self.same_size,
            "one_space": self.one_space,
            "sentence": self.sentence(),
        }


def compare_spaces(old: Vectors, new: Vectors) -> SpaceCheck:
    """Compare two spaces on the same texts, one row each.

    Examples
    --------
    >>> rows = np.eye(12, dtype=np.float32)
    >>> compare_spaces(rows, 2 * rows).one_space
    True
    """
    a, b = unit_rows(old), unit_rows(new)
    if len(a) != len(b) or not len(a):
        raise ValueError(f"{len(a)} and {len(b)} vectors: the same texts are needed, at least one")
    mean = sd = None
    if a.shape == b.shape:
        cosines = np.clip((a * b).sum(axis=1), -1.0, 1.0)
        mean, sd = float(cosines.mean()), float(cosines.std(ddof=1 if len(a) > 1 else 0))
    return SpaceCheck(len(a), a.shape[1], b.shape[1], mean, sd, _overlap(a, b))


def spread_out(texts: Sequence[str], most: int) -> list[str]:
    """Return at most `most` different texts, taken evenly from the whole list."""
    distinct = list(dict.fromkeys(texts))
    if len(distinct) <= most:
        return distinct
    return [distinct[at * len(distinct) // most] for at in range(most)]


def _overlap(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]) -> float | None:
    if len(a) <= NEIGHBOURS + 1:
        return None
    pairs = zip(_nearest(a), _nearest(b), strict=True)
    return float(np.mean([len(set(x) & set(y)) / NEIGHBOURS for x, y in pairs]))


def _nearest(rows: npt.NDArray[np.float64]) -> list[list[int]]:
    scores = np.round(rows @ rows.T, 9)
    np.fill_diagonal(scores, -np.inf)
    found: list[list[int]] = np.argsort(-scores, axis=1, kind="stable")[:, :NEIGHBOURS].tolist()
    return found
