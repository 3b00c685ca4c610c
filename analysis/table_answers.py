"""The answers behind a number of a study that came in a table: by history, then one by one."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from typing import Any

import numpy as np

from analysis.stats.cells import ABSENT, BLANK, RIGHT, Cell, Cube

CELL_FIELDS = tuple(field.name for field in fields(Cell))
# Where an address names a cell, these are empty unless it says otherwise; `any` widens them.
USUALLY_EMPTY = ("index", "repair", "rung")
NONE, ANY = ("none", "any")
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

    def _answer(self, column: int, row: int) -> TableAnswer:
        cube, row = self.cube, int(self.rows[row])
        ranks = cube.rank.get(row)
        rank = None if ranks is None or np.isnan(ranks[column]) else float(ranks[column])
        return TableAnswer(
            cube.histories[int(cube.history_of_probe[column])], cube.probe_keys[column],
            str(cube.kinds[column]), cube.cells[row], int(cube.correct[row, column]), rank,
        )  # fmt: skip


def find(cube: Cube, filters: Mapping[str, str]) -> tuple[list[HistoryCount], Found]:
    """Return the counts by history, and the answers, that the filters of an address leave."""
    rows = [row for row, cell in enumerate(cube.cells) if _matches(cell, filters)]
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


def _matches(cell: Cell, filters: Mapping[str, str]) -> bool:
    named = any(name in filters for name in CELL_FIELDS)
    for name, value in zip(CELL_FIELDS, astuple(cell), strict=True):
        wanted = filters.get(name, NONE if named and name in USUALLY_EMPTY else ANY)
        if wanted == ANY:
            continue
        empty = not value if name != "repeat" else False
        if wanted == NONE and empty:
            continue
        if wanted == NONE and name == "repair" and value == NONE:
            continue
        if str(value) != wanted:
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
    found["history"] = list(cube.histories)
    found["kind"] = sorted(set(cube.kinds.astype(str)) - {""})
    found["correct"] = list(SCORES)
    return found
