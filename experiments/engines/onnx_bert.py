"""A BERT encoder as an ONNX graph, made from a sentence-transformers folder's own weights.

The graph follows the published architecture operation by operation in float32, so its vectors are
those of the original weights; nothing is converted or quantized, and no torch is needed.
"""

import json
import math
import struct
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from experiments.engines import onnx_wire as wire
from stores.roles import EngineError

OPSET = 17
OUTPUT = "last_hidden_state"
# Added to the scores of padding: exp() of it is exactly 0, and it does not overflow.
MASKED = -1e30
MAX_HEADER_BYTES = 100_000_000

Array = npt.NDArray[np.float32]


def read_safetensors(path: Path) -> dict[str, Array]:
    """Read the float32 tensors of a safetensors file; raises `EngineError` where it is none."""
    try:
        with path.open("rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            if length > MAX_HEADER_BYTES:
                raise ValueError("its header is too long")
            header: dict[str, Any] = json.loads(file.read(length))
            data = np.frombuffer(file.read(), dtype=np.uint8)
    except (ValueError, struct.error) as error:
        raise EngineError(f"{path} is no safetensors file: {error}.") from error
    tensors = {}
    for name, about in header.items():
        if name != "__metadata__" and about["dtype"] == "F32":
            begin, end = about["data_offsets"]
            tensors[name] = data[begin:end].view(np.float32).reshape(about["shape"])
    return tensors


def bert_model(folder: Path) -> bytes:
    """Return the ONNX model of the BERT encoder in a folder (config.json, model.safetensors)."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    expected = {"model_type": "bert", "hidden_act": "gelu"}
    for key, value in expected.items():
        if config.get(key) != value:
            raise EngineError(
                f"{folder / 'config.json'}: {key} is {config.get(key)!r}; this engine builds "
                f"{value!r} alone."
            )
    weights = read_safetensors(folder / "model.safetensors")
    try:
        return _Bert(config, weights).build()
    except KeyError as error:
        raise EngineError(f"{folder / 'model.safetensors'} lacks the tensor {error}.") from error


class _Bert:
    """Collects the nodes and weights of the graph in the order of the forward pass."""

    def __init__(self, config: dict[str, Any], weights: dict[str, Array]) -> None:
        self._config, self._weights = config, weights
        self._nodes: list[bytes] = []
        self._tensors: list[bytes] = []
        self._names: set[str] = set()

    def build(self) -> bytes:
        hidden = self._embeddings()
        bias = self._mask_bias()
        for layer in range(self._config["num_hidden_layers"]):
            hidden = self._layer(f"encoder.layer.{layer}.", hidden, bias)
        self._op("Identity", [hidden], OUTPUT)
        shape = ["batch", "tokens"]
        width = self._config["hidden_size"]
        return wire.model(
            nodes=self._nodes,
            tensors=self._tensors,
            inputs=[
                wire.value_info("input_ids", wire.INT64, shape),
                wire.value_info("attention_mask", wire.INT64, shape),
            ],
            outputs=[wire.value_info(OUTPUT, wire.FLOAT, [*shape, width])],
            opset=OPSET,
        )

    def _embeddings(self) -> str:
        words = self._op("Gather", [self._weight("embeddings.word_embeddings.weight"), "input_ids"])
        kind = self._weights["embeddings.token_type_embeddings.weight"][0]
        hidden = self._op("Add", [words, self._constant("token_type_0", kind)])
        count = self._op("Shape", ["input_ids"], "token_count", start=1, end=2)
        zero = self._constant("zero", np.array([0], dtype=np.int64))
        table = self._weight("embeddings.position_embeddings.weight")
        places = self._op("Slice", [table, zero, count, zero])
        return self._norm("embeddings.LayerNorm.", self._op("Add", [hidden, places]))

    def _mask_bias(self) -> str:
        real = self._op("Cast", ["attention_mask"], to=wire.FLOAT)
        padding = self._op("Sub", [self._scalar("one", 1.0), real])
        bias = self._op("Mul", [padding, self._scalar("masked", MASKED)])
        axes = self._constant("head_axes", np.array([1, 2], dtype=np.int64))
        return self._op("Unsqueeze", [bias, axes], "mask_bias")

    def _layer(self, name: str, hidden: str, bias: str) -> str:
        attended = self._attention(f"{name}attention.self.", hidden, bias)
        attended = self._linear(f"{name}attention.output.dense.", attended)
        hidden = self._norm(
            f"{name}attention.output.LayerNorm.", self._op("Add", [attended, hidden])
        )
        inner = self._gelu(self._linear(f"{name}intermediate.dense.", hidden))
        outer = self._linear(f"{name}output.dense.", inner)
        return self._norm(f"{name}output.LayerNorm.", self._op("Add", [outer, hidden]))

    def _attention(self, name: str, hidden: str, bias: str) -> str:
        heads = self._config["num_attention_heads"]
        size = self._config["hidden_size"] // heads
        split = self._constant("split_heads", np.array([0, 0, heads, size], dtype=np.int64))
        parts = {}
        for part, order in (
            ("query", [0, 2, 1, 3]),
            ("key", [0, 2, 3, 1]),
            ("value", [0, 2, 1, 3]),
        ):
            flat = self._linear(f"{name}{part}.", hidden)
            by_head = self._op("Reshape", [flat, split])
            parts[part] = self._op("Transpose", [by_head], perm=order)
        scores = self._op("MatMul", [parts["query"], parts["key"]])
        scores = self._op("Div", [scores, self._scalar("root", math.sqrt(size))])
        shares = self._op("Softmax", [self._op("Add", [scores, bias])], axis=-1)
        mixed = self._op(
            "Transpose", [self._op("MatMul", [shares, parts["value"]])], perm=[0, 2, 1, 3]
        )
        merge = self._constant("merge_heads", np.array([0, 0, heads * size], dtype=np.int64))
        return self._op("Reshape", [mixed, merge])

    def _linear(self, name: str, hidden: str) -> str:
        # Stored as (out, in); MatMul wants (in, out).
        turned = self._constant(f"{name}weight.T", self._weights[f"{name}weight"].T)
        product = self._op("MatMul", [hidden, turned])
        return self._op("Add", [product, self._weight(f"{name}bias")])

    def _norm(self, name: str, hidden: str) -> str:
        inputs = [hidden, self._weight(f"{name}weight"), self._weight(f"{name}bias")]
        epsilon = float(self._config["layer_norm_eps"])
        return self._op("LayerNormalization", inputs, axis=-1, epsilon=epsilon)

    def _gelu(self, x: str) -> str:
        scaled = self._op("Div", [x, self._scalar("root_two", math.sqrt(2.0))])
        grown = self._op("Add", [self._op("Erf", [scaled]), self._scalar("one", 1.0)])
        return self._op("Mul", [self._op("Mul", [x, grown]), self._scalar("half", 0.5)])

    def _op(self, op: str, inputs: list[str], output: str = "", **attributes: Any) -> str:
        output = output or f"{op}_{len(self._nodes)}"
        self._nodes.append(wire.node(op, inputs, [output], **attributes))
        return output

    def _weight(self, name: str) -> str:
        return self._constant(name, self._weights[name])

    def _scalar(self, name: str, value: float) -> str:
        return self._constant(name, np.array(value, dtype=np.float32))

    def _constant(self, name: str, values: npt.NDArray[Any]) -> str:
        if name not in self._names:
            self._names.add(name)
            self._tensors.append(wire.tensor(name, values))
        return name
