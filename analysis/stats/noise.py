"""The noise floor: how much accuracy moves when the same cell is read again, live."""

from itertools import combinations

import numpy as np

from analysis.stats.cells import Cube
from analysis.stats.figures import BoolArray, Estimate, Figure, Interval
from analysis.stats.inference import LEVEL, T_METHOD, spread
from analysis.stats.metrics import difference

NOT_MEASURED = "not measured: no cell was read twice"


def noise_floor_pp(cube: Cube, *, formats: frozenset[str] | None = None) -> Estimate:
    """Mean absolute accuracy change between live repeats of the same cell, percentage points.

    For each cell and history, the mean of ``100 · |a_i − a_j|`` over the pairs of its repeats;
    then the mean over cells and histories.

    Parameters
    ----------
    cube
        All answers.
    formats
        Only the cells of these formats; None: all.

    Returns
    -------
    Estimate
        Undefined ("not measured") where no cell has two repeats. `n_histories` counts the histories
        with a repeated cell. There is no interval: repeats are few and share their histories.

    Notes
    -----
    Source: statistics.md, row "Noise floor"; the paper, section 3.2 (0.0016).

    Examples
    --------
    >>> from analysis.stats.cells import Cell
    >>> once, again = Cell("notes", "", "A", "B"), Cell("notes", "", "A", "B", repeat=1)
    >>> noise_floor_pp(Cube.of({once: {"h": [1, 1, 0, 0]}, again: {"h": [1, 0, 0, 0]}})).value
    25.0
    """
    changes, seen = [], np.zeros(len(cube.histories), dtype=np.bool_)
    for group in cube.repeats():
        if formats is not None and group[0].format not in formats:
            continue
        counts = [cube.counts(cell) for cell in group]
        pairs = [difference(a, b) for a, b in combinations(counts, 2)]
        for position in range(len(cube.histories)):
            moved = [abs(float(p.values[position])) for p in pairs if p.defined[position]]
            if moved:
                changes.append(100 * float(np.mean(moved)))
                seen[position] = True
    return _floor(np.array(changes), seen)


def _floor(changes: "np.typing.NDArray[np.float64]", seen: BoolArray) -> Estimate:
    none = Interval(None, None, LEVEL, T_METHOD, "a noise floor has no interval")
    if not changes.size:
        figure = Figure.undefined(NOT_MEASURED)
        return Estimate(figure, none, Figure.undefined(NOT_MEASURED), 0, "pp")
    return Estimate(Figure.ok(float(changes.mean())), none, spread(changes), int(seen.sum()), "pp")
