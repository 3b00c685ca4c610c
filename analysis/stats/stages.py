"""Where each single probe was lost: its answers normally, with stored and with raw evidence."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from analysis.stats.cells import RIGHT, Cell, Cube
from analysis.stats.decomposition import (
    COMPONENTS,
    decompose,
    matched_cells,
    raw_cell,
    stored_cell,
)
from analysis.stats.figures import BoolArray

Stage = Literal["construction", "retrieval", "reading", "none", "no stage"]
STAGES: tuple[Stage, ...] = ("construction", "retrieval", "reading", "none", "no stage")
Signs = npt.NDArray[np.int8]


def stage_of(*, normal: bool, stored: bool, raw: bool) -> Stage:
    """Return the stage at which one probe was lost.

    More help must not hurt: the answers of a probe that a stage explains go from wrong to right
    once at most, in the order normal, stored evidence, raw evidence. Where they first are right
    tells what was missing until then. Any other pattern fits no stage (right normally and wrong
    with the raw evidence, say); it is shown as such.

    Notes
    -----
    Source: protocol.md, "Controlled evidence"; the order of help is that of the decomposition.

    Examples
    --------
    >>> stage_of(normal=False, stored=True, raw=True), stage_of(normal=True, stored=True, raw=False)
    ('retrieval', 'no stage')
    """
    if not normal <= stored <= raw:
        return "no stage"
    if normal:
        return "none"
    if stored:
        return "retrieval"
    return "construction" if raw else "reading"


@dataclass(frozen=True, slots=True)
class Followed:
    """One probe in one matched cell, with its three answers."""

    history: str
    probe: str
    kind: str
    cell: Cell
    normal: bool
    stored: bool
    raw: bool

    @property
    def stage(self) -> Stage:
        """Where it was lost."""
        return stage_of(normal=self.normal, stored=self.stored, raw=self.raw)


@dataclass(frozen=True)
class Patterns:
    """The answers of every probe in every matched cell that a decomposition counts.

    `normal`, `stored`, `raw` and `counted` have shape (n_cells, n_probes). Histories that the
    decomposition leaves out are not counted.
    """

    cube: Cube
    cells: tuple[Cell, ...]
    normal: Signs
    stored: Signs
    raw: Signs
    counted: BoolArray

    def signs(self, component: str) -> Signs:
        """What each probe adds to a component: 1 lost there, -1 the other way, 0 nothing.

        Their mean over the probes of a history, then over cells, then over histories, is the
        component of the decomposition.
        """
        parts = {
            "retrieval": self.stored - self.normal,
            "construction": self.raw - self.stored,
            "reader": 1 - self.raw,
            "total": 1 - self.normal,
        }
        return np.where(self.counted, parts[component], np.int8(0)).astype(np.int8)

    def by_component(self) -> dict[str, dict[str, int]]:
        """How many probes each component counts: lost there, and the other way."""
        found = {name: self.signs(name) for name in COMPONENTS}
        return {
            name: {"lost": int((signs > 0).sum()), "regained": int((signs < 0).sum())}
            for name, signs in found.items()
        }

    def by_stage(self) -> dict[Stage, int]:
        """How many probes were lost at each stage, over all cells."""
        counts: dict[Stage, int] = dict.fromkeys(STAGES, 0)
        for pattern in np.ndindex(2, 2, 2):
            normal, stored, raw = (bool(answer) for answer in pattern)
            here = (self.normal == normal) & (self.stored == stored) & (self.raw == raw)
            stage = stage_of(normal=normal, stored=stored, raw=raw)
            counts[stage] += int((here & self.counted).sum())
        return counts

    def of(self, places: BoolArray) -> "FollowedProbes":
        """The probes at some of the places, as a sequence that is made page by page."""
        return FollowedProbes(self, places & self.counted)

    def of_stage(self, stage: str) -> "FollowedProbes":
        """The probes that were lost at one stage."""
        places = np.zeros_like(self.counted)
        for pattern in np.ndindex(2, 2, 2):
            normal, stored, raw = (bool(answer) for answer in pattern)
            if stage_of(normal=normal, stored=stored, raw=raw) == stage:
                places |= (self.normal == normal) & (self.stored == stored) & (self.raw == raw)
        return self.of(places)


class FollowedProbes(Sequence[Followed]):
    """Followed probes by history and probe, then by cell."""

    def __init__(self, patterns: Patterns, places: BoolArray) -> None:
        self._patterns = patterns
        self._places = np.argwhere(places.T)

    def __len__(self) -> int:
        return int(self._places.shape[0])

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [self._one(*place) for place in self._places[at].tolist()]
        return self._one(*self._places[at].tolist())

    def __iter__(self) -> Iterator[Followed]:
        return (self._one(*place) for place in self._places.tolist())

    def _one(self, column: int, row: int) -> Followed:
        patterns, cube = self._patterns, self._patterns.cube
        return Followed(
            history=cube.histories[int(cube.history_of_probe[column])],
            probe=cube.probe_keys[column],
            kind=str(cube.kinds[column]),
            cell=patterns.cells[row],
            normal=bool(patterns.normal[row, column]),
            stored=bool(patterns.stored[row, column]),
            raw=bool(patterns.raw[row, column]),
        )


def patterns(
    cube: Cube,
    name: str,
    *,
    cells: Sequence[Cell] | None = None,
    mask: BoolArray | None = None,
) -> Patterns:
    """Return the answers behind the decomposition of one format.

    Parameters
    ----------
    cube
        All answers.
    name
        The format.
    cells
        Only these matched cells; None: all of them.
    mask
        Shape (n_probes,): only these probes.

    Examples
    --------
    >>> cube = Cube.of(
    ...     {
    ...         Cell("notes", "", "A", "B"): {"h": [1, 0, 0, 0]},
    ...         Cell("notes", "", "A", "B", "stored_evidence"): {"h": [1, 1, 0, 0]},
    ...         Cell("*", "", "*", "B", "raw_evidence"): {"h": [1, 1, 1, 0]},
    ...     }
    ... )
    >>> patterns(cube, "notes").by_stage()
    {'construction': 1, 'retrieval': 1, 'reading': 1, 'none': 1, 'no stage': 0}
    """
    chosen = tuple(matched_cells(cube, name) if cells is None else cells)
    total = decompose(cube, name, cells=chosen, mask=mask).total
    assert total.per_history is not None
    histories = total.per_history.defined[cube.history_of_probe]
    asked = histories if mask is None else histories & mask
    normal = np.stack([_right(cube, cell) for cell in chosen])
    stored = np.stack([_right(cube, stored_cell(cell)) for cell in chosen])
    raw = np.stack([_right(cube, raw_cell(cube, cell)) for cell in chosen])
    # Where a history is counted, every cell asked the same probes; not all of a history's columns.
    put = np.stack([cube.correct[cube.row[cube.lowest(cell)]] >= 0 for cell in chosen])
    counted = np.asarray(put & asked, dtype=np.bool_)
    return Patterns(cube, chosen, normal, stored, raw, counted)


def _right(cube: Cube, cell: Cell) -> Signs:
    row = cube.row.get(cube.lowest(cell))
    if row is None:
        return np.zeros(len(cube.probe_keys), dtype=np.int8)
    return np.asarray(cube.correct[row] == RIGHT, dtype=np.int8)
