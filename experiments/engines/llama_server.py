"""llama.cpp inside this process, through the prebuilt `xllamacpp` package: one slot, one model."""

import contextlib
import ctypes
import gc
import http.client
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import xllamacpp

from experiments.engines.catalogue import ModelFileError
from stores.roles import ContextOverflowError, EngineError

GGUF_MAGIC = b"GGUF"
HTTP_TIMEOUT_S = 60


@dataclass(frozen=True, slots=True)
class Completion:
    """One reply of the engine with the engine's own counts."""

    text: str
    finish_reason: str
    prompt_tokens: int
    cached_tokens: int
    output_tokens: int


class LlamaServer:
    """A loaded GGUF file.

    Completions are calls inside the process and release the GIL. The package always opens an HTTP
    port as well; it is bound to the loopback interface, answers only to a random key that never
    leaves this object, and serves the two things that have no call: the tokenizer and the chat
    template.
    """

    def __init__(self, path: Path, *, context_tokens: int, threads: int, alias: str) -> None:
        require_gguf(path)
        self._alias = alias
        self._has_replied = False
        self._api_key = secrets.token_urlsafe(32)
        parameters = self._parameters(path, context_tokens, threads)
        try:
            self._server: Any = xllamacpp.Server(parameters)
        except RuntimeError as error:
            raise ModelFileError(
                f"llama.cpp cannot load {path}: the file is damaged, its kind of model is unknown "
                f"to xllamacpp {xllamacpp.__version__}, or memory is short."
            ) from error
        address = str(self._server.listening_address)
        self._host, _, port = address.removeprefix("http://").rpartition(":")
        self._port = int(port)

    def _parameters(self, path: Path, context_tokens: int, threads: int) -> Any:
        """Set everything that decides what state a request meets."""
        p = xllamacpp.CommonParams()
        p.model.path = str(path)
        p.model_alias = {self._alias}
        p.n_ctx = context_tokens
        # One slot: in a batch with others, small models answer otherwise than alone.
        p.n_parallel = 1
        p.cpuparams.n_threads = threads
        p.cpuparams_batch.n_threads = threads
        # No cache other than the slot's own, and no shifting of a full context.
        p.cache_ram_mib = 0
        p.cache_idle_slots = False
        p.n_ctx_checkpoints = 0
        p.n_cache_reuse = 0
        p.ctx_shift = False
        # A context that was asked for is used or refused, never quietly made smaller.
        p.fit_params = False
        p.warmup = True
        p.verbosity = -1
        p.hostnames = ["127.0.0.1"]
        p.port = 0
        p.api_keys = [self._api_key]
        p.cors_origins = ""
        p.n_threads_http = 2
        p.ui = False
        p.endpoint_slots = p.endpoint_props = p.endpoint_metrics = False
        return p

    def complete(self, prompt: Sequence[int], **parameters: Any) -> Completion:
        """Complete a prompt of tokens; raises `EngineError` or `ContextOverflowError`."""
        reply = self._server.handle_completions({"prompt": list(prompt), **parameters})
        self._has_replied = True
        if not isinstance(reply, Mapping):
            raise EngineError(f"llama.cpp gave no reply for model {self._alias!r}.", retryable=True)
        if error := reply.get("error"):
            raise self._error(error)
        choice, usage = reply["choices"][0], reply["usage"]
        return Completion(
            text=choice["text"],
            finish_reason=choice["finish_reason"],
            prompt_tokens=usage["prompt_tokens"],
            cached_tokens=usage["prompt_tokens_details"]["cached_tokens"],
            output_tokens=usage["completion_tokens"],
        )

    def tokens(self, text: str, *, parse_special: bool = False, first: bool = False) -> list[int]:
        """Tokenize; `first` lets the model's own beginning-of-text token go before it."""
        body = {"content": text, "parse_special": parse_special, "add_special": first}
        return cast(list[int], self._post("/tokenize", body)["tokens"])

    def render(self, messages: Sequence[dict[str, str]]) -> str:
        """Apply the model's own chat template, ready for the assistant's turn."""
        return str(self._post("/apply-template", {"messages": list(messages)})["prompt"])

    def trained_context_tokens(self) -> int:
        """The context that the model was trained for; 0 where the file does not say."""
        meta = self._request("GET", "/v1/models", None)["data"][0].get("meta") or {}
        return int(meta.get("n_ctx_train") or 0)

    def close(self) -> None:
        """Free the model and give its memory back to the system."""
        if not self._has_replied:
            # The package hangs where a server ends before its loop began; a reply shows it did.
            with contextlib.suppress(EngineError):
                self.complete(self.tokens("x"), n_predict=1)
        self._server = None
        gc.collect()
        # glibc keeps freed buffers for itself otherwise: tens of megabytes per model.
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)

    def _error(self, error: Mapping[str, Any]) -> EngineError:
        message = str(error.get("message", error))
        if error.get("type") == "exceed_context_size_error":
            return ContextOverflowError(
                f"model {self._alias!r}: the prompt has {error.get('n_prompt_tokens')} tokens; the "
                f"context holds {error.get('n_ctx')}."
            )
        return EngineError(f"llama.cpp refused a request to model {self._alias!r}: {message}.")

    def _post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        return self._request("POST", path, json.dumps(body).encode())

    def _request(self, method: str, path: str, body: bytes | None) -> dict[str, Any]:
        # http.client and no other: it never sends a loopback request through a proxy.
        connection = http.client.HTTPConnection(self._host, self._port, timeout=HTTP_TIMEOUT_S)
        headers = {"Authorization": f"Bearer {self._api_key}", "Content-Type": "application/json"}
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            content = response.read()
        except OSError as error:
            raise EngineError(
                f"llama.cpp's tokenizer does not answer for model {self._alias!r}: {error}.",
                retryable=True,
            ) from error
        finally:
            connection.close()
        if response.status != http.client.OK:
            raise EngineError(
                f"llama.cpp refused {path} for model {self._alias!r}: HTTP {response.status}."
            )
        return cast(dict[str, Any], json.loads(content))


def require_gguf(path: Path) -> None:
    """Raise `ModelFileError` where a file is no GGUF."""
    try:
        with path.open("rb") as file:
            magic = file.read(len(GGUF_MAGIC))
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror}.") from error
    if magic != GGUF_MAGIC:
        raise ModelFileError(f"{path} is no GGUF file: it begins with {magic!r}.")
