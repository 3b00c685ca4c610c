"""Engines that answer nothing sensible, for tests that only look at them."""

from contextlib import nullcontext
from dataclasses import dataclass, field

import numpy as np

from experiments.surroundings import Surroundings
from stores.roles import ChatReply, EmbeddingGeneration, EngineError, ModelIdentity

ROOMY = 10**10


@dataclass
class FakeChat:
    key: str
    context_tokens: int = 4096
    served: str = "m"
    error: str = ""
    calls: list = field(default_factory=list)

    @property
    def identity(self):
        return ModelIdentity(self.key, "fake", "r1", "sha256:abc")

    def count_tokens(self, text):
        return len(text.split())

    def forget(self):
        pass

    def chat(self, requests):
        if self.error:
            raise EngineError(self.error)
        self.calls += requests
        return [ChatReply("x", "length", 1, 0, 0, 1, 0.1, self.served)]


class FakeEmbedder:
    def __init__(self, size=3):
        self.size = size
        self.generation = EmbeddingGeneration(
            "vectors", "fake", "r1", "sha256:def", 3, "mean", True, "", "", 256
        )

    def embed_passages(self, texts):
        return np.ones((len(texts), self.size), dtype=np.float32)


def around(*, chat=FakeChat, embedder=FakeEmbedder, free=ROOMY, environ=None):
    return Surroundings(
        chat_model=lambda model: nullcontext(chat(model.key)),
        embedder=lambda part: embedder(),
        free_bytes=free,
        environ=environ or {},
    )
