"""What a plan meets where it runs, and the form in which a check of it is kept."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from experiments.plan.schema import Embedder as EmbedderPlan
from experiments.plan.schema import Model
from stores.roles import ChatModel, Embedder


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
    `EngineError` or `InvalidInputError` where there is none. `free_bytes` is the room left where
    the database lies.
    """

    chat_model: Callable[[Model], AbstractContextManager[ChatModel]]
    embedder: Callable[[EmbedderPlan], Embedder]
    free_bytes: int
    environ: Mapping[str, str] = field(default_factory=dict)
