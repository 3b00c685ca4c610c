"""Small scripted roles and a hand-made history for the tests of memory formats."""

import hashlib
from collections.abc import Callable, Sequence

import numpy as np

from stores.roles import (
    ChatReply,
    ChatRequest,
    EmbeddingGeneration,
    FinishReason,
    ModelIdentity,
    Vectors,
)
from stores.workload.types import Event, History, Probe


def _event(seq: int, text: str, op: str, subject: str, predicate: str, value: str) -> Event:
    fields = {"op": op, "subject": subject, "predicate": predicate, "object": value}
    return Event(f"e{seq:02d}", seq, text, f"2026-01-0{seq}T08:30Z", "clerk", fields)


HISTORY = History(
    key="hand-made",
    events=(
        _event(
            1, "The locker code of Olmar is AB-1234.", "state", "Olmar", "locker_code", "AB-1234"
        ),
        _event(2, "Olmar works in the team Velk.", "relate", "Olmar", "works_in", "Velk"),
        _event(
            3, "The gate code of the team Velk is CD-5678.", "state", "Velk", "gate_code", "CD-5678"
        ),
        _event(4, "Olmar is also called Tarn.", "alias", "Olmar", "also_called", "Tarn"),
        _event(5, "Suna watered the plants.", "note", "Suna", "note", "watered the plants"),
    ),
    probes=(
        Probe(
            "direct-01", "hand-made", "direct", "What is the locker code of Olmar?", "AB-1234",
            ("e01",),
        ),
        Probe(
            "multi-hop-01", "hand-made", "multi_hop", "What is the gate code of Tarn's team?",
            "CD-5678", ("e02", "e03"),
        ),
    ),
)  # fmt: skip


class ScriptedWriter:
    """Answers each request with the next text of its script, and keeps what it was asked."""

    context_tokens = 2048

    def __init__(self, script: Callable[[ChatRequest], str], reason: FinishReason = "stop") -> None:
        self.script, self.reason = script, reason
        self.asked: list[ChatRequest] = []

    @property
    def identity(self) -> ModelIdentity:
        return ModelIdentity("scripted", "scripted", "1", "none")

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def chat(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        self.asked.extend(requests)
        return [
            ChatReply(self.script(request), self.reason, 1, 0, 0, 1, 0.0, "scripted")
            for request in requests
        ]

    def forget(self) -> None: ...

    def close(self) -> None: ...


def generation(**changed: object) -> EmbeddingGeneration:
    parts = {
        "key": "hashed", "engine": "scripted", "revision": "1", "fingerprint": "f",
        "dimension": 16, "pooling": "mean", "normalized": True, "query_prefix": "",
        "passage_prefix": "", "max_tokens": 256,
    }  # fmt: skip
    return EmbeddingGeneration(**{**parts, **changed})  # type: ignore[arg-type]


class HashedEmbedder:
    """A bag of hashed words: texts that share words are near each other."""

    def __init__(self, of: EmbeddingGeneration | None = None) -> None:
        self.generation = of or generation()

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        rows = np.zeros((len(texts), self.generation.dimension), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().split():
                row[hashlib.sha256(word.encode()).digest()[0] % len(row)] += 1
        return rows + np.float32(0.01)

    embed_queries = embed_passages

    def close(self) -> None: ...
