"""The `openai_api` chat model: any endpoint that speaks OpenAI's interface, as vLLM's does."""

import hashlib
import json
import secrets
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from experiments.engines.checks import require_json, require_room, require_schema
from experiments.engines.endpoint import Endpoint
from experiments.engines.openai_models import ServedModel, served_model
from experiments.engines.openai_replies import chat_reply
from experiments.engines.token_estimate import estimate_tokens
from stores.roles import (
    ChatReply,
    ChatRequest,
    ContextOverflowError,
    EngineError,
    ModelIdentity,
)

# What a chat template adds around two messages, at most.
TEMPLATE_TOKENS = 64
# Hosted reasoning models know the output limit by the second name.
MAX_TOKENS_FIELDS = ("max_tokens", "max_completion_tokens")
TOKEN_COUNTS_KEPT = 4096


class OpenAIChatModel:
    """A model behind an endpoint.

    The endpoint's cache is its own: this engine cannot compute a bare prefix. It sends the first
    request of a prefix alone, so that the others find it cached, and on vLLM it keeps its own
    cache apart with a salt, which `forget()` changes. What order still changes is measured by the
    noise repeats.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        model: str,
        context_tokens: int,
        max_tokens_field: str = MAX_TOKENS_FIELDS[0],
    ) -> None:
        self._endpoint, self._model = endpoint, model
        self._context_tokens = context_tokens
        self._max_tokens_field = max_tokens_field
        self._served = served_model(endpoint, model)
        self._require_context(self._served)
        self._salt = secrets.token_hex(8)
        self._warm = ""
        self._count = lru_cache(maxsize=TOKEN_COUNTS_KEPT)(self._count_now)
        card = json.dumps([endpoint.base_url, model, self._served.facts], sort_keys=True)
        self._identity = ModelIdentity(
            key=model,
            engine="openai_api",
            revision=self._served.root or model,
            fingerprint=f"endpoint:{hashlib.sha256(card.encode()).hexdigest()}",
            engine_version=f"vllm {self._served.vllm_version}" if self._served.vllm_version else "",
        )

    @property
    def identity(self) -> ModelIdentity:
        """The endpoint, the model that it says it serves, and a hash over both."""
        return self._identity

    @property
    def context_tokens(self) -> int:
        """Tokens of prompt and output together that one call may hold."""
        return self._context_tokens

    @property
    def token_counts_are_estimates(self) -> bool:
        """Whether `count_tokens` guesses, because the endpoint has no tokenizer to ask."""
        return not self._served.tokenizes

    def count_tokens(self, text: str) -> int:
        """Tokens of a text: the endpoint's own count where it tells, else a high estimate."""
        return self._count(text)

    def chat(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        """Answer every request, in order; see `ChatModel.chat`."""
        for request in requests:
            self._require_sendable(request)
        replies: list[ChatReply] = []
        for start, end in self._groups(requests):
            bodies = [self._body(request) for request in requests[start:end]]
            replies += self._endpoint.post_all("/chat/completions", bodies, self._parse)
        for request, reply in zip(requests, replies, strict=True):
            self._require_kept(request, reply)
        return replies

    def forget(self) -> None:
        """Leave what the endpoint has cached behind, where it lets us."""
        self._salt, self._warm = secrets.token_hex(8), ""

    def close(self) -> None:
        """Drop what is remembered of this endpoint; connections are closed after every batch."""
        self._count.cache_clear()

    def _groups(self, requests: Sequence[ChatRequest]) -> list[tuple[int, int]]:
        """Cut a batch so that the first request of every prefix that is new goes alone."""
        groups: list[tuple[int, int]] = []
        start = 0
        for index, request in enumerate(requests):
            shared = f"{request.system}\0{request.prefix}"
            if shared != self._warm:
                if start < index:
                    groups.append((start, index))
                groups.append((index, index + 1))
                start, self._warm = index + 1, shared
        if start < len(requests):
            groups.append((start, len(requests)))
        return groups

    def _body(self, request: ChatRequest) -> Mapping[str, Any]:
        messages = [{"role": "user", "content": request.prefix + request.suffix}]
        if request.system:
            messages.insert(0, {"role": "system", "content": request.system})
        body: dict[str, Any] = {
            "model": self._model,
            "messages": messages,
            self._max_tokens_field: request.max_output_tokens,
            "temperature": request.temperature,
            "seed": request.seed,
        }
        if request.stop:
            body["stop"] = list(request.stop)
        if request.json_schema is not None:
            schema = {"name": "reply", "strict": True, "schema": dict(request.json_schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        if self._served.salts_cache:
            body["cache_salt"] = self._salt
        return body

    def _parse(self, reply: Mapping[str, Any], wall_s: float) -> ChatReply:
        return chat_reply(reply, wall_s, model=self._model)

    def _require_sendable(self, request: ChatRequest) -> None:
        if request.json_schema is not None:
            require_schema(request.json_schema)
        text = f"{request.system}\n{request.prefix}{request.suffix}"
        # No tokenizer makes more tokens than bytes: most requests need no count.
        most = len(text.encode()) + TEMPLATE_TOKENS
        if most + request.max_output_tokens <= self._context_tokens or not self._served.tokenizes:
            return
        require_room(
            prompt_tokens=self._count(text),
            max_output_tokens=request.max_output_tokens,
            context_tokens=self._context_tokens,
            model=self._model,
        )

    def _require_kept(self, request: ChatRequest, reply: ChatReply) -> None:
        """Hold the reply against what was asked: the context budget, the schema."""
        require_room(
            prompt_tokens=reply.prompt_tokens,
            max_output_tokens=request.max_output_tokens,
            context_tokens=self._context_tokens,
            model=self._model,
        )
        if request.json_schema is not None and reply.finish_reason == "stop":
            require_json(reply.text, request.json_schema, model=self._model)

    def _require_context(self, served: ServedModel) -> None:
        if served.max_context_tokens and self._context_tokens > served.max_context_tokens:
            raise ContextOverflowError(
                f"model {self._model!r} is served with {served.max_context_tokens:,} tokens of "
                f"context; the plan asks for {self._context_tokens:,}."
            )

    def _count_now(self, text: str) -> int:
        if not self._served.tokenizes:
            return estimate_tokens(text)
        body = {"model": self._model, "prompt": text, "add_special_tokens": False}
        url = f"{self._endpoint.root_url}/tokenize"
        count = self._endpoint.post(url, body, lambda reply, _: reply.get("count"))
        if not isinstance(count, int):
            raise EngineError(f"the tokenizer of model {self._model!r} gave no count.")
        return count
