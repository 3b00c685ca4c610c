"""Answers tables in memory: cells with as many right answers as a test wants."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from analysis.arrays import to_cube
from analysis.stats.cells import Cube

KINDS = ("direct", "temporal", "contradiction", "multi_hop", "alias")
DEFAULTS = {
    "embedder": "", "writer": "", "condition": "normal", "index": "", "repair": "", "rung": 0,
    "cost_usd": None, "repeat": 0,
}  # fmt: skip
CellSpec = tuple[Mapping[str, Any], Mapping[str, Iterable[int | None]]]


def frame(*cells: CellSpec, screening: int = 0) -> pd.DataFrame:
    """Return rows from (key of the cell, {history: scores of its probes})."""
    rows = [
        DEFAULTS
        | dict(key)
        | {
            "history": history,
            "probe": f"p{number:03}",
            "kind": KINDS[number % 5],
            "memory_class": "",
            "screening": int(number < screening),
            "correct": score,
            "rank": None,
            "recall": None,
        }
        for key, by_history in cells
        for history, scores in by_history.items()
        for number, score in enumerate(scores)
    ]
    table = pd.DataFrame(rows)
    table["correct"] = table["correct"].astype("Int8")
    table["rank"] = table["rank"].astype("Int32")
    for name in ("cost_usd", "recall"):
        table[name] = table[name].astype("float64")
    return table


def cube(*cells: CellSpec, **options: Any) -> Cube:
    """Return the arrays of `frame`."""
    return to_cube(frame(*cells, **options))


def right(*counts: int, probes: int = 10) -> dict[str, list[int]]:
    """The first probes right: `counts[i]` of them in history h0i."""
    return {f"h{i:02}": [1] * k + [0] * (probes - k) for i, k in enumerate(counts)}
