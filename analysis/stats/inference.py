"""Means over histories, their t intervals, and the exact bound where no spread was seen."""

import math

import numpy as np
from scipy import stats

from analysis.stats.figures import Estimate, Figure, FloatArray, Interval, PerHistory

LEVEL = 0.95
T_METHOD = "t across histories"
EXACT_METHOD = "Clopper–Pearson on discordant answers pooled over histories"
NO_SPREAD = "every history shows the same value, so the spread is unknown"


def has_spread(values: FloatArray) -> bool:
    """Whether the values differ by more than the rounding of their own arithmetic.

    Accuracies are ratios of small integers: two that differ do so by far more than 1e-9, two that
    are equal by at most a few units in the last place.

    Examples
    --------
    >>> has_spread(np.array([0.1 + 0.2, 0.3])), has_spread(np.array([0.3, 0.31]))
    (False, True)
    """
    return bool(values.size > 1 and np.ptp(values) > 1e-9 * max(1.0, float(np.abs(values).max())))


def t_interval(values: FloatArray, *, level: float = LEVEL) -> Interval:
    """Two-sided t interval for the mean of independent histories.

    ``mean ± t((1 + level) / 2, n − 1) · sd / √n``, sd with n − 1 in its denominator.

    Parameters
    ----------
    values
        One value per history, shape (n,), any unit.
    level
        Confidence level, a fraction.

    Returns
    -------
    Interval
        Undefined for n < 2 and where all values are equal: an interval of zero width from a few
        histories would decide wrongly.

    Notes
    -----
    Source: statistics.md, row "±"; the paper's half-widths in Tables 3 to 6.

    Examples
    --------
    >>> interval = t_interval(np.array([1.0, 2.0, 3.0, 4.0]))
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.4457, 4.5543)
    """
    n = values.size
    if n < 2:
        return Interval(
            None, None, level, T_METHOD, f"an interval needs two histories, there are {n}"
        )
    if not has_spread(values):
        return Interval(None, None, level, T_METHOD, NO_SPREAD)
    half = float(stats.t.ppf((1 + level) / 2, n - 1) * values.std(ddof=1) / math.sqrt(n))
    mean = float(values.mean())
    return Interval(mean - half, mean + half, level, T_METHOD)


def spread(values: FloatArray) -> Figure:
    """Standard deviation across histories (n − 1); undefined for n < 2, 0 where all are equal.

    Examples
    --------
    >>> round(spread(np.array([1.0, 2.0, 3.0, 4.0])).value, 4)
    1.291
    """
    if values.size < 2:
        return Figure.undefined(f"a spread needs two histories, there are {values.size}")
    return Figure.ok(float(values.std(ddof=1)) if has_spread(values) else 0.0)


def estimate(
    values: PerHistory,
    *,
    unit: str,
    level: float = LEVEL,
    planned: bool = False,
    keep_values: bool = True,
) -> Estimate:
    """Mean over the histories that have a value, with its t interval.

    Parameters
    ----------
    values
        One value per history, those already averaged inside the history.
    unit
        The unit of the values: "accuracy", "pp", "ratio", "usd".
    level
        Confidence level of the interval.
    planned
        Whether the locked plan named this quantity.
    keep_values
        Whether the result carries the values of the single histories.

    Returns
    -------
    Estimate
        Undefined where no history has a value. A history without one is listed in `excluded`.

    Examples
    --------
    >>> from analysis.stats.figures import per_history
    >>> result = estimate(per_history(["a", "b", "c"], {"a": 1.0, "b": 2.0}), unit="pp")
    >>> result.value, result.n_histories, [left.history for left in result.excluded]
    (1.5, 2, ['c'])
    """
    kept = values.kept
    if kept.size:
        figure = Figure.ok(float(kept.mean()))
    else:
        figure = Figure.undefined(_common_reason(values))
    return Estimate(
        figure=figure,
        interval=t_interval(kept, level=level),
        sd=spread(kept),
        n_histories=int(kept.size),
        unit=unit,
        excluded=values.excluded,
        planned=planned,
        per_history=values if keep_values else None,
    )


def _common_reason(values: PerHistory) -> str:
    reasons = sorted(set(filter(None, values.reasons)))
    if not reasons:
        return "there are no histories"
    return "no history has a value: " + "; ".join(reasons)


def clopper_pearson(successes: int, trials: int, *, level: float = LEVEL) -> tuple[float, float]:
    """Exact interval for a proportion (Clopper and Pearson 1934).

    Lower end: the (1 − level) / 2 quantile of Beta(k, n − k + 1), 0 for k = 0; upper end: the
    (1 + level) / 2 quantile of Beta(k + 1, n − k), 1 for k = n.

    Raises
    ------
    ValueError
        For no trials, or more successes than trials.

    Examples
    --------
    >>> low, high = clopper_pearson(0, 40)
    >>> low, round(high, 6)  # 1 - 0.025 ** (1 / 40)
    (0.0, 0.088097)
    """
    if trials < 1 or not 0 <= successes <= trials:
        raise ValueError(f"{successes} successes in {trials} trials make no proportion")
    tail = (1 - level) / 2
    low = 0.0 if successes == 0 else float(stats.beta.ppf(tail, successes, trials - successes + 1))
    high = (
        1.0
        if successes == trials
        else float(stats.beta.ppf(1 - tail, successes + 1, trials - successes))
    )
    return low, high


def discordant_interval(*, gained: int, lost: int, answers: int, level: float = LEVEL) -> Interval:
    """Bounds of the swap delta (a fraction) from pooled discordant answers.

    Where every history shows the same swap delta a t interval has no width, so the bound rests on
    the answers themselves: of `answers` pairs, `gained` are right with the inherited store alone
    and `lost` with the own store alone. The delta is `(gained − lost) / answers`; its lower bound
    takes the exact lower bound of the first share and the exact upper bound of the second, its
    upper bound the reverse. The error of a tail is halved between the two shares, except where
    the count that needs a lower bound is 0: that bound is 0 and cannot be wrong.

    Parameters
    ----------
    gained, lost, answers
        Counts, pooled over histories.
    level
        Joint confidence of the two ends, at least.

    Notes
    -----
    Treats answers as independent, which answers of one history are not entirely: it is used only
    where histories show no spread at all. Source: statistics.md, row "±".

    Examples
    --------
    48 histories of 160 answers without one difference decide a margin of 5 pp, 2 of 20 do not:

    >>> discordant_interval(gained=0, lost=0, answers=48 * 160).low > -0.05
    True
    >>> discordant_interval(gained=0, lost=0, answers=2 * 20).low > -0.05
    False
    """
    if answers < 1:
        return Interval(None, None, level, EXACT_METHOD, "there are no answers to compare")
    low = _share_difference(gained, lost, answers, level)
    high = -_share_difference(lost, gained, answers, level)
    return Interval(low, high, level, EXACT_METHOD)


def _share_difference(up: int, down: int, answers: int, level: float) -> float:
    """Lower bound of share(up) − share(down)."""
    if up == 0:
        return -clopper_pearson(down, answers, level=level)[1]
    halved = 1 - (1 - level) / 2
    return (
        clopper_pearson(up, answers, level=halved)[0]
        - clopper_pearson(down, answers, level=halved)[1]
    )
