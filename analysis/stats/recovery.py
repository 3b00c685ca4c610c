"""Cost to recover: the cheapest repair that brings back a share of the own-store performance."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.stats.cells import Cell, CellCounts, Cube
from analysis.stats.figures import Figure
from analysis.stats.metrics import comparable, exact, reaches

TARGETS = (0.90, 0.95, 0.99)
NO_REPAIR = ("none", "fresh")
OLD_INDEX = "old"


@dataclass(frozen=True, slots=True)
class Try:
    """One repaired cell: its rung, its counts, what it cost in each history (NaN: not known)."""

    rung: int
    counts: CellCounts
    cost: Any


@dataclass(frozen=True, slots=True)
class Recovery:
    """Cost to recover of one method (or of all methods of a format) at one target.

    Attributes
    ----------
    target
        X, the share of the fresh store's accuracy to reach.
    costs
        One figure per history: the cheapest cost that reaches the target; unreachable where none
        does; undefined where a cell is missing or unscored.
    n_success, n_histories
        How many histories reach it, of those where it is defined.
    median_cost
        Over the successes alone: read it beside `n_success`.
    source
        Where the repaired cells come from, where they are not a repair's own.
    """

    format: str
    old: str
    new: str
    method: str
    target: float
    unit: str
    histories: tuple[str, ...]
    costs: tuple[Figure, ...]
    n_success: int
    n_histories: int
    median_cost: Figure
    source: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return every part, with one figure per history."""
        return {
            "format": self.format,
            "old": self.old,
            "new": self.new,
            "method": self.method,
            "target": self.target,
            "unit": self.unit,
            "n_success": self.n_success,
            "n_histories": self.n_histories,
            "median_cost": self.median_cost.as_json(),
            "source": self.source,
            "per_history": [
                {"history": history, **figure.as_json()}
                for history, figure in zip(self.histories, self.costs, strict=True)
            ],
        }


def cost_to_recover(
    tries: Sequence[Try],
    fresh: CellCounts,
    *,
    target: float,
    unit: str = "usd",
    **about: str,
) -> Recovery:
    """``CTR(X) = min cost over the tries with a_repaired ≥ X · a_fresh``, per history.

    The condition is decided on integer counts: ``k_r · n_f · q ≥ p · k_f · n_r`` for X = p / q.

    Parameters
    ----------
    tries
        The method × rung cells of one format and direction, each asked the same probes as `fresh`.
    fresh
        The new model on the store that it wrote itself, in the same run.
    target
        X, a fraction.
    unit
        The unit of the costs.
    about
        format, old, new, method, source.

    Returns
    -------
    Recovery
        A history is unreachable where every try was scored and none reaches the target; undefined
        where the fresh cell or a try is missing or unscored, or where the target was reached at a
        cost that is not known. A failed history never enters the median.

    Notes
    -----
    Source: the paper, section 2.3 and Table 7; statistics.md, row "Cost to recover".

    Examples
    --------
    >>> fresh = CellCounts.of(["a", "b"], [100, 100], [160, 160])
    >>> half, most = (CellCounts.of(["a", "b"], k, [160, 160]) for k in ([50, 50], [90, 89]))
    >>> tries = [Try(1, half, np.array([0.1, 0.1])), Try(2, most, np.array([0.3, 0.3]))]
    >>> found = cost_to_recover(tries, fresh, target=0.9, format="notes", old="A", new="B")
    >>> found.n_success, found.n_histories, found.median_cost.value, found.costs[1].status
    (1, 2, 0.3, 'unreachable')
    """
    factor = exact(target)
    passed = np.array([reaches(attempt.counts, fresh, factor) for attempt in tries])
    compared = [comparable(attempt.counts, fresh) for attempt in tries]
    figures = []
    for position in range(len(fresh.histories)):
        reasons = [
            f"{reason}" + (f" (rung {attempt.rung})" if attempt.rung else "")
            for attempt, (_, why) in zip(tries, compared, strict=True)
            if (reason := why[position])
        ]
        if not tries or reasons:
            figures.append(
                Figure.undefined("; ".join(dict.fromkeys(reasons)) or "nothing was tried")
            )
            continue
        costs = [
            float(attempt.cost[position])
            for attempt, ok in zip(tries, passed[:, position], strict=True)
            if ok
        ]
        figures.append(_cheapest(costs, target))
    return _recovery(figures, fresh.histories, target, unit, about)


def _cheapest(costs: Sequence[float], target: float) -> Figure:
    if not costs:
        return Figure.unreachable(f"no repair reached {target:.0%} of the fresh store")
    known = [cost for cost in costs if not np.isnan(cost)]
    if len(known) < len(costs):
        return Figure.undefined("the target was reached at a cost that is not known")
    return Figure.ok(min(known))


def _recovery(
    figures: Sequence[Figure],
    histories: tuple[str, ...],
    target: float,
    unit: str,
    about: dict[str, str],
) -> Recovery:
    finite = [figure.number() for figure in figures if figure.defined]
    counted = [figure for figure in figures if figure.status != "undefined"]
    if finite:
        median = Figure.ok(float(np.median(finite)))
    elif counted:
        median = Figure.unreachable("no history reached the target")
    else:
        median = Figure.undefined("no history has every cell")
    return Recovery(
        format=about.get("format", ""),
        old=about.get("old", ""),
        new=about.get("new", ""),
        method=about.get("method", ""),
        target=target,
        unit=unit,
        histories=histories,
        costs=tuple(figures),
        n_success=len(finite),
        n_histories=len(counted),
        median_cost=median,
        source=about.get("source", ""),
    )


