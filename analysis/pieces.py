"""Rows of an answers table, coded: which history and probe, which cell."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from analysis.columns import CELL_KEY
from analysis.stats.cells import Cell
from analysis.stats.figures import IntArray


def categorical(positions: Any, names: list[str]) -> Any:
    """A text column from codes into sorted names."""
    return pd.Categorical.from_codes(positions, categories=pd.Index(names, dtype=object))


def codes(column: Any) -> tuple[IntArray, list[str]]:
    """Integer codes of a column, in the sorted order of the values that occur."""
    values = column.cat.remove_unused_categories() if column.dtype == "category" else column
    coded = pd.Categorical(values)
    names = [str(name) for name in coded.categories]
    order = sorted(range(len(names)), key=names.__getitem__)
    rank = np.empty(len(names), dtype=np.int64)
    rank[order] = np.arange(len(names))
    return rank[np.asarray(coded.codes)], [names[position] for position in order]


class Piece:
    """The rows of one piece, coded: which history and probe, which cell."""

    def __init__(self, frame: pd.DataFrame, first_row: int) -> None:
        self.frame, self.first_row = frame, first_row
        self.history, self.histories = codes(frame["history"])
        probe, self.probes = codes(frame["probe"])
        self.pair, pairs = _rank(self.history * len(self.probes) + probe)
        self.pairs = [
            (self.histories[code // len(self.probes)], self.probes[code % len(self.probes)])
            for code in pairs.tolist()
        ]
        self.cell, self.cells = _cells(frame)

    def rows_by_cell(self) -> Iterator[tuple[Cell, IntArray]]:
        """The rows of each cell, in their order."""
        order = np.argsort(self.cell, kind="stable")
        ends = np.searchsorted(self.cell[order], np.arange(len(self.cells) + 1))
        for position, cell in enumerate(self.cells):
            yield cell, order[ends[position] : ends[position + 1]]

    def rows_of(self, pair: tuple[str, str], cell: Cell | None = None) -> IntArray:
        """The rows of this (history, probe), in this cell alone where one is given."""
        if pair not in self.pairs or (cell is not None and cell not in self.cells):
            return np.array([], dtype=np.int64)
        wanted = self.pair == self.pairs.index(pair)
        if cell is not None:
            wanted &= self.cell == self.cells.index(cell)
        return np.flatnonzero(wanted)


def _cells(frame: pd.DataFrame) -> tuple[IntArray, list[Cell]]:
    combined = np.zeros(len(frame), dtype=np.int64)
    names: list[list[Any]] = []
    for key in CELL_KEY:
        if key in ("rung", "repeat"):
            part, uniques = _rank(frame[key].to_numpy(dtype=np.int64))
            names.append(uniques.tolist())
        elif key in frame:
            part, texts = codes(frame[key])
            names.append(texts)
        else:
            part = np.zeros(len(frame), dtype=np.int64)
            names.append([""])
        combined = combined * len(names[-1]) + part
    position, uniques = _rank(combined)
    return position, [_cell(int(code), names) for code in uniques]


def _cell(code: int, names: list[list[Any]]) -> Cell:
    parts: list[Any] = []
    for values in reversed(names):
        code, digit = divmod(code, len(values))
        parts.append(values[digit])
    return Cell(*reversed(parts))


def _rank(values: IntArray) -> tuple[IntArray, IntArray]:
    """Codes of integers in sorted order, by hashing: faster than sorting all of them."""
    found, uniques = pd.factorize(values)
    order = np.argsort(uniques, kind="stable")
    rank = np.empty(len(uniques), dtype=np.int64)
    rank[order] = np.arange(len(uniques))
    return rank[found], np.asarray(uniques)[order]
