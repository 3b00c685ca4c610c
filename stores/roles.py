"""The roles that a memory format needs: a model that chats, a model that embeds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

FinishReason = Literal["stop", "length", "refused"]
Vectors = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One call. The user's message is `prefix + suffix`; `prefix` is what neighbouring calls share.

    An engine computes the prefix once, alone, and lets every request branch off at its end, so
    that an answer does not depend on the requests before it.
    """

    system: str
    prefix: str
    suffix: str
    max_output_tokens: int
    temperature: float = 0.0
    seed: int = 0
    stop: tuple[str, ...] = ()
    json_schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What came back, and what it cost.

    `prompt_tokens` counts the whole prompt, `cached_tokens` the part of it that was not computed
    again, `primed_tokens` what the engine computed beforehand on this request's behalf. Tokens
    computed for the prompt are therefore `prompt_tokens - cached_tokens + primed_tokens`.
    """

    text: str
    finish_reason: FinishReason
    prompt_tokens: int
    cached_tokens: int
    primed_tokens: int
    output_tokens: int
    wall_s: float
    served_model: str


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """What exactly answers: catalogue key, revision, and a fingerprint of the file or endpoint.

    `engine_version` names the engine's build and those settings that can change an answer.
    """

    key: str
    engine: str
    revision: str
    fingerprint: str
    engine_version: str = ""


class ChatModel(Protocol):
    """A writer, reader or repairer."""

    @property
    def identity(self) -> ModelIdentity: ...

    @property
    def context_tokens(self) -> int:
        """Tokens of prompt and output together that one call may hold."""
        ...

    def count_tokens(self, text: str) -> int: ...

    def chat(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        """Answer every request, in order. Raises `EngineError`."""
        ...

    def forget(self) -> None:
        """Drop every cached prefix: the next request primes its own anew. Instructions may stay."""
        ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class EmbeddingGeneration:
    """Everything that decides a vector. Vectors of two generations are never compared."""

    key: str
    engine: str
    revision: str
    fingerprint: str
    dimension: int
    pooling: str
    normalized: bool
    query_prefix: str
    passage_prefix: str
    max_tokens: int
    quantization: str = "none"


class Embedder(Protocol):
    """Turns text into vectors, one float32 row per text."""

    @property
    def generation(self) -> EmbeddingGeneration: ...

    def embed_passages(self, texts: Sequence[str]) -> Vectors: ...

    def embed_queries(self, texts: Sequence[str]) -> Vectors: ...

    def close(self) -> None: ...


class EngineError(Exception):
    """A call that gave no answer. `retryable` says whether the same call may succeed later."""

    def __init__(self, message: str, *, retryable: bool = False) -> None:
        super().__init__(message)
        self.retryable = retryable


class ContextOverflowError(EngineError):
    """The prompt and its reserved output do not fit the model's context."""
