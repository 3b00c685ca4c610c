"""What all embedders share: the settings that decide a vector, and how tokens become one vector."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from stores.errors import InvalidInputError
from stores.roles import EmbeddingGeneration, Vectors

DEFAULT_BATCH = 32
# Settings of how vectors are computed, not of which: they are no part of the identity.
RUNNING_OPTIONS = ("batch_size", "threads")


class EmbeddingSettings(BaseModel):
    """Everything beside the weights that decides a vector."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    pooling: str = Field(default="mean", pattern="^(mean|cls|server)$")
    normalized: bool = True
    max_tokens: int = Field(default=256, ge=8)
    query_prefix: str = ""
    passage_prefix: str = ""
    # The name of a graph's output that is one pooled vector per text; '': pool the tokens here.
    pooled_output: str = ""
    quantization: str = "none"

    def generation(
        self, *, key: str, engine: str, revision: str, fingerprint: str, dimension: int
    ) -> EmbeddingGeneration:
        """Name the generation that these settings and those weights make."""
        return EmbeddingGeneration(
            key=key,
            engine=engine,
            revision=revision,
            fingerprint=fingerprint,
            dimension=dimension,
            pooling=self.pooling,
            normalized=self.normalized,
            query_prefix=self.query_prefix,
            passage_prefix=self.passage_prefix,
            max_tokens=self.max_tokens,
            quantization=self.quantization,
        )


@dataclass(frozen=True, slots=True)
class Running:
    """How an embedder runs on this machine."""

    batch_size: int
    threads: int


class PrefixedEmbedder(ABC):
    """An embedder that sets each text behind its prefix; an engine adds `_embed` and `close`."""

    _settings: EmbeddingSettings
    _generation: EmbeddingGeneration

    @property
    def generation(self) -> EmbeddingGeneration:
        """Everything that decides a vector, as far as it is known."""
        return self._generation

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one row per passage."""
        return self._embed([self._settings.passage_prefix + text for text in texts])

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return one row per query."""
        return self._embed([self._settings.query_prefix + text for text in texts])

    @abstractmethod
    def close(self) -> None:
        """Free what it holds."""

    @abstractmethod
    def _embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row per text, prefixes included."""


def read_settings(
    catalogue: Mapping[str, Any], options: Mapping[str, Any], *, where: str
) -> tuple[EmbeddingSettings, Running]:
    """Merge a plan's options over the catalogue's settings; raises `InvalidInputError`."""
    running = {name: options[name] for name in RUNNING_OPTIONS if name in options}
    deciding = {name: value for name, value in options.items() if name not in RUNNING_OPTIONS}
    for name, value in running.items():
        if not isinstance(value, int) or value < 1:
            raise InvalidInputError(
                f"{name} is {value!r}", where=where, expected="a whole number from 1"
            )
    try:
        settings = EmbeddingSettings.model_validate({**catalogue, **deciding})
    except ValidationError as error:
        first = error.errors()[0]
        known = [*EmbeddingSettings.model_fields, *RUNNING_OPTIONS]
        name = ".".join(str(step) for step in first["loc"])
        raise InvalidInputError(
            f"{name}: {first['msg']}",
            where=where,
            expected=f"options among {', '.join(known)}",
        ) from error
    return settings, Running(running.get("batch_size", DEFAULT_BATCH), running.get("threads", 2))


def batches_by_length(lengths: Sequence[int], size: int) -> Iterator[list[int]]:
    """Yield the indices of texts in batches of similar length: little of a batch is padding."""
    order = sorted(range(len(lengths)), key=lambda index: (lengths[index], index))
    for start in range(0, len(order), size):
        yield order[start : start + size]


def pool(hidden: Vectors, mask: npt.NDArray[np.int64], pooling: str) -> Vectors:
    """Make one vector of each text's token vectors: their mean, or the first one (`cls`)."""
    if pooling == "cls":
        return hidden[:, 0]
    weights = mask[..., None].astype(np.float32)
    return np.asarray((hidden * weights).sum(axis=1) / weights.sum(axis=1), dtype=np.float32)


def normalize(vectors: Vectors) -> Vectors:
    """Scale every row to length 1; a row of zeros stays one."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-12), dtype=np.float32)
