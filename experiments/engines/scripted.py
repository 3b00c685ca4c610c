"""The `scripted` engine: no model at all, for tests. Quick, and a pure function of its request."""

import hashlib
import re
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from experiments.engines.checks import require_json, require_room, require_schema
from experiments.engines.scripted_claims import event_lines, fill_schema
from stores.errors import InvalidInputError
from stores.roles import ChatReply, ChatRequest, EngineError, FinishReason, ModelIdentity

CODE = re.compile(r"[A-Z]{2}-\d{2,4}")
NOTE_LINE = re.compile(r"^[-*] (.+)$", re.MULTILINE)
# What stands behind the memory, or on a line that says what it is.
QUESTION = re.compile(r"(?:</memory>\n(?:Question:)?|^\s*Question:)\s*(.*)$", re.MULTILINE)
WORD = re.compile(r"[a-z0-9][a-z0-9-]*")
UNKNOWN = "I do not know."
REFUSAL = "I cannot help with that."


class ScriptedOptions(BaseModel):
    """How well a scripted model does, and when it fails."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    # Share of questions that it answers with the code nearest to the question's words.
    accuracy: float = Field(default=1.0, ge=0, le=1)
    # Share of event lines that it keeps when it writes.
    keep: float = Field(default=1.0, ge=0, le=1)
    delay_s: float = Field(default=0.0, ge=0)
    # A request that holds this text fails: the first `fail_times` times, or always where None.
    fail_on: str = ""
    fail_times: int | None = Field(default=None, ge=1)
    fail_retryable: bool = False
    # A request that holds this text is refused.
    refuse_on: str = ""


def read_scripted_options(options: Mapping[str, Any], *, where: str) -> ScriptedOptions:
    """Check a plan's options; raises `InvalidInputError`."""
    try:
        return ScriptedOptions.model_validate(options)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(step) for step in first["loc"])
        raise InvalidInputError(
            f"{name}: {first['msg']}",
            where=where,
            expected=f"options among {', '.join(ScriptedOptions.model_fields)}",
        ) from error


