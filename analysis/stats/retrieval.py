"""Retrieval and the embedding upgrade: recall@8, MRR, and the gain of every index."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.stats.cells import ABSENT, Cell, Cube
from analysis.stats.figures import Estimate, Figure, PerHistory
from analysis.stats.inference import estimate
from analysis.stats.metrics import difference, mean_of
from stores.counting import count_of

TOP_K = 8
ORACLES = frozenset({"router"})
FULL, OLD = "full", "old"


def reciprocal_rank(cube: Cube, cell: Cell, *, top_k: int = TOP_K) -> PerHistory:
    """Mean over the probes of a history of ``1 / rank`` of the first relevant chunk.

    0 where none was retrieved or its rank lies beyond `top_k`.

    Returns
    -------
    PerHistory
        A fraction; undefined where the cell has no ranks at all, or lacks the history.

    Notes
    -----
    Source: statistics.md, row "recall@8, MRR"; the paper's Table 4.

    Examples
    --------
    >>> from dataclasses import replace
    >>> cell = Cell("rag", reader="A", index="full")
    >>> cube = Cube.of({cell: {"h": [1, 1, 0, 0]}})
    >>> cube = replace(cube, rank={0: np.array([1.0, 2.0, np.nan, 9.0])})
    >>> reciprocal_rank(cube, cell).values  # (1 + 1/2 + 0 + 0) / 4
    array([0.375])
    """
    ranks = cube.rank.get(cube.row.get(cell, -1))
    if ranks is None:
        return _nothing(cube, "no rank is given")
    with np.errstate(invalid="ignore"):
        values = np.where(ranks <= top_k, 1.0 / ranks, 0.0)
    return _mean_over_probes(cube, cell, values)


def recall_at_k(cube: Cube, cell: Cell) -> PerHistory:
    """Mean over the probes of a history of the share of relevant chunks in the top 8.

    Returns
    -------
    PerHistory
        A fraction; undefined where the recall of a probe is not given: an empty recall is not 0.

    Notes
    -----
    Source: statistics.md, row "recall@8, MRR"; the paper's Table 4.

    Examples
    --------
    >>> from dataclasses import replace
    >>> cell = Cell("rag", reader="A", index="full")
    >>> cube = replace(Cube.of({cell: {"h": [1, 1]}}), recall={0: np.array([1.0, 0.5])})
    >>> recall_at_k(cube, cell).values
    array([0.75])
    """
    recalls = cube.recall.get(cube.row.get(cell, -1))
    if recalls is None:
        return _nothing(cube, "no recall is given")
    asked = cube.correct[cube.row[cell]] != ABSENT
    blank = np.asarray(cube.per_history(asked & np.isnan(recalls)))
    found = _mean_over_probes(cube, cell, np.nan_to_num(recalls))
    reasons = tuple(
        reason or (f"the recall of {count_of(n, 'probe')} is not given" if n else "")
        for reason, n in zip(found.reasons, blank.tolist(), strict=True)
    )
    return PerHistory(found.histories, found.values, found.defined & (blank == 0), reasons)


def _nothing(cube: Cube, reason: str) -> PerHistory:
    n = len(cube.histories)
    return PerHistory(cube.histories, np.zeros(n), np.zeros(n, dtype=np.bool_), (reason,) * n)


def _mean_over_probes(cube: Cube, cell: Cell, values: Any) -> PerHistory:
    asked = cube.correct[cube.row[cell]] != ABSENT
    n = np.asarray(cube.per_history(asked), dtype=np.int64)
    total = np.asarray(cube.per_history(np.where(asked, values, 0.0)), dtype=np.float64)
    reasons = tuple("" if count else "the cell is missing" for count in n.tolist())
    return PerHistory(cube.histories, total / np.maximum(n, 1), n > 0, reasons)


@dataclass(frozen=True, slots=True)
class IndexResult:
    """One index, averaged over its readers within each history."""

    index: str
    deployable: bool
    accuracy: Estimate
    gain_pp: Estimate
    recall: Estimate
    mrr: Estimate
    forfeited: Figure

    def as_json(self) -> dict[str, Any]:
        """Return every part."""
        return {
            "index": self.index,
            "deployable": self.deployable,
            "accuracy": self.accuracy.as_json(),
            "gain_pp": self.gain_pp.as_json(),
            "recall_at_8": self.recall.as_json(),
            "mrr": self.mrr.as_json(),
            "share_of_gain_forfeited": self.forfeited.as_json(),
        }


def migrated_share(index: str) -> float | None:
    """The share of chunks with new vectors, percent; None where an index is no such mixture.

    Examples
    --------
    >>> migrated_share("mixed"), migrated_share("mixed_25"), migrated_share("router")
    (50.0, 25.0, None)
    """
    if index.startswith("mixed_"):
        return float(index.removeprefix("mixed_"))
    return {"mixed": 50.0, FULL: 100.0}.get(index)


def index_cells(cube: Cube, *, name: str = "rag") -> dict[str, dict[tuple[str, str], Cell]]:
    """Cells by index, and within by (embedder, reader)."""
    found: dict[str, dict[tuple[str, str], Cell]] = {}
    for cell in cube.first_repeats():
        if cell.format == name and cell.index and cell.condition == "normal" and not cell.repair:
            found.setdefault(cell.index, {})[cell.embedder, cell.reader] = cell
    return found


def indexes(cube: Cube, *, name: str = "rag", reader: str | None = None) -> list[IndexResult]:
    """Accuracy, gain over the old index, recall@8 and MRR of every index.

    Readers are averaged within each history first; the retrieval is the same for all of them.

    Parameters
    ----------
    cube
        All answers.
    name
        The format that has indexes.
    reader
        This reader alone; None: the mean over the readers of each index.

    Returns
    -------
    list of IndexResult
        In the order old, by migrated share, then the others. `forfeited` is
        ``1 − gain / gain of the full index``, a ratio of pooled means, undefined where the full
        index gains nothing.

    Notes
    -----
    Source: the paper, Table 4; protocol.md, "Embedding upgrade".

    Examples
    --------
    >>> scores = {"old": [1, 0, 0, 0], "mixed": [1, 1, 0, 0], "full": [1, 1, 1, 1]}
    >>> cube = Cube.of({Cell("rag", reader="A", index=i): {"h": s} for i, s in scores.items()})
    >>> [(found.index, found.gain_pp.value) for found in indexes(cube)]
    [('old', None), ('mixed', 25.0), ('full', 75.0)]
    """
    cells = {
        index: {key: cell for key, cell in by_key.items() if reader in (None, cell.reader)}
        for index, by_key in index_cells(cube, name=name).items()
    }
    cells = {index: by_key for index, by_key in cells.items() if by_key}
    gains = {index: _gain(cube, cells, index) for index in cells}
    full = gains.get(FULL)
    return [
        IndexResult(
            index=index,
            deployable=index not in ORACLES,
            accuracy=_mean(cells[index], lambda c: cube.counts(c).accuracy(), "accuracy"),
            gain_pp=gains[index],
            recall=_mean(cells[index], lambda c: recall_at_k(cube, c), "recall"),
            mrr=_mean(cells[index], lambda c: reciprocal_rank(cube, c), "mrr"),
            forfeited=_forfeited(index, gains[index], full),
        )
        for index in sorted(cells, key=_order)
    ]


def _order(index: str) -> tuple[int, float, str]:
    share = migrated_share(index)
    if index == OLD:
        return (0, 0.0, index)
    return (2, 0.0, index) if share is None else (1, share, index)


def _mean(cells: dict[tuple[str, str], Cell], value: Any, unit: str) -> Estimate:
    return estimate(mean_of([value(cell) for cell in cells.values()]), unit=unit)


def _gain(cube: Cube, cells: dict[str, dict[tuple[str, str], Cell]], index: str) -> Estimate:
    """Gain over the old index of the same reader, whatever its embedder."""
    if index == OLD:
        return estimate(_nothing(cube, "the old index is what gains are counted from"), unit="pp")
    old = {reader: cell for (_, reader), cell in cells.get(OLD, {}).items()}
    changes = [
        difference(cube.counts(cell), cube.counts(old[reader]))
        if reader in old
        else _nothing(cube, "the old index was not read by this reader")
        for (_, reader), cell in cells[index].items()
    ]
    return estimate(mean_of(changes).scaled(100), unit="pp")


def _forfeited(index: str, gain: Estimate, full: Estimate | None) -> Figure:
    if index in (OLD, FULL) or index in ORACLES:
        return Figure.undefined("a share forfeited belongs to a partial migration")
    if full is None or full.value is None or gain.value is None:
        return Figure.undefined("the gain of the full index is not known")
    if full.value <= 0:
        return Figure.undefined("the full index gains nothing over the old one")
    return Figure.ok(1 - gain.value / full.value)
