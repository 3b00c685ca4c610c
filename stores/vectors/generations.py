"""Embedding generations: which vectors may be compared, and how one is named in JSON."""

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from stores.errors import InvalidInputError
from stores.roles import EmbeddingGeneration, Vectors


def generation_to_json(generation: EmbeddingGeneration) -> dict[str, Any]:
    """Return a generation as JSON-ready values."""
    return asdict(generation)


def generation_from_json(row: Mapping[str, Any]) -> EmbeddingGeneration:
    """Return the generation that `generation_to_json` wrote; refuse missing or unknown parts."""
    known = {field.name for field in fields(EmbeddingGeneration)}
    try:
        return EmbeddingGeneration(**{name: row[name] for name in row})
    except TypeError:
        raise InvalidInputError(
            f"the embedding generation has the parts {sorted(row)}",
            where="store content", expected=f"{sorted(known)}",
        ) from None  # fmt: skip


def require_same_generation(
    stored: EmbeddingGeneration, asking: EmbeddingGeneration, *, where: str = "index"
) -> None:
    """Refuse to compare vectors of two generations, naming every part in which they differ."""
    if stored == asking:
        return
    parts = [
        f"{field.name} {getattr(stored, field.name)!r} against {getattr(asking, field.name)!r}"
        for field in fields(EmbeddingGeneration)
        if getattr(stored, field.name) != getattr(asking, field.name)
    ]
    raise InvalidInputError(
        f"stored vectors and query are of different embedding generations ({'; '.join(parts)})",
        where=where, expected="one generation on both sides",
        hint="Embed the store anew with the embedder that asks.",
    )  # fmt: skip


def require_same_size(
    stored: EmbeddingGeneration, asking: EmbeddingGeneration, *, where: str = "index"
) -> None:
    """Refuse vectors of different dimensions: between them there is no cosine."""
    if stored.dimension != asking.dimension:
        raise InvalidInputError(
            f"no mixing is possible of {stored.dimension} ({stored.key}) and "
            f"{asking.dimension} dimensions ({asking.key})",
            where=where, expected="vectors of one dimension",
            hint="Search each part in its own space (dual_query), only the migrated part "
            "(version_filter), or embed everything anew (full)",
        )  # fmt: skip


def checked_vectors(
    vectors: npt.ArrayLike, *, generation: EmbeddingGeneration, count: int, where: str
) -> Vectors:
    """Return vectors as float32 rows, or refuse them: wrong shape, not finite, or of length 0."""
    rows = np.ascontiguousarray(vectors, dtype=np.float32)
    if rows.size == 0 and count == 0:
        return rows.reshape(0, generation.dimension)
    if rows.shape != (count, generation.dimension):
        raise InvalidInputError(
            f"embedder {generation.key!r} gave vectors of shape {rows.shape}",
            where=where, expected=f"{(count, generation.dimension)}",
        )  # fmt: skip
    if not np.isfinite(rows).all():
        raise InvalidInputError(
            f"embedder {generation.key!r} gave a vector that is not finite", where=where
        )
    if (np.linalg.norm(rows, axis=1) == 0).any():
        raise InvalidInputError(
            f"embedder {generation.key!r} gave a vector of length 0, which has no direction",
            where=where,
        )
    return rows
