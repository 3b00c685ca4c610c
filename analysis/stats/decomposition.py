"""Where memory is lost: while it is written, while it is retrieved, or by the reader."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from analysis.stats.cells import ANY, READ_BY_TRAVERSAL, Cell, CellCounts, Cube
from analysis.stats.figures import BoolArray, Estimate, Figure, PerHistory
from analysis.stats.inference import estimate
from analysis.stats.metrics import difference, mean_of

COMPONENTS = ("retrieval", "construction", "reader")


@dataclass(frozen=True, slots=True)
class Loss:
    """The parts of the distance to a perfect score, fractions; they add up to the total.

    `shares` are ratios of pooled means. A negative part is kept as it is.
    """

    format: str
    cells: tuple[Cell, ...]
    total: Estimate
    components: dict[str, Estimate]
    shares: dict[str, Figure]
    left_out_because: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return every part."""
        return {
            "format": self.format,
            "cells": [{"writer": c.writer, "reader": c.reader} for c in self.cells],
            "total": self.total.as_json(),
            "components": {name: part.as_json() for name, part in self.components.items()},
            "shares": {name: share.as_json() for name, share in self.shares.items()},
            "left_out_because": self.left_out_because,
        }


def cell_losses(normal: CellCounts, stored: CellCounts, raw: CellCounts) -> dict[str, PerHistory]:
    """Losses of one matched cell per history, fractions.

    ``retrieval = a_stored − a_normal``, ``construction = a_raw − a_stored``,
    ``reader = 1 − a_raw``, ``total = 1 − a_normal``, their sum.

    Returns
    -------
    dict of str to PerHistory
        Undefined in a history where a condition is missing, unscored, or asked other probes.

    Notes
    -----
    Source: the paper, appendix D; statistics.md, row "Loss".

    Examples
    --------
    >>> normal, stored, raw = (CellCounts.of(["a"], [k], [10]) for k in (4, 5, 9))
    >>> parts = cell_losses(normal, stored, raw)
    >>> [round(float(part.values[0]), 6) for part in parts.values()]
    [0.1, 0.4, 0.1, 0.6]
    """
    whole = CellCounts(raw.histories, raw.probes, raw.probes, raw.blank, raw.probe_set)
    parts = {
        "retrieval": difference(stored, normal),
        "construction": difference(raw, stored),
        "reader": difference(whole, raw),
        "total": difference(whole, normal),
    }
    everywhere = mean_of(list(parts.values()))
    return {
        name: PerHistory(part.histories, part.values, everywhere.defined, everywhere.reasons)
        for name, part in parts.items()
    }


def matched_cells(cube: Cube, name: str) -> list[Cell]:
    """The normal cells of a format that were also read with the stored evidence supplied.

    Examples
    --------
    >>> normal = [Cell("notes", "", writer, "B") for writer in "AB"]
    >>> cube = Cube.of({cell: {"h": [1]} for cell in [*normal, stored_cell(normal[1])]})
    >>> matched_cells(cube, "notes") == [normal[1]]
    True
    """
    stored = [
        cell
        for cell in cube.first_repeats()
        if cell.format == name and cell.condition == "stored_evidence" and not cell.repair
    ]
    return [Cell(c.format, c.embedder, c.writer, c.reader, index=c.index) for c in stored]


def raw_cell_keys(name: str, writer: str) -> tuple[tuple[str, str], ...]:
    """Format and writer of the cells that may hold the raw evidence, the nearest first.

    Examples
    --------
    >>> raw_cell_keys("notes", "A")
    (('notes', 'A'), ('notes', ''), ('*', '*'), ('*', ''))
    """
    return ((name, writer), (name, ""), (ANY, ANY), (ANY, ""))


def raw_cell(cube: Cube, cell: Cell) -> Cell:
    """The cell with the raw evidence: of this format, or the one that all formats share.

    Examples
    --------
    >>> shared = Cell("*", "", "*", "B", "raw_evidence")
    >>> raw_cell(Cube.of({shared: {"h": [1]}}), Cell("notes", "", "A", "B")) == shared
    True
    """
    for name, writer in raw_cell_keys(cell.format, cell.writer):
        candidate = Cell(name, "", writer, cell.reader, "raw_evidence")
        if cube.lowest(candidate) in cube.row:
            return candidate
    return candidate


