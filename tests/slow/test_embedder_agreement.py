"""The same weights through sentence-transformers with torch, and through ONNX Runtime."""

import dataclasses
import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from experiments.engines.embedders import open_embedder
from experiments.plan import schema
from tests.embedding_texts import comparison_texts
from tests.model_files import the_catalogue

pytestmark = [pytest.mark.slow, pytest.mark.model]

MODEL = "all-minilm-l6-v2"
ROOT = Path(__file__).parents[2]
# Measured over these texts: at least 0.9999999, and no number off by more than 3e-7.
LEAST_COSINE, MOST_OFF = 0.99999, 1e-5


def with_torch(options: dict) -> dict:
    """Embed the texts with `SentenceTransformersEmbedder` in the environment that has torch."""
    python = os.environ.get("MEMPORT_TORCH_PYTHON")
    assert python, (
        "MEMPORT_TORCH_PYTHON names no Python with sentence-transformers: make setup-slow"
    )
    catalogue = the_catalogue()
    settings = {**catalogue.entry(MODEL).settings, **options}
    asked = {"folder": str(catalogue.verified(MODEL)), "settings": settings,
             "texts": comparison_texts()}  # fmt: skip
    done = subprocess.run(
        [python, str(ROOT / "tests/slow/embed_with_torch.py")], input=json.dumps(asked), text=True,
        capture_output=True, timeout=300, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    "options", [{}, {"query_prefix": "query: ", "max_tokens": 32, "normalized": False}]
)
def test_both_embedders_give_the_same_vectors_and_the_same_generation(options):
    plan = schema.Embedder(key="e", engine="onnx", catalogue=MODEL, options=options)
    embedder = open_embedder(plan, catalogue=the_catalogue())
    torch = with_torch(options)
    expected = np.array(torch["vectors"], dtype=np.float32)
    vectors = embedder.embed_passages(comparison_texts())
    lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(expected, axis=1)
    assert ((vectors * expected).sum(axis=1) / lengths).min() >= LEAST_COSINE
    assert np.abs(vectors - expected).max() <= MOST_OFF
    queries = embedder.embed_queries(comparison_texts()[:3])
    np.testing.assert_allclose(queries, np.array(torch["queries"]), atol=MOST_OFF)
    own = dataclasses.asdict(embedder.generation)
    for weights_or_engine in ("key", "engine", "revision", "fingerprint"):
        own.pop(weights_or_engine)
        torch["generation"].pop(weights_or_engine)
    assert own == torch["generation"]
