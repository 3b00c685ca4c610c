"""Arrays from counts: enough for every figure that rests on accuracies."""

import numpy as np

from analysis.stats.cells import Cell, Cube

PROBES = 160


def cube_of_counts(rows):
    """Return a cube in which the first probes of each cell and history are right."""
    rows = list(rows)
    histories = tuple(sorted({row["history"] for row in rows}))
    cells = tuple(sorted({_cell(row) for row in rows}))
    correct = np.zeros((len(cells), len(histories), PROBES), dtype=np.int8)
    costs = np.full((len(cells), len(histories)), np.nan)
    for row in rows:
        at = cells.index(_cell(row)), histories.index(row["history"])
        correct[at][: int(row["correct"])] = 1
        if row["cost_usd"]:
            costs[at] = float(row["cost_usd"])
    n = PROBES * len(histories)
    return Cube(
        histories=histories,
        starts=np.arange(0, n, PROBES),
        probe_keys=tuple(f"p{number:03}" for _ in histories for number in range(PROBES)),
        kinds=np.full(n, "direct", dtype=object),
        memory_classes=np.full(n, "", dtype=object),
        screening=np.zeros(n, dtype=bool),
        cells=cells,
        correct=correct.reshape(len(cells), n),
        rank={},
        recall={},
        costs={"cost_usd": costs},
    )


def _cell(row):
    return Cell(
        format=row["format"], writer=row["writer"], reader=row["reader"],
        condition=row["condition"], index=row["index"], repair=row["repair"],
        rung=int(row["rung"] or 0),
    )  # fmt: skip
