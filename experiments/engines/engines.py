"""Opening chat models and embedders by the engine that a plan names."""

import os
from pathlib import Path

from experiments.engines.catalogue import Catalogue
from experiments.plan import schema
from stores.errors import InvalidInputError
from stores.roles import ChatModel, ModelIdentity

MODEL_FILE = "model.gguf"


def open_chat_model(model: schema.Model, *, context_tokens: int, catalogue: Catalogue) -> ChatModel:
    """Open the chat model of a plan.

    Raises `InvalidInputError` for a model that the plan describes wrongly (an unknown one, an
    option that its engine does not know) and `EngineError` for one that cannot be had.
    """
    opener = {"llama_cpp": _open_llama_cpp}[model.engine]
    return opener(model, context_tokens, catalogue)


def require_options(options: dict[str, object], *, known: tuple[str, ...], where: str) -> None:
    """Raise `InvalidInputError` for an option that the engine does not know."""
    for name in options:
        if name not in known:
            raise InvalidInputError(
                f"unknown option {name!r}",
                where=where,
                expected=f"one of {', '.join(known)}" if known else "no options",
            )


def _open_llama_cpp(model: schema.Model, context_tokens: int, catalogue: Catalogue) -> ChatModel:
    # Imported where it is used: the library is large, and workers of other engines lack it.
    from experiments.engines.llama_cpp import DEFAULT_THREADS, LlamaCppModel, engine_version

    key = _catalogue_key(model.catalogue, f"models.{model.key}", catalogue)
    entry = catalogue.entry(key)
    threads = int(str(model.options.get("threads", min(DEFAULT_THREADS, os.cpu_count() or 1))))
    path: Path = catalogue.verified(key) / MODEL_FILE
    identity = ModelIdentity(
        key=key,
        engine="llama_cpp",
        revision=entry.revision,
        fingerprint=catalogue.fingerprint(key),
        engine_version=engine_version(threads),
    )
    return LlamaCppModel(path, identity=identity, context_tokens=context_tokens, threads=threads)


def _catalogue_key(key: str | None, where: str, catalogue: Catalogue) -> str:
    if key is None:
        raise InvalidInputError(
            "the model names no weights",
            where=f"{where}.catalogue",
            expected=f"one of {', '.join(catalogue.keys())}",
        )
    catalogue.entry(key)
    return key
