"""From rows to arrays: the one way, for pages, reports and the command line alike."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from analysis.columns import CELL_KEY, COSTS, SHARED_CONDITIONS
from analysis.stats.cells import ABSENT, ANY, BLANK, Cell, Cube
from analysis.stats.figures import IntArray
from stores.errors import InvalidInputError

Where = Callable[[int], str]


def _row_name(row: int) -> str:
    return f"row {row + 1}"


def categorical(positions: Any, names: list[str]) -> Any:
    """A text column from codes into sorted names."""
    return pd.Categorical.from_codes(positions, categories=pd.Index(names, dtype=object))


def codes(column: Any) -> tuple[IntArray, list[str]]:
    """Integer codes of a column, in the sorted order of the values that occur."""
    values = column.cat.remove_unused_categories() if column.dtype == "category" else column
    categorical = pd.Categorical(values)
    names = [str(name) for name in categorical.categories]
    order = sorted(range(len(names)), key=names.__getitem__)
    rank = np.empty(len(names), dtype=np.int64)
    rank[order] = np.arange(len(names))
    return rank[np.asarray(categorical.codes)], [names[position] for position in order]


class _Layout:
    """Where each row goes: its cell, its probe's column, its history."""

    def __init__(self, frame: pd.DataFrame, where: Where) -> None:
        self.where = where
        self.history, self.histories = codes(frame["history"])
        probe, self.probe_names = codes(frame["probe"])
        combined = self.history * len(self.probe_names) + probe
        self.column, columns = _rank(combined)
        self.column_history = columns // len(self.probe_names)
        self.column_probe = columns % len(self.probe_names)
        self.cell, self.cells = self._cells(frame)

    def _cells(self, frame: pd.DataFrame) -> tuple[IntArray, tuple[Cell, ...]]:
        combined = np.zeros(len(frame), dtype=np.int64)
        names: list[list[str] | list[int]] = []
        for key in CELL_KEY:
            if key in ("rung", "repeat"):
                part, uniques = _rank(frame[key].to_numpy(dtype=np.int64))
                names.append([int(value) for value in uniques])
            elif key in frame:
                part, texts = codes(frame[key])
                names.append(texts)
            else:
                part, texts = np.zeros(len(frame), dtype=np.int64), [""]
                names.append(texts)
            combined = combined * len(names[-1]) + part
        position, uniques = _rank(combined)
        return position, tuple(self._cell(int(code), names) for code in uniques)

    @staticmethod
    def _cell(code: int, names: list[list[str] | list[int]]) -> Cell:
        parts: list[str | int] = []
        for values in reversed(names):
            code, digit = divmod(code, len(values))
            parts.append(values[digit])
        return Cell(*reversed(parts))  # type: ignore[arg-type]

    def check_duplicates(self) -> None:
        """Refuse two rows with one key, naming both."""
        flat = self.cell * len(self.column_probe) + self.column
        taken = np.zeros(len(self.cells) * len(self.column_probe), dtype=np.bool_)
        taken[flat] = True
        if int(taken.sum()) == flat.size:
            return
        again = int(np.flatnonzero(pd.Series(flat).duplicated())[0])
        first = int(np.flatnonzero(flat == flat[again])[0])
        raise InvalidInputError(
            f"{self.where(first)} and {self.where(again)} have the same key: "
            f"history {self.histories[self.history[again]]}, "
            f"probe {self.probe_names[self.column_probe[self.column[again]]]}, "
            f"{self.cells[self.cell[again]].label()}",
            expected="one row per answer",
            hint="Give repeats of a cell different numbers in the column repeat",
        )

    def attribute(self, frame: pd.DataFrame, name: str) -> "np.typing.NDArray[np.object_]":
        """One value per probe; refuse a probe that has two."""
        if name not in frame:
            return np.full(len(self.column_probe), "", dtype=object)
        part, names = codes(frame[name].astype("category"))
        chosen = np.zeros(len(self.column_probe), dtype=np.int64)
        chosen[self.column] = part
        differs = np.flatnonzero(chosen[self.column] != part)
        if differs.size:
            row = int(differs[0])
            other = int(np.flatnonzero((self.column == self.column[row]) & (part != part[row]))[0])
            first, second = sorted((row, other))
            raise InvalidInputError(
                f"probe {self.probe_names[self.column_probe[self.column[row]]]} of history "
                f"{self.histories[self.history[row]]} has {name} {names[part[first]]!r} on "
                f"{self.where(first)} and {names[part[second]]!r} on {self.where(second)}",
                expected="one value per probe",
            )
        return np.array(names, dtype=object)[chosen]

    def cost(self, frame: pd.DataFrame, name: str) -> "np.typing.NDArray[np.float64]":
        """Cost per cell and history; refuse a repair with two costs."""
        shape = (len(self.cells), len(self.histories))
        cost = np.full(shape, np.nan)
        values = frame[name].to_numpy(dtype=np.float64, na_value=np.nan)
        rows = np.flatnonzero(~np.isnan(values))
        at = (self.cell[rows], self.history[rows])
        cost[at] = values[rows]
        differs = np.flatnonzero(cost[at] != values[rows])
        if differs.size:
            row = int(rows[differs[0]])
            raise InvalidInputError(
                f"the cell {self.cells[self.cell[row]].label()} of history "
                f"{self.histories[self.history[row]]} has two values of {name}",
                where=self.where(row),
                expected="the cost of the whole repair on each of its rows",
            )
        return cost


