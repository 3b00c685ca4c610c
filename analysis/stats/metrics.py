"""What a migration keeps: retained performance, gaps, swap delta, service change, penalty.

Every function takes integer counts of cells and returns one value per history. Fractions unless
the name says pp. Sources: statistics.md, table of quantities; the paper, sections 2.3 and 3.5.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from analysis.stats.cells import CellCounts
from analysis.stats.figures import BoolArray, PerHistory

FLOOR = Fraction(1, 5)  # own-store score above chance, below which a ratio is unstable
BELOW_FLOOR = "own-store score below 0.20 above chance"
OTHER_PROBES = "the cells were asked different probes"


def exact(value: float) -> Fraction:
    """The fraction that a person meant by a short decimal: 0.9 is 9/10.

    Examples
    --------
    >>> exact(0.9), exact(1 / 3)
    (Fraction(9, 10), Fraction(1, 3))
    """
    return Fraction(value).limit_denominator(1_000_000)


def reaches(counts: CellCounts, other: CellCounts, factor: Fraction) -> BoolArray:
    """Where ``accuracy ≥ factor · other accuracy``, decided on integers; shape (n_histories,).

    Examples
    --------
    0.9 · 100/160 is exactly 90/160:

    >>> own = CellCounts.of(["a"], [100], [160])
    >>> reaches(CellCounts.of(["a"], [90], [160]), own, Fraction(9, 10))
    array([ True])
    """
    left = counts.correct * other.probes * factor.denominator
    return np.asarray(left >= other.correct * counts.probes * factor.numerator)


def above_floor(own: CellCounts, *, chance: float = 0.0) -> BoolArray:
    """Where ``a_own − c ≥ 0.20``, decided on integers (equality passes); shape (n_histories,).

    Examples
    --------
    >>> above_floor(CellCounts.of(["a", "b"], [32, 31], [160, 160]))
    array([ True, False])
    """
    threshold = exact(chance) + FLOOR
    return np.asarray(own.correct * threshold.denominator >= own.probes * threshold.numerator)


def comparable(a: CellCounts, b: CellCounts) -> tuple[BoolArray, tuple[str, ...]]:
    """Where two cells can be compared in a history, and why not elsewhere.

    Both need every answer scored, and the same probes.

    Examples
    --------
    >>> comparable(CellCounts.of(["a"], [5], [10]), CellCounts.of(["a"], [5], [9]))
    (array([False]), ('the cells were asked different probes',))
    """
    same = np.asarray(a.probe_set == b.probe_set)
    reasons = []
    for first, second, equal in zip(a.reasons, b.reasons, same.tolist(), strict=True):
        reasons.append(first or second or ("" if equal else OTHER_PROBES))
    return np.asarray(a.defined & b.defined & same), tuple(reasons)


def difference(minuend: CellCounts, subtrahend: CellCounts) -> PerHistory:
    """Accuracy difference of two cells per history, a fraction.

    Undefined where a cell is missing, holds an answer that was never scored, or where the two were
    asked different probes.

    Examples
    --------
    >>> a, b = CellCounts.of(["x"], [3], [4]), CellCounts.of(["x"], [1], [4])
    >>> difference(a, b).values
    array([0.5])
    """
    defined, reasons = comparable(minuend, subtrahend)
    n = np.maximum(minuend.probes, 1)
    m = np.maximum(subtrahend.probes, 1)
    same = n == m
    values = np.where(
        same,
        (minuend.correct - subtrahend.correct) / n,
        minuend.correct / n - subtrahend.correct / m,
    )
    return PerHistory(minuend.histories, values, defined, reasons)


def direct_gap(own: CellCounts, inherited: CellCounts) -> PerHistory:
    """``Δ = a_own − a_inherited`` per history, a fraction: positive is a loss.

    Undefined as in `difference`. Source: the paper, section 2.3.

    Examples
    --------
    >>> direct_gap(CellCounts.of(["x"], [3], [4]), CellCounts.of(["x"], [1], [4])).values
    array([0.5])
    """
    return difference(own, inherited)


def swap_delta_pp(own: CellCounts, inherited: CellCounts) -> PerHistory:
    """``100 · (a_inherited − a_own)`` per history, percentage points: negative is a loss.

    The reader is the same in both cells, so its general ability cancels. Formats that nobody
    writes have none: say "not affected by a writer swap", never 0. Undefined as in `difference`.
    Source: statistics.md, row "Direct gap, swap delta"; the paper's Table 3.

    Examples
    --------
    >>> swap_delta_pp(CellCounts.of(["x"], [3], [4]), CellCounts.of(["x"], [1], [4])).values
    array([-50.])
    """
    return difference(inherited, own).scaled(100)


def service_change_pp(before: CellCounts, after: CellCounts) -> PerHistory:
    """``100 · (a(writer A, reader B) − a(writer A, reader A))`` per history, percentage points.

    What users of the service feel on the day of the switch: the new reader's ability and the
    migration together. For formats that nobody writes: reader B minus reader A.
    Source: statistics.md, row "Service change".

    Examples
    --------
    >>> service_change_pp(CellCounts.of(["x"], [1], [4]), CellCounts.of(["x"], [2], [4])).values
    array([25.])
    """
    return difference(after, before).scaled(100)


def retained_performance(
    own: CellCounts, inherited: CellCounts, *, chance: float = 0.0
) -> PerHistory:
    """``r(A→B) = (a_inherited − c) / (a_own − c)`` per history, a ratio.

    May exceed 1 or be negative; never clipped.

    Parameters
    ----------
    own, inherited
        The new reader on the store that it wrote, and on the one that it inherits.
    chance
        Accuracy of guessing, c, a fraction.

    Returns
    -------
    PerHistory
        Undefined where the own-store score is less than 0.20 above chance (decided on integer
        counts, equality passes), where a cell is missing or unscored, or the probes differ.

    Notes
    -----
    Source: the paper, section 2.3 (RPAS); statistics.md, row "Retained performance".

    Examples
    --------
    >>> own = CellCounts.of(["a", "b"], [80, 31], [160, 160])
    >>> r = retained_performance(own, CellCounts.of(["a", "b"], [60, 31], [160, 160]))
    >>> r.figure(0).value, r.figure(1).reason
    (0.75, 'own-store score below 0.20 above chance')
    """
    compared, why = comparable(own, inherited)
    passes = above_floor(own, chance=chance)
    defined = compared & passes
    c = exact(chance)
    top = inherited.correct * c.denominator - inherited.probes * c.numerator
    bottom = own.correct * c.denominator - own.probes * c.numerator
    scale = np.maximum(own.probes, 1) / np.maximum(inherited.probes, 1)
    values = np.where(defined, top * scale / np.where(defined, bottom, 1), 0.0)
    reasons = tuple(
        reason or ("" if ok else BELOW_FLOOR)
        for reason, ok in zip(why, passes.tolist(), strict=True)
    )
    return PerHistory(own.histories, values, np.asarray(defined), reasons)


def writer_swap_penalty_pp(by_direction: Sequence[PerHistory]) -> PerHistory:
    """``P = 100 · mean over directions of (1 − r(d))`` per history, percentage points.

    With two directions this is the paper's ``50 · Σ_d (1 − r(d))``. Positive: inherited memory
    performs worse than the reader's own.

    Parameters
    ----------
    by_direction
        Retained performance of each planned direction.

    Returns
    -------
    PerHistory
        Undefined in a history where any planned direction is.

    Notes
    -----
    Source: the paper, section 3.5; statistics.md, rows "Writer-swap penalty", "More than two
    models". An average of directions hides two that cancel: show the directions first.

    Examples
    --------
    >>> from analysis.stats.figures import per_history
    >>> forward, backward = per_history(["x"], {"x": 0.8}), per_history(["x"], {"x": 1.4})
    >>> writer_swap_penalty_pp([forward, backward]).values.round(6)
    array([-10.])
    """
    return mean_of(by_direction, transform_scale=-100.0, transform_shift=100.0)


def mean_of(
    parts: Sequence[PerHistory], *, transform_scale: float = 1.0, transform_shift: float = 0.0
) -> PerHistory:
    """Mean of several values within each history; undefined where one of them is.

    The result is ``shift + scale · mean``.

    Examples
    --------
    >>> from analysis.stats.figures import per_history
    >>> mean_of([per_history("a", {"a": 1.0}), per_history("a", {"a": 4.0})]).values
    array([2.5])
    """
    if not parts:
        raise ValueError("a mean needs at least one part")
    values = transform_shift + transform_scale * np.mean([part.values for part in parts], axis=0)
    defined = np.logical_and.reduce([part.defined for part in parts])
    reasons = tuple(
        "; ".join(dict.fromkeys(filter(None, at_history)))
        for at_history in zip(*(part.reasons for part in parts), strict=True)
    )
    return PerHistory(parts[0].histories, values, np.asarray(defined), reasons)
