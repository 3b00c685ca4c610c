"""The `openai_api` embedder: the embeddings of any endpoint that speaks OpenAI's interface."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from experiments.engines.embedding import EmbeddingSettings, PrefixedEmbedder, Running, normalize
from experiments.engines.endpoint import Endpoint
from experiments.engines.endpoint_errors import MalformedReplyError
from experiments.engines.openai_models import served_model
from experiments.engines.openai_replies import require_model
from stores.roles import EngineError, Vectors


class OpenAIEmbedder(PrefixedEmbedder):
    """An embedding model behind an endpoint. Pooling and truncation are the server's."""

    def __init__(
        self, endpoint: Endpoint, *, model: str, settings: EmbeddingSettings, running: Running
    ) -> None:
        self._endpoint, self._model, self._settings = endpoint, model, settings
        self._batch_size = running.batch_size
        served = served_model(endpoint, model)
        card = json.dumps([endpoint.base_url, model, served.facts], sort_keys=True)
        self._generation = settings.generation(
            key=model,
            engine="openai_api",
            revision=served.root or model,
            fingerprint=f"endpoint:{hashlib.sha256(card.encode()).hexdigest()}",
            dimension=self._request(["dimension"]).shape[1],
        )

    def close(self) -> None:
        """Nothing to free: connections are closed after every batch."""

    def _embed(self, texts: Sequence[str]) -> Vectors:
        dimension = self._generation.dimension
        if not texts:
            return np.zeros((0, dimension), dtype=np.float32)
        vectors = self._request(texts)
        if vectors.shape[1] != dimension:
            raise EngineError(
                f"model {self._model!r} changed its vectors from {dimension} to "
                f"{vectors.shape[1]} numbers."
            )
        return normalize(vectors) if self._settings.normalized else vectors

    def _request(self, texts: Sequence[str]) -> Vectors:
        batches = [
            list(texts[start : start + self._batch_size])
            for start in range(0, len(texts), self._batch_size)
        ]
        bodies = [
            {"model": self._model, "input": batch, "encoding_format": "float"} for batch in batches
        ]
        parts = self._endpoint.post_all("/embeddings", bodies, self._parse)
        for batch, part in zip(batches, parts, strict=True):
            if len(part) != len(batch):
                raise EngineError(
                    f"model {self._model!r} gave {len(part)} vectors for {len(batch)} texts."
                )
        return np.concatenate(parts)

    def _parse(self, reply: Mapping[str, Any], _: float) -> Vectors:
        require_model(reply, self._model)
        rows = reply.get("data")
        try:
            ordered = sorted(rows, key=lambda row: row["index"])  # type: ignore[arg-type]
            vectors = np.array([row["embedding"] for row in ordered], dtype=np.float32)
        except (TypeError, KeyError, ValueError) as error:
            raise MalformedReplyError(
                f"model {self._model!r} answered without whole vectors."
            ) from error
        if vectors.ndim != 2 or not np.isfinite(vectors).all():
            raise MalformedReplyError(f"model {self._model!r} answered without whole vectors.")
        return vectors
