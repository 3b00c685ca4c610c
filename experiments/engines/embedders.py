"""Opening embedders by the engine that a plan names."""

from collections.abc import Callable
from pathlib import Path

from experiments.engines.catalogue import Catalogue, file_sha256
from experiments.engines.embedding import read_settings
from experiments.engines.opening import catalogue_key
from experiments.plan import schema
from stores.errors import InvalidInputError
from stores.roles import Embedder

SERVER_POOLING = "server"
WEIGHTS_FILE = "model.safetensors"

Opener = Callable[[schema.Embedder, Catalogue], Embedder]


def open_embedder(embedder: schema.Embedder, *, catalogue: Catalogue) -> Embedder:
    """Open the embedder of a plan; raises as `open_chat_model` does."""
    openers: dict[str, Opener] = {
        "onnx": _open_onnx,
        "openai_api": _open_openai_api,
        "scripted": _open_scripted,
        "sentence_transformers": _open_sentence_transformers,
    }
    return openers[embedder.engine](embedder, catalogue)


def _open_onnx(embedder: schema.Embedder, catalogue: Catalogue) -> Embedder:
    from experiments.engines.onnx import OnnxEmbedder

    where = f"embedders.{embedder.key}"
    key = catalogue_key(embedder.catalogue, "embedding", where, catalogue)
    entry = catalogue.entry(key)
    settings, running = read_settings(entry.settings, embedder.options, where=f"{where}.options")
    if settings.pooling == SERVER_POOLING:
        raise InvalidInputError(
            "pooling 'server' belongs to an endpoint",
            where=f"{where}.options",
            expected="'mean' or 'cls'",
        )
    return OnnxEmbedder(
        catalogue.verified(key),
        key=key,
        revision=entry.revision,
        fingerprint=catalogue.fingerprint(key),
        settings=settings,
        running=running,
    )


def _open_openai_api(embedder: schema.Embedder, _: Catalogue) -> Embedder:
    from experiments.engines.openai_embeddings import OpenAIEmbedder
    from experiments.engines.opening_endpoint import ENDPOINT_OPTIONS, open_endpoint

    where = f"embedders.{embedder.key}"
    deciding = {k: v for k, v in embedder.options.items() if k not in ENDPOINT_OPTIONS}
    # How the server pools is not said; its own limit of length applies.
    known = {"pooling": SERVER_POOLING, "max_tokens": 8192}
    settings, running = read_settings(known, deciding, where=f"{where}.options")
    endpoint, name = open_endpoint(embedder, where=where)
    return OpenAIEmbedder(endpoint, model=name, settings=settings, running=running)


def _open_scripted(embedder: schema.Embedder, _: Catalogue) -> Embedder:
    from experiments.engines.scripted_embedder import ScriptedEmbedder

    where = f"embedders.{embedder.key}.options"
    settings, _running = read_settings({"max_tokens": 512}, embedder.options, where=where)
    return ScriptedEmbedder(embedder.key, settings=settings)


def _open_sentence_transformers(embedder: schema.Embedder, catalogue: Catalogue) -> Embedder:
    from experiments.engines.sentence_transformers import SentenceTransformersEmbedder

    where = f"embedders.{embedder.key}"
    options = dict(embedder.options)
    revision = str(options.pop("revision", ""))
    device = options.pop("device", None)
    if embedder.catalogue is not None:
        key = catalogue_key(embedder.catalogue, "embedding", where, catalogue)
        entry = catalogue.entry(key)
        if entry.form != "sentence_transformers":
            raise InvalidInputError(
                f"{key!r} is kept as {entry.form}, which sentence-transformers cannot load",
                where=f"{where}.catalogue",
                hint="Choose the engine 'onnx'",
            )
        name, known = str(catalogue.verified(key)), entry.settings
        revision, fingerprint = entry.revision, catalogue.fingerprint(key)
    elif embedder.model:
        key, name, known = embedder.model, embedder.model, {}
        weights = Path(name) / WEIGHTS_FILE
        fingerprint = f"sha256:{file_sha256(weights)}" if weights.is_file() else ""
    else:
        raise InvalidInputError(
            "the embedder names no model",
            where=where,
            expected="`catalogue: <entry>`, or `model:` with a local path or a hub name",
        )
    settings, running = read_settings(known, options, where=f"{where}.options")
    return SentenceTransformersEmbedder(
        name,
        key=key,
        revision=revision,
        fingerprint=fingerprint,
        settings=settings,
        running=running,
        device=None if device is None else str(device),
    )
