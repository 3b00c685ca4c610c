"""An embedder whose seconds are counted."""

import time
from collections.abc import Sequence

from stores.roles import Embedder, EmbeddingGeneration, Vectors


class TimedEmbedder:
    """Embeds as the inner one does, and sums up the wall time of its calls."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.wall_s = 0.0
        self.calls = 0

    @property
    def generation(self) -> EmbeddingGeneration:
        """The generation of the inner embedder."""
        return self._inner.generation

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed passages."""
        started = time.monotonic()
        try:
            return self._inner.embed_passages(texts)
        finally:
            self._count(started)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed queries."""
        started = time.monotonic()
        try:
            return self._inner.embed_queries(texts)
        finally:
            self._count(started)

    def close(self) -> None:
        """Leave the inner one open: the pool owns it."""

    def _count(self, started: float) -> None:
        self.wall_s += time.monotonic() - started
        self.calls += 1
