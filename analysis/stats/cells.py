"""Answers as arrays: a matrix of cells × probes, and the integer counts of a cell per history."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from analysis.stats.figures import BoolArray, FloatArray, IntArray, PerHistory
from stores.counting import count_of, was_or_were

RIGHT, WRONG, BLANK, ABSENT = 1, 0, -1, -2
Codes = npt.NDArray[np.int8]
ANY = "*"
NOT_ASKED = "answers were not asked"
# Formats whose isolated items can do worse than their normal read, which follows links between
# them: the controlled condition is then no replacement for the way of reading.
READ_BY_TRAVERSAL = frozenset({"kg_fixed"})


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """What is read by whom under which condition: an evaluation without its history."""

    format: str
    embedder: str = ""
    writer: str = ""
    reader: str = ""
    condition: str = "normal"
    index: str = ""
    repair: str = ""
    rung: int = 0
    repeat: int = 0

    def label(self) -> str:
        """The parts that are not at their default, in one line."""
        parts = [
            self.format,
            self.embedder,
            f"{self.writer or 'nobody'} → {self.reader or 'nobody'}",
        ]
        parts.append("" if self.condition == "normal" else self.condition)
        parts += [self.index, self.repair, f"rung {self.rung}" if self.rung else ""]
        parts.append(f"repeat {self.repeat}" if self.repeat else "")
        return ", ".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class CellCounts:
    """How many probes of each history one cell got right; integers: floats fail at equality.

    `nobody`: the cell has no reader; its evidence was ranked and answers were not asked. All
    arrays have shape (n_histories,). `probe_set` is a fingerprint of the probes that were
    asked: cells over different probes of a history cannot be compared.
    """

    histories: tuple[str, ...]
    correct: IntArray
    probes: IntArray
    blank: IntArray
    probe_set: npt.NDArray[np.uint64]
    nobody: bool = False

    @classmethod
    def of(
        cls,
        histories: Iterable[str],
        correct: Iterable[int],
        probes: Iterable[int],
        blank: Iterable[int] | None = None,
    ) -> "CellCounts":
        """Return counts from plain numbers; equal numbers of probes mean equal probes.

        Examples
        --------
        >>> CellCounts.of(["a", "b"], [3, 5], [5, 5]).accuracy().values
        array([0.6, 1. ])
        """
        names, asked = tuple(histories), np.array(list(probes), dtype=np.int64)
        never = np.zeros_like(asked) if blank is None else np.array(list(blank), dtype=np.int64)
        right = np.array(list(correct), dtype=np.int64)
        return cls(names, right, asked, never, asked.astype(np.uint64))

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the accuracy of a history is undefined; empty where it is not."""
        return tuple(
            "the cell is missing"
            if asked == 0
            else NOT_ASKED
            if self.nobody
            else f"{never} of {count_of(asked, 'answer')} {was_or_were(never)} never scored"
            if never
            else ""
            for asked, never in zip(self.probes.tolist(), self.blank.tolist(), strict=True)
        )

    @property
    def defined(self) -> BoolArray:
        """Where every answer was scored and there is at least one."""
        return np.asarray((self.probes > 0) & (self.blank == 0) & (not self.nobody))

    def accuracy(self) -> PerHistory:
        """Share of right answers per history, a fraction; undefined where a score is missing."""
        values = self.correct / np.maximum(self.probes, 1)
        return PerHistory(self.histories, values, self.defined, self.reasons)


