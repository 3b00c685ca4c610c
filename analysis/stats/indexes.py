"""The embedding upgrade: what every index reaches, and how far it is from the old and full one."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from analysis.stats.cells import Cell, CellCounts, Cube
from analysis.stats.contrasts import subtract
from analysis.stats.figures import Estimate, Figure, PerHistory
from analysis.stats.inference import estimate
from analysis.stats.metrics import difference, mean_of
from analysis.stats.retrieval import nothing, recall_at_k, reciprocal_rank

ORACLES = frozenset({"router"})
FULL, OLD = "full", "old"
Key = tuple[str, str]  # embedder, reader
Cells = dict[str, dict[Key, Cell]]  # by index


@dataclass(frozen=True, slots=True)
class Against:
    """An index less another one, within each history: positive is better.

    Each part has its own unit: accuracy in pp, recall@8 and MRR as fractions.
    """

    accuracy_pp: Estimate
    recall: Estimate
    mrr: Estimate

    def as_json(self) -> dict[str, Any]:
        """Return every part."""
        return {
            "accuracy_pp": self.accuracy_pp.as_json(),
            "recall_at_8": self.recall.as_json(),
            "mrr": self.mrr.as_json(),
        }


@dataclass(frozen=True, slots=True)
class IndexResult:
    """One index, averaged over its readers within each history.

    Attributes
    ----------
    index, deployable
        Its name; False for an oracle, which knows where the evidence is.
    accuracy, recall, mrr
        Fractions, with their intervals across histories.
    gain
        This index less the old one, history by history.
    behind_full
        This index less the full one, history by history.
    forfeited, forfeited_recall, forfeited_mrr
        ``1 − gain / gain of the full index``, ratios of pooled means.
    """

    index: str
    deployable: bool
    accuracy: Estimate
    recall: Estimate
    mrr: Estimate
    gain: Against
    behind_full: Against
    forfeited: Figure
    forfeited_recall: Figure
    forfeited_mrr: Figure

    @property
    def gain_pp(self) -> Estimate:
        """Accuracy gained over the old index, pp."""
        return self.gain.accuracy_pp

    def as_json(self) -> dict[str, Any]:
        """Return every part."""
        return {
            "index": self.index,
            "deployable": self.deployable,
            "accuracy": self.accuracy.as_json(),
            "gain_pp": self.gain_pp.as_json(),
            "recall_at_8": self.recall.as_json(),
            "mrr": self.mrr.as_json(),
            "gain_over_old": self.gain.as_json(),
            "behind_full": self.behind_full.as_json(),
            "share_of_gain_forfeited": self.forfeited.as_json(),
            "share_of_recall_gain_forfeited": self.forfeited_recall.as_json(),
            "share_of_mrr_gain_forfeited": self.forfeited_mrr.as_json(),
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


def index_cells(cube: Cube, *, name: str = "rag") -> Cells:
    """Cells by index, and within by (embedder, reader).

    Examples
    --------
    >>> cells = [Cell("rag", "new", "", reader, index="mixed") for reader in "AB"]
    >>> found = index_cells(Cube.of({cell: {"h": [1]} for cell in cells}))
    >>> {index: sorted(within) for index, within in found.items()}
    {'mixed': [('new', 'A'), ('new', 'B')]}
    """
    found: Cells = {}
    for cell in cube.first_repeats():
        if cell.format == name and cell.index and cell.condition == "normal" and not cell.repair:
            found.setdefault(cell.index, {})[cell.embedder, cell.reader] = cell
    return found


def indexes(cube: Cube, *, name: str = "rag", reader: str | None = None) -> list[IndexResult]:
    """Accuracy, recall@8 and MRR of every index, and the distance to the old and the full one.

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
        In the order old, by migrated share, then the others. A share forfeited is undefined where
        the full index gains nothing, and for the old, the full and the oracle's index.

    Notes
    -----
    Source: the paper, Table 4; protocol.md, "Embedding upgrade". Differences are taken between the
    same reader's cells, whatever their embedder.

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
    gains = {index: _against(cube, cells, index, OLD) for index in cells}
    return [
        _result(cube, cells, index, gains[index], gains.get(FULL))
        for index in sorted(cells, key=_order)
    ]


def _result(
    cube: Cube, cells: Cells, index: str, gain: Against, full: Against | None
) -> IndexResult:
    def forfeited(of: Callable[[Against], Estimate]) -> Figure:
        return _forfeited(index, of(gain), None if full is None else of(full))

    return IndexResult(
        index=index,
        deployable=index not in ORACLES,
        accuracy=_mean(cells[index], lambda c: cube.counts(c).accuracy(), "accuracy"),
        recall=_mean(cells[index], lambda c: recall_at_k(cube, c), "recall"),
        mrr=_mean(cells[index], lambda c: reciprocal_rank(cube, c), "mrr"),
        gain=gain,
        behind_full=_against(cube, cells, index, FULL),
        forfeited=forfeited(lambda against: against.accuracy_pp),
        forfeited_recall=forfeited(lambda against: against.recall),
        forfeited_mrr=forfeited(lambda against: against.mrr),
    )


def _order(index: str) -> tuple[int, float, str]:
    share = migrated_share(index)
    if index == OLD:
        return (0, 0.0, index)
    return (2, 0.0, index) if share is None else (1, share, index)


def _mean(cells: dict[Key, Cell], value: Callable[[Cell], PerHistory], unit: str) -> Estimate:
    return estimate(mean_of([value(cell) for cell in cells.values()]), unit=unit)


def _against(cube: Cube, cells: Cells, index: str, base: str) -> Against:
    """An index less `base`, cell by cell of the same reader, then the mean over readers."""
    other = {reader: cell for (_, reader), cell in cells.get(base, {}).items()}

    def change(of: Callable[[Cell, Cell], PerHistory], unit: str, factor: float = 1) -> Estimate:
        if index == base:
            return estimate(nothing(cube, f"the {base} index is what is compared with"), unit=unit)
        parts = [
            of(cell, other[reader])
            if reader in other
            else nothing(cube, f"the {base} index was not read by this reader")
            for (_, reader), cell in cells[index].items()
        ]
        return estimate(mean_of(parts).scaled(factor), unit=unit)

    def counts(cell: Cell) -> CellCounts:
        return cube.counts(cell)

    return Against(
        change(lambda a, b: difference(counts(a), counts(b)), "pp", 100),
        change(lambda a, b: subtract(recall_at_k(cube, a), recall_at_k(cube, b)), "recall"),
        change(lambda a, b: subtract(reciprocal_rank(cube, a), reciprocal_rank(cube, b)), "mrr"),
    )


def _forfeited(index: str, gain: Estimate, full: Estimate | None) -> Figure:
    if index in (OLD, FULL) or index in ORACLES:
        return Figure.undefined("a share forfeited belongs to a partial migration")
    if full is None or full.value is None or gain.value is None:
        reason = gain.figure.reason if gain.value is None else ""
        return Figure.undefined(reason or "the gain of the full index is not known")
    if full.value <= 0:
        return Figure.undefined("the full index gains nothing over the old one")
    return Figure.ok(1 - gain.value / full.value)
