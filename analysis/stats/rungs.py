"""Repair rung by rung: what each method brings back at each budget, and what it costs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.stats.cells import Cell, CellCounts, Cube
from analysis.stats.figures import Estimate, Figure, PerHistory
from analysis.stats.inference import estimate
from analysis.stats.metrics import comparable
from analysis.stats.recovery import (
    TARGETS,
    Recovery,
    Try,
    cost_to_recover,
    repaired_stores,
    tries_by_method,
    unrepaired,
)


@dataclass(frozen=True, slots=True)
class RungResult:
    """One method at one rung (rung 0: no repair).

    Attributes
    ----------
    at_targets
        One recovery per target, of this rung alone.
    accuracy
        Of the repaired store.
    recovered
        Its accuracy over that of the fresh store, per history: 1 is "as good as fresh".
    mean_cost
        Over all histories with a known cost, successful or not.
    """

    format: str
    old: str
    new: str
    method: str
    rung: int
    at_targets: tuple[Recovery, ...]
    accuracy: Estimate
    recovered: Estimate
    mean_cost: Figure
    unit: str

    def as_json(self) -> dict[str, Any]:
        """Return every part; the histories are named once, in `recovered` and `accuracy`."""
        return {
            "format": self.format,
            "old": self.old,
            "new": self.new,
            "method": self.method,
            "rung": self.rung,
            "unit": self.unit,
            "at_targets": [
                {
                    "target": found.target,
                    "n_success": found.n_success,
                    "n_histories": found.n_histories,
                    "median_cost": found.median_cost.as_json(),
                }
                for found in self.at_targets
            ],
            "accuracy": self.accuracy.as_json(),
            "recovered": self.recovered.as_json(),
            "mean_cost": self.mean_cost.as_json(),
        }


def share_recovered(repaired: CellCounts, fresh: CellCounts) -> PerHistory:
    """``a_repaired / a_fresh`` per history, shape (n_histories,), a ratio.

    Undefined where a cell is missing, unscored or asked other probes, and where the fresh store
    scores 0.

    Examples
    --------
    >>> fresh = CellCounts.of(["a", "b"], [8, 0], [10, 10])
    >>> found = share_recovered(CellCounts.of(["a", "b"], [4, 1], [10, 10]), fresh)
    >>> float(found.values[0]), found.reasons[1]
    (0.5, 'the fresh store scores 0')
    """
    same, reasons = comparable(repaired, fresh)
    known = same & (fresh.correct > 0)
    values = np.divide(repaired.correct, fresh.correct, where=known, out=np.zeros(known.shape))
    why = tuple(
        reason or ("" if is_known else "the fresh store scores 0")
        for reason, is_known in zip(reasons, known.tolist(), strict=True)
    )
    return PerHistory(fresh.histories, values, known, why)


def rung_results(
    cube: Cube, *, targets: Sequence[float] = TARGETS, unit: str = "usd"
) -> list[RungResult]:
    """Every method at every rung, of every format and direction, and `none` at rung 0.

    Parameters
    ----------
    cube
        All answers, with costs.
    targets
        X, fractions of the fresh store's accuracy.
    unit
        usd, tokens or gpu_hours: the column ``cost_<unit>``.

    Notes
    -----
    Source: protocol.md, "Repair"; the paper, section 2.3. A rung that stopped at its output limit
    is measured with the degraded store and charged in full, as its rows say.

    Examples
    --------
    >>> direction = {"format": "notes", "writer": "A", "reader": "B"}
    >>> cube = Cube.of(
    ...     {
    ...         Cell(**direction): {"h": [1, 0, 0, 0]},
    ...         Cell(**direction, repair="fresh"): {"h": [1, 1, 1, 1]},
    ...         Cell(**direction, repair="notes_store", rung=1): {"h": [1, 1, 0, 0]},
    ...     }
    ... )
    >>> [(found.method, found.rung, found.recovered.value) for found in rung_results(cube)]
    [('none', 0, 0.25), ('notes_store', 1, 0.5)]
    """
    results = []
    for name, embedder, old, new in repaired_stores(cube):
        fresh = cube.first(Cell(name, embedder, old, new, repair="fresh"))
        about = {"format": name, "old": old, "new": new}
        none, source = unrepaired(cube, name, embedder, old, new)
        results += [_result(one, fresh, "none", targets, unit, about, source) for one in none]
        for method, tries in tries_by_method(cube, name, embedder, old, new, unit).items():
            results += [_result(one, fresh, method, targets, unit, about) for one in tries]
    return results


def _result(
    one: Try, fresh: CellCounts, method: str, targets: Sequence[float], unit: str,
    about: dict[str, str], source: str = "",
) -> RungResult:  # fmt: skip
    known = one.cost[~np.isnan(one.cost)]
    return RungResult(
        **about,
        method=method,
        rung=one.rung,
        at_targets=tuple(
            cost_to_recover(
                [one], fresh, target=target, unit=unit, method=method, source=source, **about
            )
            for target in targets
        ),
        accuracy=estimate(one.counts.accuracy(), unit="accuracy", keep_values=False),
        recovered=estimate(share_recovered(one.counts, fresh), unit="ratio"),
        mean_cost=Figure.ok(float(known.mean()))
        if known.size
        else Figure.undefined("no cost is given"),
        unit=unit,
    )
