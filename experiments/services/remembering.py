"""Vectors of the last texts: every index of a history asks for the same ones."""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import astuple

from stores.roles import Embedder, EmbeddingGeneration, Vectors

# Two embedders, the passages and the questions of the histories that are at work.
KEPT_BATCHES = 16
Key = tuple[str, str]


class _Memory:
    """The last batches of texts with their vectors. A batch is remembered whole or not at all."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[Key, Vectors] = OrderedDict()

    def get(self, key: Key, make: Callable[[], Vectors]) -> Vectors:
        """Return the vectors of a batch; make them where it is not remembered."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = make()
        made.flags.writeable = False
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > KEPT_BATCHES:
                self._kept.popitem(last=False)
        return made


_memory = _Memory()


class RememberingEmbedder:
    """Embeds as the inner one does, but the same batch of texts only once.

    The vectors are the very same: a batch is known by its generation and by all of its texts.
    """

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner

    @property
    def generation(self) -> EmbeddingGeneration:
        """The generation of the inner embedder."""
        return self._inner.generation

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed passages."""
        return _memory.get(self._key("passages", texts), lambda: self._inner.embed_passages(texts))

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed queries."""
        return _memory.get(self._key("queries", texts), lambda: self._inner.embed_queries(texts))

    def close(self) -> None:
        """Leave the inner one open: the pool owns it."""

    def _key(self, kind: str, texts: Sequence[str]) -> Key:
        digest = hashlib.sha256(repr(astuple(self.generation)).encode())
        for text in texts:
            digest.update(hashlib.sha256(text.encode()).digest())
        return kind, digest.hexdigest()


def remembered(embedder: Embedder) -> Embedder:
    """Return an embedder that embeds the same batch of texts only once in this process."""
    return RememberingEmbedder(embedder)