def _rank(values: IntArray) -> tuple[IntArray, IntArray]:
    """Codes of integers in sorted order, by hashing: faster than sorting all of them."""
    found, uniques = pd.factorize(values)
    order = np.argsort(uniques, kind="stable")
    rank = np.empty(len(uniques), dtype=np.int64)
    rank[order] = np.arange(len(uniques))
    return rank[found], np.asarray(uniques)[order]


def check_frame(frame: pd.DataFrame, where: Where = _row_name) -> None:
    """Refuse duplicate keys, probes with two kinds, and shared rows that are not shared."""
    to_cube(frame, where)


def to_cube(frame: pd.DataFrame, where: Where = _row_name) -> Cube:
    """Return all answers of a frame as arrays.

    Parameters
    ----------
    frame
        The columns of an answers table, as `read_table` and `from_study` return them.
    where
        Names a row in errors ("line 17").

    Raises
    ------
    InvalidInputError
        For duplicate keys, and for a probe or a repair that contradicts itself.
    """
    if frame.empty:
        raise InvalidInputError("there are no answers", expected="at least one row")
    layout = _Layout(frame, where)
    layout.check_duplicates()
    shape = (len(layout.cells), len(layout.column_probe))
    correct = np.full(shape, ABSENT, dtype=np.int8)
    scored = frame["correct"].to_numpy(dtype=np.int8, na_value=BLANK)
    correct[layout.cell, layout.column] = scored
    screening = layout.attribute(frame, "screening")
    _check_shared(layout.cells)
    return Cube(
        histories=tuple(layout.histories),
        starts=np.searchsorted(layout.column_history, np.arange(len(layout.histories))),
        probe_keys=tuple(layout.probe_names[code] for code in layout.column_probe.tolist()),
        kinds=layout.attribute(frame, "kind"),
        memory_classes=layout.attribute(frame, "memory_class"),
        screening=np.asarray(screening == "1", dtype=np.bool_),
        cells=layout.cells,
        correct=correct,
        rank=_by_cell(frame, "rank", layout),
        recall=_by_cell(frame, "recall", layout),
        costs={name: layout.cost(frame, name) for name in COSTS if name in frame},
    )


def _by_cell(
    frame: pd.DataFrame, name: str, layout: _Layout
) -> dict[int, "np.typing.NDArray[np.float64]"]:
    values = frame[name].to_numpy(dtype=np.float64, na_value=np.nan)
    rows = np.flatnonzero(~np.isnan(values))
    matrices: dict[int, np.typing.NDArray[np.float64]] = {}
    cell_of = layout.cell[rows]
    for cell in np.unique(cell_of).tolist():
        own = rows[cell_of == cell]
        matrices[cell] = np.full(len(layout.column_probe), np.nan)
        matrices[cell][layout.column[own]] = values[own]
    return matrices


def _check_shared(cells: tuple[Cell, ...]) -> None:
    for cell in cells:
        if cell.format == ANY and cell.condition not in SHARED_CONDITIONS:
            raise InvalidInputError(
                f"format '*' on rows of condition {cell.condition}",
                where="column format",
                expected="'*' only with raw_evidence or no_memory, which formats may share",
            )
        if cell.format == ANY and cell.writer not in (ANY, ""):
            raise InvalidInputError(
                f"format '*' with writer {cell.writer}",
                where="column writer",
                expected="'*' or nothing where the format is '*'",
            )