def recoveries(
    cube: Cube, *, targets: Sequence[float] = TARGETS, unit: str = "usd"
) -> list[Recovery]:
    """Cost to recover of every format, direction, method and target, and of `none`.

    `none` is the inherited store as it is, at cost 0: "already at target". It is taken from the
    writer-swap cell (for an index: the old one) where the run has no row of its own, and never
    enters the minimum over methods, which is reported as method `any`.

    Parameters
    ----------
    cube
        All answers, with costs.
    targets
        X, fractions.
    unit
        usd, tokens or gpu_hours: the column ``cost_<unit>``.

    Notes
    -----
    Source: the paper, Table 7; statistics.md, row "Cost to recover".

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
    >>> [(found.method, found.n_success, found.n_histories) for found in recoveries(cube)[:3]]
    [('notes_store', 0, 1), ('any', 0, 1), ('none', 0, 1)]
    """
    found = []
    for name, embedder, old, new in repaired_stores(cube):
        fresh = cube.first(Cell(name, embedder, old, new, repair="fresh"))
        methods = tries_by_method(cube, name, embedder, old, new, unit)
        every = [attempt for tries in methods.values() for attempt in tries]
        about = {"format": name, "old": old, "new": new}
        none, source = unrepaired(cube, name, embedder, old, new)
        for target in targets:
            found += [
                cost_to_recover(tries, fresh, target=target, unit=unit, method=method, **about)
                for method, tries in methods.items()
            ]
            found += [
                cost_to_recover(every, fresh, target=target, unit=unit, method="any", **about),
                cost_to_recover(
                    none, fresh, target=target, unit=unit, method="none", source=source, **about
                ),
            ]
    return found


def repaired_stores(cube: Cube) -> list[tuple[str, str, str, str]]:
    """(format, embedder, old, new) of everything that was repaired.

    Examples
    --------
    >>> repaired = Cell("notes", "", "A", "B", repair="notes_raw", rung=1)
    >>> fresh = Cell("kg", "", "A", "B", repair="fresh")
    >>> repaired_stores(Cube.of({repaired: {"h": [1]}, fresh: {"h": [1]}}))
    [('notes', '', 'A', 'B')]
    """
    cells = cube.select(lambda c: bool(c.repair) and c.repair not in NO_REPAIR)
    return sorted({(c.format, c.embedder, c.writer, c.reader) for c in cells})


def tries_by_method(
    cube: Cube, name: str, embedder: str, old: str, new: str, unit: str
) -> dict[str, list[Try]]:
    """Every method of a format and direction with its tries, by rung; costs in `unit`.

    Examples
    --------
    >>> cells = [Cell("notes", "", "A", "B", repair="notes_raw", rung=rung) for rung in (2, 1)]
    >>> cube = Cube.of({cell: {"h": [1, 0]} for cell in cells})
    >>> found = tries_by_method(cube, "notes", "", "A", "B", "usd")
    >>> {method: [attempt.rung for attempt in tries] for method, tries in found.items()}
    {'notes_raw': [1, 2]}
    """
    cells = [
        cell
        for cell in cube.first_repeats()
        if (cell.format, cell.embedder, cell.writer, cell.reader) == (name, embedder, old, new)
        and cell.repair
        and cell.repair not in NO_REPAIR
    ]
    methods: dict[str, list[Try]] = {}
    for cell in sorted(cells, key=lambda c: (c.repair, c.rung)):
        methods.setdefault(cell.repair, []).append(_try(cube, cell, unit))
    return methods


def _try(cube: Cube, cell: Cell, unit: str) -> Try:
    costs = cube.costs.get(f"cost_{unit}")
    missing = np.full(len(cube.histories), np.nan)
    return Try(cell.rung, cube.counts(cell), missing if costs is None else costs[cube.row[cell]])


def unrepaired(cube: Cube, name: str, embedder: str, old: str, new: str) -> tuple[list[Try], str]:
    """The store as it was inherited, at no cost; and where its answers are taken from.

    Examples
    --------
    >>> cube = Cube.of({Cell("notes", "", "A", "B"): {"h": [1, 0]}})
    >>> tries, source = unrepaired(cube, "notes", "", "A", "B")
    >>> tries[0].cost.tolist(), source
    ([0.0], 'taken from the writer swap')
    """
    free = np.zeros(len(cube.histories))
    candidates = [
        (Cell(name, embedder, old, new, repair="none"), ""),
        (Cell(name, embedder, old, new), "taken from the writer swap"),
    ]
    indexes = cube.select(lambda c: c.format == name and c.index == OLD_INDEX and c.reader == new)
    candidates += [(cell, "taken from the old index") for cell in indexes if not cell.repair]
    known = {(c.format, c.embedder, c.writer, c.reader, c.index, c.repair) for c in cube.cells}
    for cell, source in candidates:
        key = (cell.format, cell.embedder, cell.writer, cell.reader, cell.index, cell.repair)
        if key in known and cell.condition == "normal":
            return [Try(0, cube.first(cell), free)], source
    return [], "no cell shows the inherited store"
