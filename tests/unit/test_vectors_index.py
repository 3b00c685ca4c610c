"""The cosine index: ranks, ties, and the generations of its vectors."""

import numpy as np
import pytest

from stores.errors import InvalidInputError
from stores.formats.base import WriteBudget
from stores.formats.formats import FORMATS
from stores.formats.rag import stored_index
from stores.vectors.generations import (
    checked_vectors,
    generation_from_json,
    generation_to_json,
)
from stores.vectors.index import VectorIndex, decode_vectors, encode_vector
from stores.workload.generator import generate
from tests.unit.format_fakes import HashedEmbedder, generation


def test_a_hand_calculated_ranking() -> None:
    of = generation(dimension=2)
    index = VectorIndex(of, np.array([[0, 3], [1, 1], [2, 0]], dtype=np.float32))
    (ranking,) = index.rank(np.array([[1, 0]], dtype=np.float32), generation=of)
    assert ranking.order.tolist() == [2, 1, 0]
    assert ranking.ranks.tolist() == [3, 2, 1]
    assert ranking.scores.tolist() == pytest.approx([0, 1 / np.sqrt(2), 1])


def test_equal_scores_keep_the_order_of_the_store() -> None:
    of = generation(dimension=2)
    vectors = np.array([[1, 1], [2, 2], [0, 1], [0.3, 0.3]], dtype=np.float32)
    (ranking,) = VectorIndex(of, vectors).rank(vectors[:1], generation=of)
    assert ranking.order.tolist() == [0, 1, 3, 2]


def test_a_query_of_another_generation_is_refused_and_the_difference_named() -> None:
    index = VectorIndex(generation(), np.ones((1, 16), dtype=np.float32))
    with pytest.raises(InvalidInputError, match="revision '1' against '2'"):
        index.rank(np.ones((1, 16), dtype=np.float32), generation=generation(revision="2"))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (np.ones((1, 8)), "shape"),
        (np.ones((2, 16)), "shape"),
        (np.full((1, 16), np.nan), "not finite"),
        (np.zeros((1, 16)), "no direction"),
    ],
)
def test_vectors_that_cannot_be_compared_are_refused(rows: np.ndarray, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        checked_vectors(rows, generation=generation(), count=1, where="test")


def test_vectors_and_generations_survive_the_store_bit_by_bit() -> None:
    rows = np.random.default_rng(1).normal(size=(5, 16)).astype(np.float32)
    decoded = decode_vectors([encode_vector(row) for row in rows], generation=generation())
    assert decoded.tobytes() == rows.tobytes()
    assert generation_from_json(generation_to_json(generation())) == generation()


@pytest.mark.parametrize("text", ["", "not base64!", "AAAA"])
def test_a_damaged_vector_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="vector 1 holds"):
        decode_vectors([text], generation=generation())


def test_a_generation_with_unknown_parts_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="embedding generation has the parts"):
        generation_from_json({**generation_to_json(generation()), "colour": "blue"})


def test_all_ranks_of_a_store_can_be_computed_again_from_its_vectors() -> None:
    """The independent way: numpy's cosine, pair by pair, sorted by hand."""
    history = generate("small", seed=5, split="calibration")[0]
    embedder, rag = HashedEmbedder(), FORMATS["rag"]
    budget = WriteBudget(writer_output_tokens=1, top_k=3)
    content = rag.write(history, writer=None, embedder=embedder, budget=budget).content
    vectors = stored_index(content).vectors
    events_of = [item["events"] for item in rag.describe(content)]
    readings = rag.read(content, history.probes, embedder=embedder, budget=budget)
    assert len(events_of) > 8
    for probe, reading in zip(history.probes, readings, strict=True):
        query = embedder.embed_queries([probe.question])[0].astype(float)
        cosines = [
            round(float(v @ query / np.sqrt((v @ v) * (query @ query))), 9)
            for v in vectors.astype(float)
        ]
        order = sorted(range(len(cosines)), key=lambda n: (-cosines[n], n))
        assert reading.evidence_ranks == {
            key: next(rank for rank, n in enumerate(order, 1) if key in events_of[n])
            for key in probe.evidence
        }
        assert {item.rank for item in reading.retrieved} == {1, 2, 3}
