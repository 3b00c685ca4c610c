"""The indexes of an embedding upgrade as stores: written from two embedders, read as their arm.

An index of one generation is an ordinary `rag` store. One of two generations keeps with every
chunk the part that its vector belongs to, and can be read through its arm alone.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from stores.errors import InvalidInputError
from stores.formats.base import Reading, WriteBudget, Written
from stores.formats.content import canonical_json, parse_content
from stores.formats.prompts import DEFAULT_VERSION
from stores.formats.rag import (
    Rag,
    chunk_reading,
    chunks_of,
    cut_chunks,
    passage_vectors,
    stored_index,
)
from stores.roles import Embedder, EmbeddingGeneration, Vectors
from stores.vectors.arms import Arm, Part, arm_of
from stores.vectors.generations import (
    generation_from_json,
    generation_to_json,
    require_same_generation,
    require_same_size,
)
from stores.vectors.halves import migrated_positions
from stores.vectors.index import VectorIndex, decode_vectors, encode_vector
from stores.vectors.spaces import SAME_SPACE, compare_spaces
from stores.vectors.upgraded import Queries, UpgradedIndex
from stores.workload.types import History, Probe

# Part of a store's identity: raise it when the layout or the way of drawing halves changes.
INDEX_VERSION = "rag-index/1"


def write_index(
    history: History, *, arm: Arm, old: Embedder, new: Embedder, budget: WriteBudget
) -> Written:
    """Cut the history into chunks and give each its old or its new vector, as the arm says.

    Raises
    ------
    InvalidInputError
        The two embedders make one space of vectors, so that nothing is migrated; or the arm
        compares them and their vectors differ in size.
    """
    if len(arm.built_from) == 1:
        embedder = old if arm.parts == ("old",) else new
        return Rag().write(history, writer=None, embedder=embedder, budget=budget)
    if arm.crosses:
        require_same_size(old.generation, new.generation)
    chunks = cut_chunks(history, budget)
    vectors: dict[Part, Vectors] = {
        "old": passage_vectors(old, chunks), "new": passage_vectors(new, chunks)
    }  # fmt: skip
    _require_two_spaces(vectors, history.key)
    migrated = migrated_positions(
        [chunk["item"] for chunk in chunks],
        percent=arm.migrated_percent, seed=budget.seed, history_checksum=history.checksum(),
    )  # fmt: skip
    for position, chunk in enumerate(chunks):
        part: Part = "new" if position in migrated else "old"
        chunk["part"], chunk["vector"] = part, encode_vector(vectors[part][position])
    generations = {
        "old": generation_to_json(old.generation), "new": generation_to_json(new.generation)
    }  # fmt: skip
    content = {
        "format": Rag.name, "index": arm.name, "generations": generations, "chunks": chunks
    }  # fmt: skip
    return Written(canonical_json(content), schema_version=INDEX_VERSION)


def _require_two_spaces(vectors: Mapping[Part, Vectors], history: str) -> None:
    if not len(vectors["old"]):
        return
    found = compare_spaces(vectors["old"], vectors["new"])
    if found.one_space:
        raise InvalidInputError(
            f"the two embedders make one space of vectors: {found.sentence()}",
            where=f"history {history!r}", expected=f"a mean cosine below {SAME_SPACE}",
            hint="There is nothing to migrate; name an embedder of another space",
        )  # fmt: skip


def read_index(
    content: bytes,
    probes: Sequence[Probe],
    *,
    arm: Arm,
    embedders: Mapping[Part, Embedder],
    budget: WriteBudget,
    prompts: str = DEFAULT_VERSION,
) -> list[Reading]:
    """Show each probe the chunks that the arm finds, and keep the rank of all its evidence.

    Parameters
    ----------
    embedders
        Those that `arm.asks` names; each must be of the generation that it was written with.
    """
    stored = parse_content(content, Rag.name)
    chunks = stored["chunks"]
    if not probes:
        return []
    index = index_of(content, arm=arm)
    questions = [probe.question for probe in probes]
    queries: dict[Part, Queries] = {}
    for part in arm.asks:
        embedder = embedders[part]
        _require_kept_generation(stored, part, embedder.generation)
        queries[part] = Queries(embedder.generation, embedder.embed_queries(questions))
    holders = [
        [at for at in chunks_of(chunks, probe).values() if at is not None] for probe in probes
    ]
    return [
        chunk_reading(chunks, ranking, probe, top_k=budget.top_k, prompts=prompts)
        for probe, ranking in zip(probes, index.rank(queries, holders), strict=True)
    ]


def index_of(content: bytes, *, arm: Arm) -> UpgradedIndex:
    """Return the vectors of an index store, by part, ready to be searched as its arm.

    Raises
    ------
    InvalidInputError
        The store was made for another arm.
    """
    stored = parse_content(content, Rag.name)
    if "generation" in stored:
        if arm.crosses or len(arm.parts) > 1:
            raise _other_arm("one generation alone", arm)
        everything = tuple(range(len(stored["chunks"])))
        return UpgradedIndex(arm, {arm.parts[0]: (stored_index(content), everything)})
    if stored["index"] != arm.name:
        raise _other_arm(f"the arm {stored['index']!r}", arm)
    sides = {part: _side(stored, part) for part in ("old", "new")}
    return UpgradedIndex(
        arm, {part: side for part, side in sides.items() if side[1]}  # type: ignore[misc]
    )  # fmt: skip


def _side(stored: Mapping[str, Any], part: str) -> tuple[VectorIndex, tuple[int, ...]]:
    generation = generation_from_json(stored["generations"][part])
    at = tuple(n for n, chunk in enumerate(stored["chunks"]) if chunk["part"] == part)
    encoded = [stored["chunks"][n]["vector"] for n in at]
    return VectorIndex(generation, decode_vectors(encoded, generation=generation)), at


def _require_kept_generation(
    stored: Mapping[str, Any], part: Part, asking: EmbeddingGeneration
) -> None:
    """Where a store names both generations, each query is made by exactly one of them."""
    if "generations" in stored:
        require_same_generation(
            generation_from_json(stored["generations"][part]), asking, where=f"{part} queries"
        )


def _other_arm(found: str, arm: Arm) -> InvalidInputError:
    return InvalidInputError(
        f"the store holds {found} and cannot be read as {arm.name!r}",
        where="store content", expected=f"a store made for {arm.name!r}",
    )  # fmt: skip


def arm_embedder(arm: Arm, *, old: Embedder, new: Embedder) -> Embedder:
    """Return the embedder that stands for the arm in provenance and in the answers table."""
    return old if arm.embedder == "old" else new


__all__ = ["INDEX_VERSION", "arm_embedder", "arm_of", "index_of", "read_index", "write_index"]
