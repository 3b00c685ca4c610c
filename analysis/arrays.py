"""From rows to arrays: the one way, for pages, reports and the command line alike.

Rows may come in pieces: a table of fifty million answers is never held as rows, only as one byte
per answer.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from analysis.columns import COSTS, SHARED_CONDITIONS
from analysis.pieces import Piece, codes
from analysis.stats.cells import ABSENT, ANY, BLANK, Cell, Cube
from analysis.stats.figures import IntArray
from stores.errors import InvalidInputError

Where = Callable[[int], str]
# Pieces of a table: the number of their first row, and their rows.
Pieces = Iterable[tuple[int, pd.DataFrame]]
ATTRIBUTES = ("kind", "memory_class", "screening")
FIRST_COLUMNS = 1024


def _row_name(row: int) -> str:
    return f"row {row + 1}"


class CubeBuilder:
    """Takes rows piece by piece; refuses duplicate keys and rows that contradict each other.

    `where` names a row in errors ("line 17"); `again` gives the pieces anew, to find the other row
    of a contradiction.
    """

    def __init__(self, where: Where, again: Callable[[], Pieces]) -> None:
        self.where, self.again = where, again
        self.columns: dict[tuple[str, str], int] = {}
        self.rows: dict[Cell, Any] = {}
        self.values: dict[str, dict[Cell, Any]] = {"rank": {}, "recall": {}}
        self.costs: dict[str, dict[tuple[Cell, str], float]] = {}
        self.attributes: dict[str, Any] = {}
        self.names: dict[str, dict[str, int]] = {name: {"": 0} for name in ATTRIBUTES}
        self.capacity = FIRST_COLUMNS

    def add(self, frame: pd.DataFrame, first_row: int = 0) -> None:
        """Take the next rows."""
        piece = Piece(frame, first_row)
        column_of = [self.columns.setdefault(pair, len(self.columns)) for pair in piece.pairs]
        self._grow()
        column = np.array(column_of, dtype=np.int64)[piece.pair]
        scores = frame["correct"].to_numpy(dtype=np.int8, na_value=BLANK)
        for cell, rows in piece.rows_by_cell():
            _check_shared(cell)
            self._score(piece, cell, rows, column[rows], scores[rows])
            for name, kept in self.values.items():
                self._keep(kept, cell, column[rows], frame[name].iloc[rows])
            for name in COSTS:
                if name in frame:
                    self._cost(piece, name, cell, rows)
        for name in ATTRIBUTES:
            if name in frame:
                self._describe(piece, name, column)

    def _grow(self) -> None:
        if len(self.columns) <= self.capacity:
            return
        while self.capacity < len(self.columns):
            self.capacity *= 2
        self.rows = {cell: self._wider(row, ABSENT) for cell, row in self.rows.items()}
        for kept in self.values.values():
            kept.update({cell: self._wider(row, np.nan) for cell, row in kept.items()})
        self.attributes = {name: self._wider(row, -1) for name, row in self.attributes.items()}

    def _wider(self, row: Any, empty: float) -> Any:
        wide = np.full(self.capacity, empty, dtype=row.dtype)
        wide[: row.size] = row
        return wide

    def _score(self, piece: Piece, cell: Cell, rows: Any, column: Any, scores: Any) -> None:
        row = self.rows.get(cell)
        if row is None:
            row = self.rows[cell] = np.full(self.capacity, ABSENT, dtype=np.int8)
        taken = row[column] != ABSENT
        row[column] = scores
        if not taken.any() and len(np.unique(column)) == column.size:
            return
        again = taken | pd.Series(column).duplicated().to_numpy()
        self._duplicate(piece, cell, int(rows[int(np.flatnonzero(again)[0])]))

    def _duplicate(self, piece: Piece, cell: Cell, row: int) -> None:
        history, probe = piece.pairs[piece.pair[row]]
        second = piece.first_row + row
        first = next(self._rows_of((history, probe), cell))[0]
        raise InvalidInputError(
            f"{self.where(first)} and {self.where(second)} have the same key: "
            f"history {history}, probe {probe}, {cell.label()}",
            expected="one row per answer",
            hint="Give repeats of a cell different numbers in the column repeat",
        )

    def _rows_of(
        self, pair: tuple[str, str], cell: Cell | None = None
    ) -> Iterator[tuple[int, Any]]:
        """Every row of a probe (in one cell): its number and what it holds, read anew."""
        for first_row, frame in self.again():
            for row in Piece(frame, first_row).rows_of(pair, cell).tolist():
                yield first_row + row, frame.iloc[row]

    def _keep(self, kept: dict[Cell, Any], cell: Cell, column: Any, values: Any) -> None:
        numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
        there = ~np.isnan(numbers)
        if not there.any():
            return
        if cell not in kept:
            kept[cell] = np.full(self.capacity, np.nan)
        kept[cell][column[there]] = numbers[there]

    def _cost(self, piece: Piece, name: str, cell: Cell, rows: Any) -> None:
        values = piece.frame[name].to_numpy(dtype=np.float64, na_value=np.nan)[rows]
        there = ~np.isnan(values)
        known = self.costs.setdefault(name, {})
        pairs = pd.DataFrame({"h": piece.history[rows][there], "v": values[there]})
        for code, value in pairs.drop_duplicates().itertuples(index=False):
            history = piece.histories[int(code)]
            if known.setdefault((cell, history), value) != value:
                at = there & (piece.history[rows] == code) & (values == value)
                raise InvalidInputError(
                    f"the cell {cell.label()} of history {history} has two values of {name}",
                    where=self.where(piece.first_row + int(rows[np.flatnonzero(at)[0]])),
                    expected="the cost of the whole repair on each of its rows",
                )

    def _describe(self, piece: Piece, name: str, column: Any) -> None:
        part, texts = codes(piece.frame[name].astype("category"))
        names = self.names[name]
        known = np.array([names.setdefault(text, len(names)) for text in texts], dtype=np.int32)
        row = self.attributes.get(name)
        if row is None:
            row = self.attributes[name] = np.full(self.capacity, -1, dtype=np.int32)
        coded = known[part]
        new = row[column] < 0
        row[column[new]] = coded[new]
        differs = np.flatnonzero(row[column] != coded)
        if differs.size:
            self._contradiction(piece, name, int(differs[0]))

    def _contradiction(self, piece: Piece, name: str, row: int) -> None:
        pair = piece.pairs[piece.pair[row]]
        value = str(piece.frame[name].iloc[row])
        here = (piece.first_row + row, value)
        seen = ((number, str(content[name])) for number, content in self._rows_of(pair))
        other = next(found for found in seen if found[1] != value)
        (first, one), (second, two) = sorted([here, other])
        raise InvalidInputError(
            f"probe {pair[1]} of history {pair[0]} has {name} {one!r} on {self.where(first)} "
            f"and {two!r} on {self.where(second)}",
            expected="one value per probe",
        )

    def finish(self) -> Cube:
        """Return the arrays, everything sorted."""
        pairs = sorted(self.columns)
        if not pairs:
            raise InvalidInputError("there are no answers", expected="at least one row")
        order = np.array([self.columns[pair] for pair in pairs], dtype=np.int64)
        histories = sorted({history for history, _ in pairs})
        position = {history: number for number, history in enumerate(histories)}
        of_column = np.array([position[history] for history, _ in pairs], dtype=np.int64)
        cells = tuple(sorted(self.rows))
        return Cube(
            histories=tuple(histories),
            starts=np.searchsorted(of_column, np.arange(len(histories))),
            probe_keys=tuple(probe for _, probe in pairs),
            kinds=self._attribute("kind", order),
            memory_classes=self._attribute("memory_class", order),
            screening=np.asarray(self._attribute("screening", order) == "1", dtype=np.bool_),
            cells=cells,
            correct=np.stack([self.rows.pop(cell)[order] for cell in cells]),
            rank=self._by_row("rank", cells, order),
            recall=self._by_row("recall", cells, order),
            costs={name: self._costs(name, cells, position) for name in self.costs},
        )

    def _attribute(self, name: str, order: IntArray) -> Any:
        if name not in self.attributes:
            return np.full(order.size, "", dtype=object)
        texts = np.array(list(self.names[name]), dtype=object)
        return texts[self.attributes[name][order]]

    def _by_row(self, name: str, cells: tuple[Cell, ...], order: IntArray) -> dict[int, Any]:
        kept = self.values[name]
        return {row: kept[cell][order] for row, cell in enumerate(cells) if cell in kept}

    def _costs(self, name: str, cells: tuple[Cell, ...], position: dict[str, int]) -> Any:
        row_of = {cell: row for row, cell in enumerate(cells)}
        matrix = np.full((len(cells), len(position)), np.nan)
        for (cell, history), value in self.costs[name].items():
            matrix[row_of[cell], position[history]] = value
        return matrix


def _check_shared(cell: Cell) -> None:
    if cell.format != ANY:
        return
    if cell.condition not in SHARED_CONDITIONS:
        raise InvalidInputError(
            f"format '*' on rows of condition {cell.condition}",
            where="column format",
            expected="'*' only with raw_evidence or no_memory, which formats may share",
        )
    if cell.writer not in (ANY, ""):
        raise InvalidInputError(
            f"format '*' with writer {cell.writer}",
            where="column writer",
            expected="'*' or nothing where the format is '*'",
        )


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
    return cube_of(lambda: [(0, frame)] if len(frame) else [], where)


def cube_of(pieces: Callable[[], Pieces], where: Where) -> Cube:
    """Return all answers of a table that comes in pieces; see `to_cube`."""
    builder = CubeBuilder(where, pieces)
    for first_row, frame in pieces():
        builder.add(frame, first_row)
    return builder.finish()
