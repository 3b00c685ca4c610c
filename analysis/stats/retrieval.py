"""Retrieval: recall@8 and MRR of a cell, per history."""

from typing import Any

import numpy as np

from analysis.stats.cells import ABSENT, Cell, Cube
from analysis.stats.figures import PerHistory
from stores.counting import count_of

TOP_K = 8


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
    row = cube.row.get(cell, -1)
    ranks = cube.rank.get(row)
    if ranks is None and row in cube.recall:
        # Recall was measured, and no probe had its evidence retrieved: every rank is empty.
        ranks = np.full(len(cube.probe_keys), np.nan)
    if ranks is None:
        return nothing(cube, "no rank is given")
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
        return nothing(cube, "no recall is given")
    asked = cube.correct[cube.row[cell]] != ABSENT
    blank = np.asarray(cube.per_history(asked & np.isnan(recalls)))
    found = _mean_over_probes(cube, cell, np.nan_to_num(recalls))
    reasons = tuple(
        reason or (f"the recall of {count_of(n, 'probe')} is not given" if n else "")
        for reason, n in zip(found.reasons, blank.tolist(), strict=True)
    )
    return PerHistory(found.histories, found.values, found.defined & (blank == 0), reasons)


def nothing(cube: Cube, reason: str) -> PerHistory:
    """No value in any history, for one reason.

    Examples
    --------
    >>> nothing(Cube.of({Cell("rag", reader="A"): {"h": [1]}}), "no rank is given").reasons
    ('no rank is given',)
    """
    n = len(cube.histories)
    return PerHistory(cube.histories, np.zeros(n), np.zeros(n, dtype=np.bool_), (reason,) * n)


def _mean_over_probes(cube: Cube, cell: Cell, values: Any) -> PerHistory:
    asked = cube.correct[cube.row[cell]] != ABSENT
    n = np.asarray(cube.per_history(asked), dtype=np.int64)
    total = np.asarray(cube.per_history(np.where(asked, values, 0.0)), dtype=np.float64)
    reasons = tuple("" if count else "the cell is missing" for count in n.tolist())
    return PerHistory(cube.histories, total / np.maximum(n, 1), n > 0, reasons)
