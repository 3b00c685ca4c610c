"""The `llama_cpp` chat model: every answer meets the same cache state, whatever ran before it."""

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import xllamacpp

from experiments.engines.chat_template import TemplateParts, split_template
from experiments.engines.checks import require_json, require_room, require_schema
from experiments.engines.llama_server import LlamaServer
from stores.roles import (
    ChatReply,
    ChatRequest,
    ContextOverflowError,
    EngineError,
    FinishReason,
    ModelIdentity,
)

TOKEN_COUNTS_KEPT = 4096
SEED_MASK = 0x7FFFFFFF


@dataclass(frozen=True, slots=True)
class Prompt:
    """A request as tokens: the instruction, what its neighbours share besides, and its own."""

    instruction: tuple[int, ...]
    prefix: tuple[int, ...]
    own: tuple[int, ...]

    @property
    def shared(self) -> tuple[int, ...]:
        return self.instruction + self.prefix

    @property
    def tokens(self) -> list[int]:
        return [*self.shared, *self.own]


class LlamaCppModel:
    """A GGUF file behind the `ChatModel` protocol.

    Small models change their minds with the state of the cache, so that state is made the same for
    every request. An instruction that is new is computed alone, with caching off; a prefix that is
    new, or that comes after `forget()`, is computed behind the bare instruction; and before *every*
    request what it shares with its neighbours is asked for once more, bare, so that each one
    branches off at exactly its end. The token that each such question recomputes counts as primed.

    Thread-safe: one batch of requests at a time.
    """

    def __init__(
        self, path: Path, *, identity: ModelIdentity, context_tokens: int, threads: int
    ) -> None:
        self._identity = identity
        self._context_tokens = context_tokens
        self._lock = threading.Lock()
        self._instruction: tuple[int, ...] | None = None
        self._primed: tuple[int, ...] | None = None
        self._templates: dict[bool, TemplateParts] = {}
        self._server: LlamaServer | None = LlamaServer(
            path, context_tokens=context_tokens, threads=threads, alias=identity.key
        )
        self._count = lru_cache(maxsize=TOKEN_COUNTS_KEPT)(lambda text: len(self._tokens(text)))
        try:
            self._require_trained_context()
        except BaseException:
            self.close()
            raise

    @property
    def identity(self) -> ModelIdentity:
        """What exactly answers."""
        return self._identity

    @property
    def context_tokens(self) -> int:
        """Tokens of prompt and output together that one call may hold."""
        return self._context_tokens

    def count_tokens(self, text: str) -> int:
        """Tokens of a text, without any template around it."""
        return self._count(text)

    def chat(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        """Answer every request, in order; see `ChatModel.chat`."""
        with self._lock:
            return [self._answer(request) for request in requests]

    def forget(self) -> None:
        """Let the next request compute its prefix anew; the instruction before it stays."""
        with self._lock:
            self._primed = None

    def close(self) -> None:
        """Free the model's memory; every later call raises `EngineError`."""
        with self._lock:
            server, self._server = self._server, None
            self._instruction = self._primed = None
            self._count.cache_clear()
        if server is not None:
            server.close()

    def prompt(self, request: ChatRequest) -> Prompt:
        """Render and tokenize a request.

        The template's own text may name special tokens, the request's may not: a memory that says
        "<|im_end|>" stays text. Tokens are cut at the prefix's end, which is the same for all.
        """
        parts = self._template(with_system=bool(request.system))
        instruction = self._tokens(parts.head, parse_special=True, first=True)
        if request.system:
            instruction += self._tokens(request.system)
            instruction += self._tokens(parts.middle, parse_special=True)
        prefix = self._tokens(request.prefix)
        own = self._tokens(request.suffix) + self._tokens(parts.tail, parse_special=True)
        return Prompt(tuple(instruction), tuple(prefix), tuple(own))

    def _answer(self, request: ChatRequest) -> ChatReply:
        started = time.perf_counter()
        if request.json_schema is not None:
            require_schema(request.json_schema)
        prompt = self.prompt(request)
        require_room(
            prompt_tokens=len(prompt.tokens),
            max_output_tokens=request.max_output_tokens,
            context_tokens=self._context_tokens,
            model=self._identity.key,
        )
        primed_tokens = self._prime(prompt)
        try:
            done = self._open().complete(prompt.tokens, cache_prompt=True, **_parameters(request))
        except EngineError:
            self._instruction = self._primed = None
            raise
        reason: FinishReason = "stop" if done.finish_reason == "stop" else "length"
        if request.json_schema is not None and reason == "stop":
            require_json(done.text, request.json_schema, model=self._identity.key)
        return ChatReply(
            text=done.text,
            finish_reason=reason,
            prompt_tokens=done.prompt_tokens,
            cached_tokens=done.cached_tokens,
            primed_tokens=primed_tokens,
            output_tokens=done.output_tokens,
            wall_s=time.perf_counter() - started,
            served_model=self._identity.key,
        )

    def _prime(self, prompt: Prompt) -> int:
        """Bring the cache to exactly what is shared; return the tokens that this computed."""
        computed = 0
        if self._instruction != prompt.instruction:
            self._instruction = self._primed = None
            computed += self._compute(prompt.instruction, cache_prompt=False)
            self._instruction = prompt.instruction
        if prompt.prefix and self._primed != prompt.prefix:
            self._primed = None
            computed += self._compute(prompt.instruction)  # drops all that stands behind it
            computed += self._compute(prompt.shared)
            self._primed = prompt.prefix
        return computed + self._compute(prompt.shared)

    def _compute(self, tokens: tuple[int, ...], *, cache_prompt: bool = True) -> int:
        """Bring these tokens into the cache; return how many had to be computed for it."""
        if not tokens:
            return 0
        done = self._open().complete(
            tokens, cache_prompt=cache_prompt, n_predict=1, temperature=0.0
        )
        return done.prompt_tokens - done.cached_tokens

    def _template(self, *, with_system: bool) -> TemplateParts:
        if with_system not in self._templates:
            render = self._open().render
            self._templates[with_system] = split_template(render, with_system=with_system)
        return self._templates[with_system]

    def _tokens(self, text: str, *, parse_special: bool = False, first: bool = False) -> list[int]:
        if not text and not first:
            return []
        return self._open().tokens(text, parse_special=parse_special, first=first)

    def _open(self) -> LlamaServer:
        if self._server is None:
            raise EngineError(f"model {self._identity.key!r} is closed.")
        return self._server

    def _require_trained_context(self) -> None:
        trained = self._open().trained_context_tokens()
        if trained and self._context_tokens > trained:
            raise ContextOverflowError(
                f"model {self._identity.key!r} was trained for {trained:,} tokens of context; the "
                f"plan asks for {self._context_tokens:,}."
            )


def engine_version() -> str:
    """Name the build. The number of threads changes no bit of an answer and is left out."""
    return f"xllamacpp {xllamacpp.__version__}"


def _parameters(request: ChatRequest) -> dict[str, Any]:
    """Say everything that decides the sampling: no default of the engine is relied upon."""
    parameters: dict[str, Any] = {
        "n_predict": request.max_output_tokens,
        "temperature": request.temperature,
        "seed": request.seed & SEED_MASK,
        "stop": list(request.stop),
        "top_k": 0,
        "top_p": 1.0,
        "min_p": 0.0,
        "repeat_penalty": 1.0,
    }
    if request.json_schema is not None:
        # Free white space lets a small model write blanks until its output ends.
        guidance = {"whitespace_flexible": False, "item_separator": ",", "key_separator": ":"}
        parameters["json_schema"] = {**request.json_schema, "x-guidance": guidance}
    return parameters
