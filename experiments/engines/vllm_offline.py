"""The `vllm_offline` engine: vLLM in this process, on a worker with a GPU."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from experiments.engines.chat_template import TemplateParts, split_template
from experiments.engines.checks import require_json, require_room, require_schema
from stores.errors import InvalidInputError
from stores.roles import (
    ChatReply,
    ChatRequest,
    ContextOverflowError,
    EngineError,
    FinishReason,
    ModelIdentity,
)

# What a plan may set of vLLM, and nothing that would change what a request means.
LLM_OPTIONS = (
    "dtype",
    "enforce_eager",
    "gpu_memory_utilization",
    "max_num_seqs",
    "quantization",
    "revision",
    "tensor_parallel_size",
)
FINISH: Mapping[str, FinishReason] = {"stop": "stop", "length": "length"}


def load_vllm() -> Any:
    """Import vLLM; raises `EngineError` where it is not installed."""
    try:
        import vllm
    except ImportError as error:
        raise EngineError(
            "vLLM is not installed here: install memport[worker] on a machine with a GPU, or "
            "choose the engine `llama_cpp`, or `openai_api` for a vLLM server."
        ) from error
    return vllm


class VllmModel:
    """A model of vLLM with its prefix cache. The prefix is computed alone before its neighbours.

    `forget()` empties the cache, so that what follows meets the state that a fresh process would.
    Whether a batch's other requests change an answer is measured by the noise repeats, as for
    every engine that batches.
    """

    def __init__(
        self,
        name: str,
        *,
        key: str,
        fingerprint: str,
        context_tokens: int,
        options: Mapping[str, Any],
        import_vllm: Callable[[], Any] = load_vllm,
    ) -> None:
        self._vllm = import_vllm()
        self._context_tokens = context_tokens
        self._lock = threading.Lock()
        self._templates: dict[bool, TemplateParts] = {}
        self._primed: tuple[int, ...] | None = None
        revision = str(options.get("revision", "") or "main")
        self._llm: Any = self._load(name, options)
        self._tokenizer: Any = self._llm.get_tokenizer()
        self._identity = ModelIdentity(
            key=key,
            engine="vllm_offline",
            revision=revision,
            fingerprint=fingerprint or f"hub:{name}@{revision}",
            engine_version=f"vllm {getattr(self._vllm, '__version__', 'unknown')}",
        )

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
        return len(self._encode(text))

    def chat(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        """Answer every request, in order; neighbours with one prefix go as one batch."""
        with self._lock:
            self._open()
            prompts = [self._prompt(request) for request in requests]
            for request, (shared, own) in zip(requests, prompts, strict=True):
                self._require_answerable(request, len(shared) + len(own))
            replies: list[ChatReply] = []
            for start, end in _runs([shared for shared, _ in prompts]):
                replies += self._batch(requests[start:end], prompts[start:end])
            return replies

    def forget(self) -> None:
        """Empty the prefix cache."""
        with self._lock:
            self._open().reset_prefix_cache()
            self._primed = None

    def close(self) -> None:
        """Free the model and its GPU memory."""
        with self._lock:
            self._llm = self._tokenizer = self._primed = None

    def _batch(
        self,
        requests: Sequence[ChatRequest],
        prompts: Sequence[tuple[tuple[int, ...], tuple[int, ...]]],
    ) -> list[ChatReply]:
        started = time.perf_counter()
        primed = self._prime(prompts[0][0])
        outputs = self._generate(
            [[*shared, *own] for shared, own in prompts],
            [self._sampling(request) for request in requests],
        )
        # The batch runs as one: its time is shared out evenly.
        wall_s = (time.perf_counter() - started) / len(requests)
        return [
            self._reply(request, output, primed_tokens=0 if index else primed, wall_s=wall_s)
            for index, (request, output) in enumerate(zip(requests, outputs, strict=True))
        ]

    def _prime(self, shared: tuple[int, ...]) -> int:
        """Compute a new prefix alone; return how many tokens that computed."""
        if not shared or self._primed == shared:
            return 0
        parameters = self._vllm.SamplingParams(max_tokens=1, temperature=0.0)
        (output,) = self._generate([list(shared)], [parameters])
        self._primed = shared
        return len(shared) - (output.num_cached_tokens or 0)

    def _generate(self, prompts: Sequence[list[int]], parameters: Sequence[Any]) -> list[Any]:
        inputs = [{"prompt_token_ids": prompt} for prompt in prompts]
        try:
            return list(self._open().generate(inputs, list(parameters), use_tqdm=False))
        except (RuntimeError, ValueError) as error:
            self._primed = None
            raise EngineError(f"vLLM failed on model {self._identity.key!r}: {error}.") from error

    def _reply(
        self, request: ChatRequest, output: Any, *, primed_tokens: int, wall_s: float
    ) -> ChatReply:
        answer = output.outputs[0]
        if answer.finish_reason not in FINISH:
            raise EngineError(
                f"model {self._identity.key!r} ended for an unknown reason: "
                f"{answer.finish_reason!r}.",
                retryable=True,
            )
        reason = FINISH[answer.finish_reason]
        if request.json_schema is not None and reason == "stop":
            require_json(answer.text, request.json_schema, model=self._identity.key)
        return ChatReply(
            text=answer.text,
            finish_reason=reason,
            prompt_tokens=len(output.prompt_token_ids),
            cached_tokens=output.num_cached_tokens or 0,
            primed_tokens=primed_tokens,
            output_tokens=len(answer.token_ids),
            wall_s=wall_s,
            served_model=self._identity.key,
        )

    def _sampling(self, request: ChatRequest) -> Any:
        parameters: dict[str, Any] = {
            "max_tokens": request.max_output_tokens,
            "temperature": request.temperature,
            "top_p": 1.0,
            "seed": request.seed,
            "stop": list(request.stop) or None,
        }
        if request.json_schema is not None:
            sampling = self._vllm.sampling_params
            # The class was renamed between versions; both take the schema by the same name.
            guide = getattr(sampling, "StructuredOutputsParams", None)
            if guide is not None:
                parameters["structured_outputs"] = guide(json=dict(request.json_schema))
            else:
                guided = sampling.GuidedDecodingParams(json=dict(request.json_schema))
                parameters["guided_decoding"] = guided
        return self._vllm.SamplingParams(**parameters)

    def _prompt(self, request: ChatRequest) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the tokens shared with neighbours, and the request's own."""
        with_system = bool(request.system)
        if with_system not in self._templates:
            self._templates[with_system] = split_template(self._render, with_system=with_system)
        parts = self._templates[with_system]
        head = parts.head + request.system + parts.middle if with_system else parts.head
        shared = self._encode(head + request.prefix)
        return tuple(shared), tuple(self._encode(request.suffix + parts.tail))

    def _render(self, messages: Sequence[dict[str, str]]) -> str:
        return str(
            self._tokenizer.apply_chat_template(
                list(messages), tokenize=False, add_generation_prompt=True
            )
        )

    def _encode(self, text: str) -> list[int]:
        self._open()
        return list(self._tokenizer.encode(text, add_special_tokens=False)) if text else []

    def _require_answerable(self, request: ChatRequest, prompt_tokens: int) -> None:
        if request.json_schema is not None:
            require_schema(request.json_schema)
        require_room(
            prompt_tokens=prompt_tokens,
            max_output_tokens=request.max_output_tokens,
            context_tokens=self._context_tokens,
            model=self._identity.key,
        )

    def _load(self, name: str, options: Mapping[str, Any]) -> Any:
        try:
            return self._vllm.LLM(
                model=name,
                max_model_len=self._context_tokens,
                enable_prefix_caching=True,
                disable_log_stats=True,
                seed=0,
                **options,
            )
        except ValueError as error:
            if "max_model_len" in str(error):
                raise ContextOverflowError(
                    f"model {name!r} does not hold {self._context_tokens:,} tokens: {error}."
                ) from error
            raise EngineError(f"vLLM cannot load {name!r}: {error}.") from error
        except (OSError, RuntimeError) as error:
            raise EngineError(f"vLLM cannot load {name!r}: {error}.") from error

    def _open(self) -> Any:
        if self._llm is None:
            raise EngineError("the model is closed.")
        return self._llm


def require_llm_options(options: Mapping[str, Any], *, where: str) -> None:
    """Raise `InvalidInputError` for an option that is none of those a plan may set."""
    for name in options:
        if name not in LLM_OPTIONS:
            raise InvalidInputError(
                f"unknown option {name!r}",
                where=where,
                expected=f"options among {', '.join(LLM_OPTIONS)}",
            )


def _runs(shared: Sequence[tuple[int, ...]]) -> list[tuple[int, int]]:
    """Return (start, end) of every run of neighbours with an equal prefix."""
    starts = [i for i in range(len(shared)) if i == 0 or shared[i] != shared[i - 1]]
    return list(zip(starts, [*starts[1:], len(shared)], strict=True))
