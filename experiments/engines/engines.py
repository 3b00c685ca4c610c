"""Opening chat models by the engine that a plan names."""

import hashlib
from collections.abc import Callable
from pathlib import Path

from experiments.engines.catalogue import Catalogue, file_sha256
from experiments.engines.cpu import free_threads
from experiments.engines.embedders import open_embedder
from experiments.engines.opening import catalogue_key, require_options, whole_number
from experiments.plan import schema
from stores.errors import InvalidInputError
from stores.roles import ChatModel, ModelIdentity

__all__ = ["open_chat_model", "open_embedder"]

MODEL_FILE = "model.gguf"
MAX_THREADS = 256

Opener = Callable[[schema.Model, int, Catalogue], ChatModel]


def open_chat_model(model: schema.Model, *, context_tokens: int, catalogue: Catalogue) -> ChatModel:
    """Open the chat model of a plan.

    Raises `InvalidInputError` for a model that the plan describes wrongly (an unknown one, an
    option that its engine does not know) and `EngineError` for one that cannot be had.
    """
    openers: dict[str, Opener] = {
        "llama_cpp": _open_llama_cpp,
        "openai_api": _open_openai_api,
        "scripted": _open_scripted,
        "vllm_offline": _open_vllm_offline,
    }
    return openers[model.engine](model, context_tokens, catalogue)


# Engines are imported where they are opened: each needs libraries that other workers may lack.


def _open_llama_cpp(model: schema.Model, context_tokens: int, catalogue: Catalogue) -> ChatModel:
    from experiments.engines.llama_cpp import LlamaCppModel, engine_version

    where = f"models.{model.key}"
    key = catalogue_key(model.catalogue, "chat", where, catalogue)
    require_options(model.options, ("threads",), f"{where}.options")
    threads = whole_number(
        model.options,
        "threads",
        default=free_threads(),
        highest=MAX_THREADS,
        where=f"{where}.options",
    )
    entry = catalogue.entry(key)
    identity = ModelIdentity(
        key=key,
        engine="llama_cpp",
        revision=entry.revision,
        fingerprint=catalogue.fingerprint(key),
        engine_version=engine_version(),
    )
    path = catalogue.verified(key) / MODEL_FILE
    return LlamaCppModel(path, identity=identity, context_tokens=context_tokens, threads=threads)


def _open_openai_api(model: schema.Model, context_tokens: int, _: Catalogue) -> ChatModel:
    from experiments.engines.openai_api import MAX_TOKENS_FIELDS, OpenAIChatModel
    from experiments.engines.opening_endpoint import ENDPOINT_OPTIONS, open_endpoint

    where = f"models.{model.key}"
    require_options(model.options, (*ENDPOINT_OPTIONS, "max_tokens_field"), f"{where}.options")
    field = model.options.get("max_tokens_field", MAX_TOKENS_FIELDS[0])
    if field not in MAX_TOKENS_FIELDS:
        raise InvalidInputError(
            f"max_tokens_field is {field!r}",
            where=f"{where}.options",
            expected=f"one of {', '.join(MAX_TOKENS_FIELDS)}",
        )
    endpoint, name = open_endpoint(model, where=where)
    return OpenAIChatModel(
        endpoint, model=name, context_tokens=context_tokens, max_tokens_field=field
    )


def _open_scripted(model: schema.Model, context_tokens: int, _: Catalogue) -> ChatModel:
    from experiments.engines.scripted import ScriptedModel, read_scripted_options

    options = read_scripted_options(model.options, where=f"models.{model.key}.options")
    return ScriptedModel(model.key, context_tokens=context_tokens, options=options)


def _open_vllm_offline(model: schema.Model, context_tokens: int, _: Catalogue) -> ChatModel:
    from experiments.engines.vllm_offline import VllmModel, require_llm_options

    where = f"models.{model.key}"
    if not model.model:
        raise InvalidInputError(
            "no model is named",
            where=f"{where}.model",
            expected="a local folder or a hub name of a model that vLLM runs",
        )
    require_llm_options(model.options, where=f"{where}.options")
    return VllmModel(
        model.model,
        key=model.model,
        fingerprint=folder_fingerprint(Path(model.model)),
        context_tokens=context_tokens,
        options=model.options,
    )


def folder_fingerprint(folder: Path) -> str:
    """SHA-256 over the names and hashes of a local folder's weights; '' where there are none."""
    weights = sorted(folder.glob("*.safetensors")) if folder.is_dir() else []
    if not weights:
        return ""
    rows = "".join(f"{file_sha256(path)}  {path.name}\n" for path in weights)
    return f"sha256:{hashlib.sha256(rows.encode()).hexdigest()}"
