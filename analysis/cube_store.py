"""Arrays of answers kept as text: small, exact, and read in milliseconds."""

import base64
import io
from dataclasses import astuple
from typing import Any

import numpy as np

from analysis.stats.cells import Cell, Cube


def pack(cube: Cube) -> dict[str, Any]:
    """Return a cube as a JSON-ready document; `unpack` gives it back, exactly."""
    arrays: dict[str, Any] = {
        "starts": cube.starts, "screening": cube.screening, "correct": cube.correct,
        "rank_rows": np.array(sorted(cube.rank), dtype=np.int64),
        "recall_rows": np.array(sorted(cube.recall), dtype=np.int64),
    }  # fmt: skip
    arrays |= {f"rank_{row}": values for row, values in cube.rank.items()}
    arrays |= {f"recall_{row}": values for row, values in cube.recall.items()}
    arrays |= {f"costs_{name}": values for name, values in cube.costs.items()}
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    kinds, kind_of = _coded(cube.kinds)
    classes, class_of = _coded(cube.memory_classes)
    return {
        "histories": list(cube.histories),
        "probe_keys": "\n".join(cube.probe_keys),
        "kinds": kinds, "kind_of": kind_of, "classes": classes, "class_of": class_of,
        "cells": [list(astuple(cell)) for cell in cube.cells],
        "costs": list(cube.costs),
        "npz": base64.b64encode(file.getvalue()).decode(),
    }  # fmt: skip


def unpack(document: dict[str, Any]) -> Cube:
    """Return the cube that `pack` wrote."""
    with np.load(io.BytesIO(base64.b64decode(document["npz"])), allow_pickle=False) as arrays:
        return Cube(
            histories=tuple(document["histories"]),
            starts=arrays["starts"],
            probe_keys=tuple(document["probe_keys"].split("\n")),
            kinds=_decoded(document["kinds"], document["kind_of"]),
            memory_classes=_decoded(document["classes"], document["class_of"]),
            screening=arrays["screening"],
            cells=tuple(Cell(*parts) for parts in document["cells"]),
            correct=arrays["correct"],
            rank={int(row): arrays[f"rank_{row}"] for row in arrays["rank_rows"]},
            recall={int(row): arrays[f"recall_{row}"] for row in arrays["recall_rows"]},
            costs={name: arrays[f"costs_{name}"] for name in document["costs"]},
        )


def _coded(values: Any) -> tuple[list[str], str]:
    names, codes = np.unique(values.astype(str), return_inverse=True)
    packed = base64.b64encode(codes.astype("<u2").tobytes()).decode()
    return names.tolist(), packed


def _decoded(names: list[str], codes: str) -> Any:
    position = np.frombuffer(base64.b64decode(codes), dtype="<u2")
    return np.array(names, dtype=object)[position]