class ScriptedModel:
    """Answers with codes that it finds in its prompt; notes down the lines of its prompt.

    Whatever it decides, it decides by a hash of its key and the request: order, repetition and
    resumption change nothing. Tokens are words; a shared prefix counts as computed once.
    """

    def __init__(self, key: str, *, context_tokens: int, options: ScriptedOptions) -> None:
        self._options = options
        self._context_tokens = context_tokens
        self._lock = threading.Lock()
        self._primed: str | None = None
        self._failed = 0
        self._identity = ModelIdentity(
            key=key,
            engine="scripted",
            revision="1",
            fingerprint=f"scripted:{_digest(key, options.model_dump_json()).hex()[:16]}",
        )

    @property
    def identity(self) -> ModelIdentity:
        """What answers: nothing real."""
        return self._identity

    @property
    def context_tokens(self) -> int:
        """Tokens of prompt and output together that one call may hold."""
        return self._context_tokens

    def count_tokens(self, text: str) -> int:
        """Count words."""
        return len(text.split())

    def chat(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        """Answer every request, in order."""
        with self._lock:
            return [self._answer(request) for request in requests]

    def forget(self) -> None:
        """Drop the cached prefix."""
        with self._lock:
            self._primed = None

    def close(self) -> None:
        """Nothing to free."""

    def _answer(self, request: ChatRequest) -> ChatReply:
        started = time.perf_counter()
        if request.json_schema is not None:
            require_schema(request.json_schema)
        shared = self.count_tokens(request.system) + self.count_tokens(request.prefix)
        prompt_tokens = shared + self.count_tokens(request.suffix)
        require_room(
            prompt_tokens=prompt_tokens,
            max_output_tokens=request.max_output_tokens,
            context_tokens=self._context_tokens,
            model=self._identity.key,
        )
        time.sleep(self._options.delay_s)
        self._maybe_fail(request)
        primed_tokens = self._prime(request, shared)
        text, reason = self._cut(*self._reply(request), request)
        return ChatReply(
            text=text,
            finish_reason=reason,
            prompt_tokens=prompt_tokens,
            cached_tokens=shared,
            primed_tokens=primed_tokens,
            output_tokens=self.count_tokens(text),
            wall_s=time.perf_counter() - started,
            served_model=self._identity.key,
        )

    def _maybe_fail(self, request: ChatRequest) -> None:
        options = self._options
        if not options.fail_on or options.fail_on not in request.prefix + request.suffix:
            return
        if options.fail_times is not None and self._failed >= options.fail_times:
            return
        self._failed += 1
        self._primed = None
        raise EngineError(
            f"model {self._identity.key!r} fails on {options.fail_on!r}, as it was told to.",
            retryable=options.fail_retryable,
        )

    def _prime(self, request: ChatRequest, shared: int) -> int:
        """Count as an engine would that asks the bare prefix anew before every request."""
        key = f"{request.system}\0{request.prefix}"
        again = min(shared, 1)
        computed = again if key == self._primed else shared + again
        self._primed = key
        return computed

    def _reply(self, request: ChatRequest) -> tuple[str, FinishReason]:
        if self._options.refuse_on and self._options.refuse_on in request.prefix + request.suffix:
            return REFUSAL, "refused"
        if request.json_schema is not None:
            text = fill_schema(request.json_schema, self._kept_lines(request))
            require_json(text, request.json_schema, model=self._identity.key)
            return text, "stop"
        if questions := QUESTION.findall(request.prefix + request.suffix):
            return self._read(request, questions[-1]), "stop"
        if kept := self._kept_lines(request):
            return "\n".join(f"- {text}" for _, text in kept), "stop"
        return "\n".join(f"* {text}" for text in self._kept_notes(request)), "stop"

    def _cut(
        self, text: str, reason: FinishReason, request: ChatRequest
    ) -> tuple[str, FinishReason]:
        for stop in request.stop:
            text = text.split(stop)[0]
        words = re.findall(r"\s*\S+", text)
        if len(words) <= request.max_output_tokens:
            return text, reason
        return "".join(words[: request.max_output_tokens]), "length"

    def _kept_lines(self, request: ChatRequest) -> list[tuple[int, str]]:
        """Return the events that this model finds worth keeping."""
        return [
            (number, text)
            for number, text in event_lines(request.prefix + request.suffix)
            if self._draw("keep", text, str(request.seed)) < self._options.keep
        ]

    def _kept_notes(self, request: ChatRequest) -> list[str]:
        """Return the notes, one a line, that this model keeps when it rewrites them."""
        return [
            text
            for text in NOTE_LINE.findall(request.prefix + request.suffix)
            if self._draw("keep", text, str(request.seed)) < self._options.keep
        ]

    def _read(self, request: ChatRequest, question: str) -> str:
        memory = (request.prefix + request.suffix).replace(question, " ")
        ranked = codes_by_nearness(memory, question)
        if not ranked:
            return UNKNOWN
        if self._draw("read", memory, question, str(request.seed)) < self._options.accuracy:
            return ranked[0]
        return ranked[1] if len(ranked) > 1 else UNKNOWN

    def _draw(self, *texts: str) -> float:
        """Return a number in [0, 1) that belongs to this model and these texts."""
        return int.from_bytes(_digest(self._identity.key, *texts)[:7], "big") / 2**56


def codes_by_nearness(memory: str, question: str) -> list[str]:
    """Return the codes of a memory, the one whose line is nearest to the question's words first.

    Rare words count more than common ones; of equally near lines the later one comes first.
    """
    lines = [line for line in memory.splitlines() if line.strip()]
    words = [set(WORD.findall(line.lower())) for line in lines]
    common = Counter(word for line in words for word in line)
    asked = set(WORD.findall(question.lower()))
    nearness = [sum(1 / common[word] for word in line & asked) for line in words]
    order = sorted(range(len(lines)), key=lambda i: (nearness[i], i), reverse=True)
    codes = [code for i in order for code in reversed(CODE.findall(lines[i]))]
    return list(dict.fromkeys(codes))


def _digest(*texts: str) -> bytes:
    return hashlib.sha256("\0".join(texts).encode()).digest()