@dataclass(frozen=True)
class Cube:
    """All answers of one study.

    Attributes
    ----------
    histories
        Keys, sorted: the order of every per-history array.
    starts
        Shape (n_histories,): where the probes of a history begin in the columns.
    probe_keys, kinds, memory_classes, screening
        Shape (n_probes,): what each column is. Columns are sorted by history, then by probe key.
    cells
        The rows, sorted.
    correct
        Shape (n_cells, n_probes): 1 right, 0 wrong, -1 never scored, -2 not asked.
    rank, recall
        By row, shape (n_probes,), NaN where empty; rows without any are left out.
    costs
        By unit (cost_usd, cost_tokens, cost_gpu_hours), shape (n_cells, n_histories), NaN where
        empty.
    """

    histories: tuple[str, ...]
    starts: IntArray
    probe_keys: tuple[str, ...]
    kinds: npt.NDArray[np.object_]
    memory_classes: npt.NDArray[np.object_]
    screening: BoolArray
    cells: tuple[Cell, ...]
    correct: Codes
    rank: Mapping[int, FloatArray]
    recall: Mapping[int, FloatArray]
    costs: Mapping[str, FloatArray]

    @classmethod
    def of(
        cls, answers: Mapping[Cell, Mapping[str, Sequence[int | None]]], *, screening: int = 0
    ) -> "Cube":
        """Return a cube from scores (1, 0, None: never scored) by cell and history.

        The probes of a history are p00, p01, …, all of kind "direct"; the first `screening` of each
        are the quick check's. For examples and tests; rows of a table go through
        `analysis.arrays`.

        Examples
        --------
        >>> cube = Cube.of({Cell("notes", "", "A", "B"): {"h1": [1, 0, 1, None]}})
        >>> counts = cube.counts(cube.cells[0])
        >>> counts.correct, counts.probes, counts.blank
        (array([2]), array([4]), array([1]))
        """
        histories = tuple(sorted({history for scores in answers.values() for history in scores}))
        n_probes = [max(len(scores.get(h, ())) for scores in answers.values()) for h in histories]
        starts = np.cumsum([0, *n_probes], dtype=np.int64)[:-1]
        cells, total = tuple(sorted(answers)), sum(n_probes)
        correct = np.full((len(cells), total), ABSENT, dtype=np.int8)
        for row, cell in enumerate(cells):
            for history, scores in answers[cell].items():
                start = int(starts[histories.index(history)])
                coded = [BLANK if score is None else score for score in scores]
                correct[row, start : start + len(coded)] = coded
        number = [position for n in n_probes for position in range(n)]
        return cls(
            histories=histories,
            starts=starts,
            probe_keys=tuple(f"p{position:02}" for position in number),
            kinds=np.full(total, "direct", dtype=object),
            memory_classes=np.full(total, "", dtype=object),
            screening=np.array([position < screening for position in number], dtype=np.bool_),
            cells=cells,
            correct=correct,
            rank={},
            recall={},
            costs={},
        )

    @cached_property
    def row(self) -> dict[Cell, int]:
        """The row of a cell."""
        return {cell: position for position, cell in enumerate(self.cells)}

    @cached_property
    def history_of_probe(self) -> IntArray:
        """Shape (n_probes,): the position of the history that a column belongs to."""
        return np.repeat(np.arange(len(self.histories)), self.probes_per_history)

    @cached_property
    def probes_per_history(self) -> IntArray:
        """Shape (n_histories,): how many probes a history has, in whatever cell."""
        return np.diff(np.append(self.starts, len(self.probe_keys)))

    @cached_property
    def _weights(self) -> npt.NDArray[np.uint64]:
        rng = np.random.default_rng(0)
        return rng.integers(1, 2**63, len(self.probe_keys), dtype=np.uint64)

    def per_history(self, by_probe: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
        """Sum a (…, n_probes) array over the probes of each history."""
        kind = np.uint64 if by_probe.dtype == np.uint64 else np.int64
        dtype = by_probe.dtype if by_probe.dtype.kind == "f" else kind
        return np.asarray(np.add.reduceat(by_probe, self.starts, axis=-1, dtype=dtype))

    def counts(self, cell: Cell, mask: BoolArray | None = None) -> CellCounts:
        """Counts of one cell per history; a cell that the study lacks has no probes anywhere.

        Parameters
        ----------
        cell
            The cell, with its repeat.
        mask
            Shape (n_probes,): count only these columns.
        """
        position = self.row.get(cell)
        if position is None:
            zero = np.zeros(len(self.histories), dtype=np.int64)
            return CellCounts(self.histories, zero, zero, zero, zero.astype(np.uint64))
        codes = self.correct[position]
        if mask is not None:
            codes = np.where(mask, codes, np.int8(ABSENT))
        asked = codes != ABSENT
        return CellCounts(
            self.histories,
            np.asarray(self.per_history(codes == RIGHT), dtype=np.int64),
            np.asarray(self.per_history(asked), dtype=np.int64),
            np.asarray(self.per_history(codes == BLANK), dtype=np.int64),
            np.asarray(self.per_history(np.where(asked, self._weights, np.uint64(0)))).astype(
                np.uint64
            ),
            nobody=not cell.reader,
        )

    @cached_property
    def _lowest(self) -> dict[tuple[object, ...], Cell]:
        lowest: dict[tuple[object, ...], Cell] = {}
        for cell in self.cells:
            lowest.setdefault(without_repeat(cell), cell)
        return lowest

    def first(self, cell: Cell, mask: BoolArray | None = None) -> CellCounts:
        """Counts of the lowest repeat of a cell, whatever its number: the headline."""
        return self.counts(self._lowest.get(without_repeat(cell), cell), mask)

    def lowest(self, cell: Cell) -> Cell:
        """The lowest repeat of a cell; the cell itself where the study lacks it."""
        return self._lowest.get(without_repeat(cell), cell)

    def select(self, accept: Callable[[Cell], bool]) -> list[Cell]:
        """The cells that a condition accepts, sorted."""
        return [cell for cell in self.cells if accept(cell)]

    def first_repeats(self) -> list[Cell]:
        """The lowest repeat of every cell: the headline; further repeats measure noise alone."""
        return list(self._lowest.values())

    def repeats(self) -> list[list[Cell]]:
        """Cells that were measured more than once, each with all its repeats in order."""
        groups: dict[tuple[object, ...], list[Cell]] = {}
        for cell in self.cells:
            groups.setdefault(without_repeat(cell), []).append(cell)
        return [group for group in groups.values() if len(group) > 1]


def without_repeat(cell: Cell) -> tuple[object, ...]:
    """The key of a cell but its repeat.

    Examples
    --------
    >>> without_repeat(Cell("rag", reader="B")) == without_repeat(Cell("rag", reader="B", repeat=2))
    True
    """
    return (
        cell.format, cell.embedder, cell.writer, cell.reader,
        cell.condition, cell.index, cell.repair, cell.rung,
    )  # fmt: skip
