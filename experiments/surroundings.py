"""What a plan meets where it runs, and the form in which a check of it is kept."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from experiments.plan.schema import Embedder as EmbedderPlan
from experiments.plan.schema import Model
from stores.roles import ChatModel, ChatReply, ChatRequest, Embedder, EngineError, ModelIdentity


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at. `subject` is the model, embedder or format, if any."""

    name: str
    expected: str
    found: str
    ok: bool
    subject: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The engines, the room and the environment of the machine that will do the work.

    `chat_model` lends an opened model, `embedder` returns an opened embedder; both raise
    `EngineError` or `InvalidInputError` where there is none. Where another process has the models,
    they return a `ModelElsewhere` and None. `free_bytes` is the room left where the database lies.
    """

    chat_model: Callable[[Model], AbstractContextManager[ChatModel]]
    embedder: Callable[[EmbedderPlan], Embedder | None]
    free_bytes: int
    environ: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelElsewhere:
    """Stands for a model that another process has loaded: no model is loaded twice.

    It cannot encode a text, but knows that no token is shorter than one byte.
    """

    identity: ModelIdentity
    context_tokens: int

    def count_tokens(self, text: str) -> int:
        """The most tokens that a text can have."""
        return len(text.encode())

    def chat(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:  # noqa: ARG002
        """Refuse: nothing is asked here."""
        raise EngineError(f"model {self.identity.key!r} is loaded by another process")

    def forget(self) -> None:
        """Nothing is cached here."""

    def close(self) -> None:
        """Nothing is open here."""
