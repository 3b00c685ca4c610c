"""The `onnx` embedder: its vectors are those of sentence-transformers, whatever the batch."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from experiments.engines.catalogue import ModelFileError
from experiments.engines.embedders import open_embedder
from experiments.engines.onnx import OnnxEmbedder
from experiments.engines.onnx_bert import bert_model, read_safetensors
from experiments.plan import schema
from stores.errors import InvalidInputError
from stores.roles import EngineError
from tests.embedding_texts import comparison_texts
from tests.model_files import the_catalogue

pytestmark = pytest.mark.model

GOLDEN = Path(__file__).parent.parent / "reference" / "golden_vectors.json"
OLD, NEW = "paraphrase-minilm-l3-v2", "all-minilm-l6-v2"
# Measured: cosines of at least 0.9999999, no number off by more than 2.5e-7.
LEAST_COSINE, MOST_OFF = 0.99999, 1e-5


def an_embedder(catalogue: str, **options: object) -> OnnxEmbedder:
    plan = schema.Embedder(key="e", engine="onnx", catalogue=catalogue, options=options)
    embedder = open_embedder(plan, catalogue=the_catalogue())
    assert isinstance(embedder, OnnxEmbedder)
    return embedder


@pytest.fixture(scope="module")
def embedder() -> Iterator[OnnxEmbedder]:
    opened = an_embedder(NEW)
    yield opened
    opened.close()


def test_vectors_agree_with_those_that_sentence_transformers_made(embedder):
    """The file was made by sentence-transformers and torch: see make_golden_vectors.py."""
    golden = json.loads(GOLDEN.read_text())
    expected = np.array(golden["vectors"], dtype=np.float32)
    vectors = embedder.embed_passages(comparison_texts()[:: golden["every"]])
    assert vectors.shape == expected.shape == (15, 384)
    assert (vectors * expected).sum(axis=1).min() >= LEAST_COSINE
    assert np.abs(vectors - expected).max() <= MOST_OFF


def test_a_vector_does_not_depend_on_its_neighbours_or_their_order(embedder):
    texts = comparison_texts()[40:46]
    together = embedder.embed_passages(texts)
    np.testing.assert_array_equal(embedder.embed_passages(texts[::-1])[::-1], together)
    alone = np.concatenate([embedder.embed_queries([text]) for text in texts])
    np.testing.assert_allclose(alone, together, atol=1e-6)


def test_vectors_have_length_one_and_no_text_gives_no_row(embedder):
    vectors = embedder.embed_passages(["one", "", "two words"])
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert embedder.embed_passages([]).shape == (0, 384)


def test_the_two_spaces_have_one_dimension_and_nothing_else_in_common(embedder):
    old = an_embedder(OLD)
    assert old.generation.dimension == embedder.generation.dimension == 384
    assert old.generation.fingerprint != embedder.generation.fingerprint
    texts = comparison_texts()[:6]
    cosines = (old.embed_passages(texts) * embedder.embed_passages(texts)).sum(axis=1)
    assert cosines.mean() < 0.6


def test_a_query_is_nearest_to_the_passage_that_answers_it(embedder):
    passages = ["The access code of Varda is AB-1234.", "Kolm had lunch at the harbour.",
                "The pump was moved to room 14."]  # fmt: skip
    scores = embedder.embed_queries(["What is Varda's code?"]) @ embedder.embed_passages(passages).T
    assert int(scores.argmax()) == 0


def test_prefixes_length_and_scaling_are_part_of_the_generation_and_used(embedder):
    options = {"query_prefix": "query: ", "passage_prefix": "passage: ", "max_tokens": 16,
               "normalized": False}  # fmt: skip
    other = an_embedder(NEW, **options)
    generation = other.generation
    assert (generation.query_prefix, generation.passage_prefix) == ("query: ", "passage: ")
    assert (generation.max_tokens, generation.normalized) == (16, False)
    assert generation != embedder.generation
    query, passage = other.embed_queries(["x"]), other.embed_passages(["x"])
    assert not np.allclose(query, passage)
    long = "word " * 40
    np.testing.assert_array_equal(other.embed_queries([long]), other.embed_queries([long + long]))


@pytest.mark.parametrize(
    ("options", "words"),
    [({"max_token": 9}, "max_token"), ({"batch_size": 0}, "batch_size is 0"),
     ({"pooling": "max"}, "pooling"), ({"pooling": "server"}, "pooling")],
)  # fmt: skip
def test_a_wrong_option_is_named(options, words):
    with pytest.raises(InvalidInputError, match=words):
        an_embedder(NEW, **options)


def test_a_closed_embedder_says_so():
    opened = an_embedder(OLD)
    opened.close()
    with pytest.raises(EngineError, match="is closed"):
        opened.embed_queries(["x"])


def test_files_that_are_none_are_refused_with_their_name(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"\xff" * 20)
    with pytest.raises(EngineError, match=r"model\.safetensors is no safetensors file"):
        read_safetensors(tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text('{"model_type": "t5"}')
    with pytest.raises(EngineError, match="model_type is 't5'"):
        bert_model(tmp_path)
    (tmp_path / "model.onnx").write_bytes(b"no graph")
    with pytest.raises(ModelFileError, match="ONNX Runtime cannot load"):
        OnnxEmbedder._load(None, tmp_path, 1)  # type: ignore[arg-type]
