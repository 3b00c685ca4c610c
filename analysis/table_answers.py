"""The answers behind a number of a study that came in a table: by history, then one by one."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from analysis.answer_filters import ANY, EMPTY, NONE, meant
from analysis.cell_words import title_of
from analysis.labels import FORMAT_NAMES
from analysis.stats.cells import ABSENT, BLANK, RIGHT, Cell, Cube

CELL_FIELDS = tuple(field.name for field in fields(Cell))
SCORES = {"right": RIGHT, "wrong": 0, "unscored": BLANK}
FILTERS = (*CELL_FIELDS, "history", "probe", "kind", "memory_class", "correct")


@dataclass(frozen=True, slots=True)
class HistoryCount:
    """Right, scored and unscored answers of one history."""

    key: str
    n_right: int
    n_scored: int
    n_unscored: int


@dataclass(frozen=True, slots=True)
class TableAnswer:
    """One answer of the table."""

    history: str
    probe: str
    kind: str
    cell: Cell
    code: int
    rank: float | None

    @property
    def css(self) -> str:
        """right, wrong or never."""
        return {RIGHT: "right", BLANK: "never"}.get(self.code, "wrong")


class Found(Sequence[TableAnswer]):
    """The answers that a filter leaves, looked up page by page."""

    def __init__(self, cube: Cube, rows: Sequence[int], mask: Any) -> None:
        self.cube, self.rows = cube, np.asarray(rows, dtype=np.int64)
        self.places = np.argwhere(mask.T)  # by probe, then by cell

    def __len__(self) -> int:
        return int(self.places.shape[0])

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [self._answer(*place) for place in self.places[at].tolist()]
        return self._answer(*self.places[at].tolist())

    def __iter__(self) -> Iterator[TableAnswer]:
        return (self._answer(*place) for place in self.places.tolist())

    def in_order(self, key: str, descending: bool) -> "Found":
        """The same answers by one column of the page; what is undefined last, ties as they were."""
        values, known = self._values(key)
        found = copy(self)
        found.places = self.places[np.lexsort((-values if descending else values, ~known))]
        return found

    def _values(self, key: str) -> tuple[Any, Any]:
        """A number for each answer that decides its place, and whether it has one."""
        cube, (columns, rows) = self.cube, (self.places[:, 0], self.rows[self.places[:, 1]])
        if key == "rank":
            ranks = np.full(len(columns), np.nan)
            for row in np.unique(rows).tolist():
                if row in cube.rank:
                    ranks[rows == row] = cube.rank[row][columns[rows == row]]
            return np.nan_to_num(ranks), ~np.isnan(ranks)
        if key == "verdict":
            codes = cube.correct[rows, columns].astype(np.int64)
            return RIGHT - codes, codes != BLANK
        if key == "cell":
            return _places([_cell_words(cell) for cell in cube.cells])[rows], self._all()
        histories = np.array(cube.histories, dtype=object)[cube.history_of_probe]
        texts = {"probe": cube.probe_keys, "kind": cube.kinds, "history": histories}
        return _places(texts[key])[columns], self._all()

    def _all(self) -> Any:
        return np.ones(len(self), dtype=np.bool_)

    def _answer(self, column: int, row: int) -> TableAnswer:
        cube, row = self.cube, int(self.rows[row])
        ranks = cube.rank.get(row)
        rank = None if ranks is None or np.isnan(ranks[column]) else float(ranks[column])
        return TableAnswer(
            cube.histories[int(cube.history_of_probe[column])], cube.probe_keys[column],
            str(cube.kinds[column]), cube.cells[row], int(cube.correct[row, column]), rank,
        )  # fmt: skip


def _places(texts: Iterable[str]) -> Any:
    """The place of each text among all of them, without regard to capitals."""
    return np.unique([str(text).casefold() for text in texts], return_inverse=True)[1]


def _cell_words(cell: Cell) -> str:
    return f"{FORMAT_NAMES.get(cell.format, cell.format)} {title_of(cell)}"


def find(cube: Cube, filters: Mapping[str, str]) -> tuple[list[HistoryCount], Found]:
    """Return the counts by history, and the answers, that the filters of an address leave."""
    wanted = {name: value for name, value in meant(filters).items() if name in CELL_FIELDS}
    rows = [row for row, cell in enumerate(cube.cells) if _matches(cell, wanted)]
    codes = cube.correct[rows]
    mask = (codes != ABSENT) & _columns(cube, filters)
    if filters.get("correct") in SCORES:
        mask &= codes == SCORES[filters["correct"]]
    right, blank, asked = (
        np.asarray(cube.per_history((mask & wanted).sum(axis=0)))
        for wanted in (codes == RIGHT, codes == BLANK, np.ones_like(mask))
    )
    counts = [
        HistoryCount(key, int(right[n]), int(asked[n] - blank[n]), int(blank[n]))
        for n, key in enumerate(cube.histories)
        if asked[n]
    ]
    return counts, Found(cube, rows, mask)


def _matches(cell: Cell, wanted: Mapping[str, str]) -> bool:
    """Whether a cell has these values; a table may call what was not repaired `none`."""
    for name, value in wanted.items():
        empty = EMPTY.get(name, value) if value == NONE else value
        if str(getattr(cell, name)) not in (value, empty):
            return False
    return True


def _columns(cube: Cube, filters: Mapping[str, str]) -> Any:
    mask = np.ones(len(cube.probe_keys), dtype=np.bool_)
    if "history" in filters:
        names = np.array(cube.histories, dtype=object)
        mask &= names[cube.history_of_probe] == filters["history"]
    for name, values in (("kind", cube.kinds), ("memory_class", cube.memory_classes),
                         ("probe", np.array(cube.probe_keys, dtype=object))):  # fmt: skip
        if name in filters:
            mask &= values == filters[name]
    return mask


def choices(cube: Cube) -> dict[str, list[str]]:
    """The values that each filter of the page can take."""
    found = {
        name: sorted({str(getattr(cell, name)) for cell in cube.cells} - {"", "0"})
        for name in CELL_FIELDS
        if name != "repeat"
    }
    found["repair"] += [ANY] if found["repair"] else []
    found["history"] = list(cube.histories)
    found["kind"] = sorted(set(cube.kinds.astype(str)) - {""})
    found["correct"] = list(SCORES)
    return found
