"""The `onnx` embedder: sentence-transformers models through ONNX Runtime, without torch."""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnxruntime
import tokenizers

from experiments.engines.catalogue import ModelFileError
from experiments.engines.embedding import (
    EmbeddingSettings,
    PrefixedEmbedder,
    Running,
    batches_by_length,
    normalize,
    pool,
)
from experiments.engines.onnx_bert import OUTPUT, bert_model
from stores.roles import EngineError, Vectors

GRAPH_FILE = "model.onnx"


class OnnxEmbedder(PrefixedEmbedder):
    """An embedding model of the catalogue: an ONNX graph, or weights that a graph is built for.

    Texts are batched by length; a vector does not depend on the texts it shares a batch with.
    """

    def __init__(
        self,
        folder: Path,
        *,
        key: str,
        revision: str,
        fingerprint: str,
        settings: EmbeddingSettings,
        running: Running,
    ) -> None:
        self._settings, self._batch_size = settings, running.batch_size
        self._lock = threading.Lock()
        self._output = settings.pooled_output
        self._session: Any = self._load(folder, running.threads)
        self._tokenizer = self._load_tokenizer(folder / "tokenizer.json")
        dimension = self._embed(["dimension"]).shape[1]
        self._generation = settings.generation(
            key=key,
            engine="onnx",
            revision=revision,
            fingerprint=fingerprint,
            dimension=dimension,
        )

    def close(self) -> None:
        """Free the model."""
        with self._lock:
            self._session = None

    def _embed(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, self._generation.dimension), dtype=np.float32)
        with self._lock:
            if self._session is None:
                raise EngineError("the embedder is closed.")
            # sentence-transformers strips texts before it tokenizes them.
            encoded = self._tokenizer.encode_batch([text.strip() for text in texts])
            ids = [item.ids for item in encoded]
            rows: list[Vectors] = [np.empty(0, dtype=np.float32)] * len(texts)
            for batch in batches_by_length([len(item) for item in ids], self._batch_size):
                vectors = self._run([ids[index] for index in batch])
                for index, vector in zip(batch, vectors, strict=True):
                    rows[index] = vector
        vectors = np.stack(rows)
        return normalize(vectors) if self._settings.normalized else vectors

    def _run(self, ids: Sequence[Sequence[int]]) -> Vectors:
        longest = max(len(row) for row in ids)
        tokens = np.zeros((len(ids), longest), dtype=np.int64)
        mask = np.zeros_like(tokens)
        for row, values in enumerate(ids):
            tokens[row, : len(values)] = values
            mask[row, : len(values)] = 1
        feed = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": tokens * 0}
        wanted = {item.name for item in self._session.get_inputs()}
        feed = {name: value for name, value in feed.items() if name in wanted}
        (output,) = self._session.run([self._output or OUTPUT], feed)
        vectors = cast(Vectors, output)
        return vectors if self._output else pool(vectors, mask, self._settings.pooling)

    def _load(self, folder: Path, threads: int) -> Any:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        # Threads that wait by spinning take the processor from the chat model beside them.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        graph = folder / GRAPH_FILE
        model: str | bytes = str(graph) if graph.exists() else bert_model(folder)
        try:
            return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        except Exception as error:
            # ONNX Runtime has exception types of its own, without a public common base.
            reason = str(error).strip().splitlines()[0]
            raise ModelFileError(f"ONNX Runtime cannot load {folder}: {reason}.") from error

    def _load_tokenizer(self, path: Path) -> tokenizers.Tokenizer:
        try:
            tokenizer = tokenizers.Tokenizer.from_file(str(path))
        except Exception as error:
            raise ModelFileError(f"{path} is no tokenizer file: {error}.") from error
        # The file's own truncation and padding are those of its training.
        tokenizer.no_padding()
        tokenizer.enable_truncation(self._settings.max_tokens)
        return tokenizer