def raw_counts(cube: Cube, cell: Cell, mask: BoolArray | None = None) -> CellCounts:
    """Counts with the raw evidence: of this format, or those that all formats of a reader share.

    Examples
    --------
    >>> cube = Cube.of({Cell("*", "", "*", "B", "raw_evidence"): {"h": [1, 1, 0]}})
    >>> raw_counts(cube, Cell("notes", "", "A", "B")).correct
    array([2])
    """
    return cube.first(raw_cell(cube, cell), mask)


def stored_cell(cell: Cell) -> Cell:
    """The same cell read with its stored evidence supplied.

    Examples
    --------
    >>> stored_cell(Cell("notes", "", "A", "B")) == Cell("notes", "", "A", "B", "stored_evidence")
    True
    """
    return Cell(cell.format, cell.embedder, cell.writer, cell.reader, "stored_evidence", cell.index)


def decompose(
    cube: Cube,
    name: str,
    *,
    cells: Sequence[Cell] | None = None,
    mask: BoolArray | None = None,
    keep_values: bool = True,
) -> Loss:
    """Loss decomposition of one format.

    Differences are taken within each matched cell, then averaged over cells within a history, then
    over histories.

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
    keep_values
        Whether the estimates carry the values of the single histories.

    Returns
    -------
    Loss
        Shares are undefined where the total is 0 or undefined. `left_out_because` says why a format
        that is read by traversal does not belong in the comparison.

    Notes
    -----
    Source: the paper, appendix D and Table 6; statistics.md, row "Loss".

    Examples
    --------
    >>> cube = Cube.of(
    ...     {
    ...         Cell("notes", "", "A", "B"): {"h": [1, 0, 0, 0]},
    ...         Cell("notes", "", "A", "B", "stored_evidence"): {"h": [1, 1, 0, 0]},
    ...         Cell("*", "", "*", "B", "raw_evidence"): {"h": [1, 1, 1, 1]},
    ...     }
    ... )
    >>> loss = decompose(cube, "notes")
    >>> loss.total.value, [loss.components[name].value for name in COMPONENTS]
    (0.75, [0.25, 0.5, 0.0])
    """
    chosen = list(matched_cells(cube, name) if cells is None else cells)
    if not chosen:
        raise ValueError(f"no cell of {name} was read with its stored evidence")
    by_cell = [
        cell_losses(
            cube.first(cell, mask),
            cube.first(stored_cell(cell), mask),
            raw_counts(cube, cell, mask),
        )
        for cell in chosen
    ]
    means = {part: mean_of([losses[part] for losses in by_cell]) for part in (*COMPONENTS, "total")}
    estimates = {
        part: estimate(values, unit="accuracy", keep_values=keep_values)
        for part, values in means.items()
    }
    total = estimates.pop("total")
    shares = {part: _share(estimates[part], total) for part in COMPONENTS}
    return Loss(name, tuple(chosen), total, estimates, shares, _left_out(cube, name, chosen))


def _share(part: Estimate, total: Estimate) -> Figure:
    if part.value is None or total.value is None:
        return Figure.undefined(total.figure.reason or part.figure.reason)
    if abs(total.value) < 1e-12:
        return Figure.undefined("nothing is lost: the total is 0")
    return Figure.ok(part.value / total.value)


def _left_out(cube: Cube, name: str, cells: Sequence[Cell]) -> str:
    if name not in READ_BY_TRAVERSAL:
        return ""
    changes = [difference(cube.first(stored_cell(cell)), cube.first(cell)) for cell in cells]
    mean = estimate(mean_of(changes), unit="accuracy")
    if mean.value is None or mean.value >= 0:
        return ""
    return (
        f"its items, supplied alone, do worse than its normal read ({100 * mean.value:+.1f} pp): "
        "the controlled condition is no replacement for reading the graph"
    )
