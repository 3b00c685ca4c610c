"""The ranks of every index worked out by plain loops, from the vectors as they stand in a store."""

import json
from typing import Any

import numpy as np

from stores.roles import EmbeddingGeneration
from stores.vectors.index import decode_vectors
from tests.factories import BagEmbedder

Row = tuple[str, str, Any]  # part ('' in a store of one generation), generation key, vector


class TurnedEmbedder(BagEmbedder):
    """The same words in other places: a space that has hardly a relation to the first one."""

    def embed_passages(self, texts):
        """Return one float32 row per text."""
        rows = super().embed_passages([" ".join(f"{w}~" for w in text.split()) for text in texts])
        return rows + 0.25 * super().embed_passages(texts)

    embed_queries = embed_passages


def parts_of(content: bytes) -> tuple[list[dict[str, Any]], list[Row]]:
    """Return the chunks of a store, and the part, generation key and vector of each."""
    value = json.loads(content)
    rows = []
    for chunk in value["chunks"]:
        part = chunk.get("part", "")
        generation = value["generations"][part] if part else value["generation"]
        (vector,) = decode_vectors([chunk["vector"]], generation=EmbeddingGeneration(**generation))
        rows.append((part, generation["key"], vector.astype(np.float64)))
    return value["chunks"], rows


def ranked(rows: list[Row], query: Any, wanted: set[int]) -> list[int]:
    """Positions, best first: cosine to 9 digits, then the place in the store."""
    unit = query / np.linalg.norm(query)
    scored = sorted(
        (-round(float(vector @ unit / np.linalg.norm(vector)), 9), at)
        for at, (_, _, vector) in enumerate(rows)
        if at in wanted
    )
    return [at for _, at in scored]


def merged(new: list[int], old: list[int]) -> list[int]:
    """By rank, the new part first."""
    order = []
    for n in range(max(len(new), len(old))):
        order += new[n : n + 1] + old[n : n + 1]
    return order


def expected_order(
    name: str, rows: list[Row], evidence: set[int], *, old_key: str, old_query: Any, new_query: Any
) -> list[int]:
    """Return the positions that an index finds for one query, best first."""
    everything = set(range(len(rows)))
    old = {at for at in everything if rows[at][1] == old_key}
    new = everything - old
    by_new, by_old = ranked(rows, new_query, new), ranked(rows, old_query, old)
    if name == "old":
        return ranked(rows, old_query, everything)
    if name == "version_filter":
        return by_new
    if name == "dual_query":
        return merged(by_new, by_old)
    if name == "router":
        return merged(by_new if evidence & new else [], by_old if evidence & old else [])
    return ranked(rows, new_query, everything)
