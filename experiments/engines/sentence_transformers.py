"""The `sentence_transformers` embedder of workers: a catalogue folder, a local path, a hub name."""

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from experiments.engines.embedding import EmbeddingSettings, PrefixedEmbedder, Running, normalize
from stores.errors import InvalidInputError
from stores.roles import EngineError, Vectors


class SentenceTransformersEmbedder(PrefixedEmbedder):
    """A model of the sentence-transformers library, on the device that the library chooses."""

    def __init__(
        self,
        name_or_path: str,
        *,
        key: str,
        revision: str,
        fingerprint: str,
        settings: EmbeddingSettings,
        running: Running,
        device: str | None = None,
    ) -> None:
        self._settings, self._batch_size = settings, running.batch_size
        self._lock = threading.Lock()
        self._model: Any = _load(
            name_or_path, revision=revision if not fingerprint else None, device=device
        )
        self._model.max_seq_length = settings.max_tokens
        self._require_pooling(key)
        self._generation = settings.generation(
            key=key,
            engine="sentence_transformers",
            revision=revision,
            fingerprint=fingerprint or _commit(self._model, revision),
            dimension=int(self._model.get_sentence_embedding_dimension()),
        )

    def close(self) -> None:
        """Free the model."""
        with self._lock:
            self._model = None

    def _embed(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, self._generation.dimension), dtype=np.float32)
        with self._lock:
            if self._model is None:
                raise EngineError("the embedder is closed.")
            vectors = self._model.encode(
                list(texts),
                batch_size=self._batch_size,
                normalize_embeddings=False,
                convert_to_numpy=True,
                show_progress_bar=False,
                prompt="",
            )
        vectors = np.asarray(vectors, dtype=np.float32)
        return normalize(vectors) if self._settings.normalized else vectors

    def _require_pooling(self, key: str) -> None:
        """Raise `InvalidInputError` where the model pools otherwise than its settings say."""
        for module in self._model:
            mode = getattr(module, "get_pooling_mode_str", lambda: None)()
            if mode is not None and mode != self._settings.pooling:
                raise InvalidInputError(
                    f"the model pools by {mode!r}, its settings say {self._settings.pooling!r}",
                    where=f"embedders.{key}.options.pooling",
                    expected=repr(mode),
                )


def _load(name_or_path: str, *, revision: str | None, device: str | None) -> Any:
    try:
        import sentence_transformers
    except ImportError as error:
        raise EngineError(
            "sentence-transformers is not installed here: install memport[worker], or choose the "
            "`onnx` engine, which runs the same models."
        ) from error
    try:
        model = sentence_transformers.SentenceTransformer(
            name_or_path, revision=revision or None, device=device
        )
        # Many folders scale their vectors to length 1 whatever is asked; here a setting decides.
        kept = [module for module in model if type(module).__name__ != "Normalize"]
        return sentence_transformers.SentenceTransformer(modules=kept, device=device)
    except (OSError, ValueError, RuntimeError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise EngineError(f"sentence-transformers cannot load {name_or_path}: {reason}.") from error


def _commit(model: Any, revision: str) -> str:
    """Name what the hub served: its commit, or the revision that was asked for."""
    config = getattr(getattr(model[0], "auto_model", None), "config", None)
    return f"commit:{getattr(config, '_commit_hash', None) or revision}"
