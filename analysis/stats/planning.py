"""How many histories: the planner, and what the paper's own plan misses."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from analysis.stats.figures import Figure

MAX_HISTORIES = 1_000_000
BROKEN_BELOW = 0.60


@dataclass(frozen=True, slots=True)
class SampleSize:
    """Histories for a power, and the power that they truly give.

    Attributes
    ----------
    n_histories
        Smallest n with ``n ≥ ((t(1 − α, n − 1) + z(power)) · SD / d)²``.
    distance_pp
        d, the true effect minus the margin.
    power_pp
        Power of the margin test at that n, from the noncentral t.
    warnings
        What a person should know before believing the number.
    """

    n_histories: Figure
    effect_pp: float
    margin_pp: float
    distance_pp: float
    sd_pp: float
    power: float
    alpha: float
    power_reached: Figure
    warnings: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return every part."""
        return {
            "n_histories": self.n_histories.as_json(),
            "effect_pp": self.effect_pp,
            "margin_pp": self.margin_pp,
            "distance_pp": self.distance_pp,
            "sd_pp": self.sd_pp,
            "power": self.power,
            "alpha": self.alpha,
            "power_reached": self.power_reached.as_json(),
            "warnings": list(self.warnings),
        }


def histories_for(
    *, sd: float, distance: float, power: float = 0.80, alpha: float = 0.025
) -> Figure:
    """Smallest n ≥ 2 with ``n ≥ ((t(1 − α, n − 1) + z(power)) · SD / d)²``.

    Parameters
    ----------
    sd, distance
        Spread across histories and d, in the same unit.
    power
        Wanted power, a fraction.
    alpha
        One-sided level; 0.025 is what the paper's numbers imply.

    Returns
    -------
    Figure
        Undefined for d ≤ 0 (no number of histories separates an effect from itself) and beyond a
        million.

    Notes
    -----
    Source: statistics.md, "Sample size"; the paper, appendix B. Its "variance bounds" 0.28 and
    0.121 behave as standard deviations.

    Examples
    --------
    >>> histories_for(sd=0.28, distance=0.05).value, histories_for(sd=0.121, distance=0.05).value
    (248.0, 48.0)
    """
    if distance <= 0:
        return Figure.undefined("the effect does not lie above the margin: no number is enough")
    if sd < 0:
        raise ValueError("a standard deviation is not negative")
    z = float(stats.norm.ppf(power))

    def enough(n: int) -> bool:
        needed = ((float(stats.t.ppf(1 - alpha, n - 1)) + z) * sd / distance) ** 2
        return n >= needed

    high = 2
    while not enough(high):
        high *= 2
        if high > MAX_HISTORIES:
            return Figure.undefined("more than a million histories")
    low = max(2, high // 2)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle + 1, high)
    return Figure.ok(float(high))


def power_of(n: int, *, sd: float, distance: float, alpha: float = 0.025) -> float:
    """Power of a one-sided t test with n histories at a distance d above the margin.

    ``P(T' > t(1 − α, n − 1))`` with T' noncentral t, noncentrality ``d · √n / SD``. At d = 0 it is
    α: a margin test has no power against the margin itself.

    Examples
    --------
    >>> [round(power_of(48, sd=0.121, distance=d), 3) for d in (0.05, 0)]
    [0.801, 0.025]
    """
    if n < 2:
        raise ValueError("a t test needs two histories")
    if sd <= 0:
        return 1.0 if distance > 0 else alpha
    critical = float(stats.t.ppf(1 - alpha, n - 1))
    return float(stats.nct.sf(critical, n - 1, distance * math.sqrt(n) / sd))


def plan_sample(
    *,
    effect_pp: float,
    margin_pp: float,
    sd_pp: float,
    power: float = 0.80,
    alpha: float = 0.025,
    coverage: float | None = None,
) -> SampleSize:
    """Histories for a true effect, a margin and a pilot's spread.

    Parameters
    ----------
    effect_pp
        The effect that is believed to be true, pp.
    margin_pp
        The margin of the test, pp. Only the distance above it counts.
    sd_pp
        Spread of the contrast across the histories of a pilot, pp.
    coverage
        Lowest evidence coverage of a writer in the pilot, a fraction: a spread that comes from a
        broken arm asks for far too many histories.

    Examples
    --------
    >>> plan_sample(effect_pp=5, margin_pp=5, sd_pp=12.1).n_histories.status
    'undefined'
    """
    distance = effect_pp - margin_pp
    needed = histories_for(sd=sd_pp, distance=distance, power=power, alpha=alpha)
    reached = Figure.undefined(needed.reason)
    if needed.value is not None:
        reached = Figure.ok(power_of(int(needed.value), sd=sd_pp, distance=distance, alpha=alpha))
    warnings = []
    if distance <= 0:
        warnings.append(
            f"at a true effect of {effect_pp:g} pp the test against {margin_pp:g} pp rejects with "
            f"probability {alpha:g} at most, however many histories there are"
        )
    if coverage is not None and coverage < BROKEN_BELOW:
        warnings.append(
            f"a writer of the pilot kept {coverage:.0%} of the evidence: repair that arm and "
            "measure its spread again before planning with it"
        )
    return SampleSize(
        needed, effect_pp, margin_pp, distance, sd_pp, power, alpha, reached, tuple(warnings)
    )


def power_curve(
    sizes: Any, *, sd_pp: float, distance_pp: float, alpha: float = 0.025
) -> list[tuple[int, float]]:
    """Power at each number of histories, for a picture; see `power_of`.

    Examples
    --------
    >>> [(n, round(power, 2)) for n, power in power_curve([12, 48], sd_pp=12.1, distance_pp=5)]
    [(12, 0.26), (48, 0.8)]
    """
    return [
        (int(n), power_of(int(n), sd=sd_pp, distance=distance_pp, alpha=alpha))
        for n in np.asarray(sizes).tolist()
    ]
