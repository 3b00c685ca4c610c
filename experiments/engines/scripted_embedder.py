"""The `scripted` embedder: hashed words, for tests. Texts that share words are near."""

import hashlib
from collections.abc import Sequence

import numpy as np

from experiments.engines.embedding import EmbeddingSettings, PrefixedEmbedder, normalize
from stores.roles import Vectors

DIMENSION = 64


class ScriptedEmbedder(PrefixedEmbedder):
    """Counts words in hashed places. Two keys hash differently: their spaces have no relation."""

    def __init__(self, key: str, *, settings: EmbeddingSettings) -> None:
        self._key, self._settings = key, settings
        self._generation = settings.generation(
            key=key,
            engine="scripted",
            revision="1",
            fingerprint=f"scripted:{key}",
            dimension=DIMENSION,
        )

    def close(self) -> None:
        """Nothing to free."""

    def _embed(self, texts: Sequence[str]) -> Vectors:
        rows = np.zeros((len(texts), DIMENSION), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().split()[: self._settings.max_tokens]:
                digest = hashlib.sha256(f"{self._key}\0{word.strip('.,:?!')}".encode()).digest()
                row[digest[0] % DIMENSION] += 1 if digest[1] % 2 else -1
        return normalize(rows) if self._settings.normalized else rows
