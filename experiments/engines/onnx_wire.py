"""The few ONNX messages that a BERT encoder needs, written in protobuf's wire format.

ONNX Runtime reads models but does not build them, and the package that does is not needed for
anything else. Field numbers are those of onnx.proto3, which never change.
"""

import struct
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

FLOAT, INT64 = 1, 7
IR_VERSION = 8
_VARINT, _FIXED32, _BYTES = 0, 5, 2
_ATTRIBUTE_FLOAT, _ATTRIBUTE_INT, _ATTRIBUTE_INTS = 1, 2, 7
_DATA_TYPES = {np.dtype(np.float32): FLOAT, np.dtype(np.int64): INT64}

AttributeValue = int | float | Sequence[int]


def node(
    op: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: AttributeValue
) -> bytes:
    """NodeProto."""
    parts = [_text(1, name) for name in inputs]
    parts += [_text(2, name) for name in outputs]
    parts += [_text(3, outputs[0]), _text(4, op)]
    parts += [_bytes(5, _attribute(name, value)) for name, value in attributes.items()]
    return b"".join(parts)


def tensor(name: str, values: npt.NDArray[np.float32] | npt.NDArray[np.int64]) -> bytes:
    """TensorProto with its values inline, little-endian."""
    parts = [_int(1, size) for size in values.shape]
    parts += [_int(2, _DATA_TYPES[values.dtype]), _text(8, name)]
    parts.append(_bytes(9, np.ascontiguousarray(values).tobytes()))
    return b"".join(parts)


def value_info(name: str, data_type: int, shape: Sequence[int | str]) -> bytes:
    """ValueInfoProto; a dimension that is a name may have any size."""
    sizes = [_text(2, size) if isinstance(size, str) else _int(1, size) for size in shape]
    shape_proto = b"".join(_bytes(1, size) for size in sizes)
    tensor_type = _int(1, data_type) + _bytes(2, shape_proto)
    return _text(1, name) + _bytes(2, _bytes(1, tensor_type))


def model(
    *,
    nodes: Sequence[bytes],
    tensors: Sequence[bytes],
    inputs: Sequence[bytes],
    outputs: Sequence[bytes],
    opset: int,
) -> bytes:
    """ModelProto around one graph."""
    parts = [_bytes(1, item) for item in nodes]
    parts.append(_text(2, "encoder"))
    parts += [_bytes(5, item) for item in tensors]
    parts += [_bytes(11, item) for item in inputs]
    parts += [_bytes(12, item) for item in outputs]
    graph = b"".join(parts)
    return _int(1, IR_VERSION) + _bytes(7, graph) + _bytes(8, _int(2, opset))


def _attribute(name: str, value: AttributeValue) -> bytes:
    if isinstance(value, float):
        kind, content = _ATTRIBUTE_FLOAT, _key(2, _FIXED32) + struct.pack("<f", value)
    elif isinstance(value, int):
        kind, content = _ATTRIBUTE_INT, _int(3, value)
    else:
        kind, content = _ATTRIBUTE_INTS, b"".join(_int(8, item) for item in value)
    return _text(1, name) + content + _int(20, kind)


def _key(field: int, wire_type: int) -> bytes:
    return _varint(field << 3 | wire_type)


def _int(field: int, value: int) -> bytes:
    return _key(field, _VARINT) + _varint(value)


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode())


def _bytes(field: int, value: bytes) -> bytes:
    return _key(field, _BYTES) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    # Negative numbers are written as 64-bit two's complement.
    value &= 0xFFFF_FFFF_FFFF_FFFF
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
