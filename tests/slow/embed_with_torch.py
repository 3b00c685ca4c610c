"""Run by the slow test under a Python that has sentence-transformers: texts in, vectors out."""

import dataclasses
import json
import sys

from experiments.engines.embedding import EmbeddingSettings, Running
from experiments.engines.sentence_transformers import SentenceTransformersEmbedder


def main() -> None:
    """Read {folder, settings, texts} from standard input; write {generation, vectors}."""
    asked = json.load(sys.stdin)
    embedder = SentenceTransformersEmbedder(
        asked["folder"], key="m", revision="r", fingerprint="f", device="cpu",
        settings=EmbeddingSettings(**asked["settings"]), running=Running(16, 2),
    )  # fmt: skip
    vectors = embedder.embed_passages(asked["texts"])
    queries = embedder.embed_queries(asked["texts"][:3])
    embedder.close()
    generation = dataclasses.asdict(embedder.generation)
    json.dump(
        {"generation": generation, "vectors": vectors.tolist(), "queries": queries.tolist()},
        sys.stdout,
    )


if __name__ == "__main__":
    main()
