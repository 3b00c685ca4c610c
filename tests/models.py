"""A chat model for tests of the runtime: quick, a pure function of what it is shown, and watched.

Its replies depend on the request and on its cached prefix, as a real engine's do: who forgets to
prime a prefix anew gets other answers.
"""

import hashlib
import json
import re
import time
from collections.abc import Callable, Sequence
from typing import Any

from experiments.plan import schema
from experiments.runtime.pool import EnginePool
from stores.roles import ChatReply, ChatRequest, ModelIdentity
from tests.factories import BagEmbedder

CODE = re.compile(r"[A-Z]{2}-\d{2,4}")
Hook = Callable[[ChatRequest], None]


class WatchedModel:
    """Reads a code out of what it is shown, or notes down most of it; records every request."""

    def __init__(
        self, key: str, *, context_tokens: int = 4096, before: Hook | None = None,
        delay_s: float = 0.0,
    ) -> None:  # fmt: skip
        self.identity = ModelIdentity(key=key, engine="scripted", revision="1", fingerprint=key)
        self.context_tokens = context_tokens
        self.requests: list[ChatRequest] = []
        self.forgotten = 0
        self.closed = False
        self._before, self._delay_s = before, delay_s
        self._prefix: str | None = None

    def count_tokens(self, text: str) -> int:
        """Count words."""
        return len(text.split())

    def chat(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        """Answer one after the other."""
        return [self._reply(request) for request in requests]

    def _reply(self, request: ChatRequest) -> ChatReply:
        if self._before is not None:
            self._before(request)
        time.sleep(self._delay_s)
        self.requests.append(request)
        shared = request.system + request.prefix
        cached = shared == self._prefix
        self._prefix = shared
        prefix_tokens = self.count_tokens(shared)
        return ChatReply(
            text=self._text(request), finish_reason="stop",
            prompt_tokens=prefix_tokens + self.count_tokens(request.suffix),
            cached_tokens=prefix_tokens, primed_tokens=0 if cached else prefix_tokens,
            output_tokens=5, wall_s=0.01, served_model=self.identity.key,
        )  # fmt: skip

    def _text(self, request: ChatRequest) -> str:
        lines = re.findall(r"^\[(\d+)\](.*)$", request.suffix, re.MULTILINE)
        if request.json_schema is not None:
            return json.dumps({"claims": [self._claim(request, *line) for line in lines]})
        if "question" in request.suffix.lower():
            codes = sorted(set(CODE.findall(request.prefix + request.suffix)))
            return (
                f"It is {codes[self._draw(request.suffix) % len(codes)]}." if codes else "Unknown."
            )
        return "\n".join(text for _, text in lines if self._draw(text) % 4)

    def _claim(self, request: ChatRequest, number: str, text: str) -> dict[str, Any]:
        assert request.json_schema is not None
        properties = request.json_schema["properties"]["claims"]["items"]["properties"]
        codes = CODE.findall(text)
        return {
            "event": int(number), "subject": text.split()[-2].strip(".,"), "source": "",
            "predicate": properties["predicate"]["enum"][0], "object": (codes or ["nothing"])[0],
        }  # fmt: skip

    def _draw(self, text: str) -> int:
        return hashlib.sha256(f"{self.identity.key}\0{text}".encode()).digest()[0]

    def forget(self) -> None:
        """Drop the cached prefix."""
        self.forgotten += 1
        self._prefix = None

    def close(self) -> None:
        """Note that it was closed."""
        self.closed = True


class WatchedPool(EnginePool):
    """A pool of watched models; `opened` holds each in the order of opening."""

    def __init__(self, *, before: Hook | None = None, delay_s: float = 0.0, keep: int = 2) -> None:
        self.opened: list[WatchedModel] = []
        self._before_call, self._call_delay_s = before, delay_s
        super().__init__(
            open_chat=self._open, open_embedder=lambda e: BagEmbedder(e.key), keep=keep
        )

    def _open(self, model: schema.Model, context_tokens: int) -> WatchedModel:
        opened = WatchedModel(
            model.key, context_tokens=context_tokens, before=self._before_call,
            delay_s=self._call_delay_s,
        )  # fmt: skip
        self.opened.append(opened)
        return opened

    @property
    def requests(self) -> list[ChatRequest]:
        """Every request to any of the models."""
        return [request for model in self.opened for request in model.requests]
