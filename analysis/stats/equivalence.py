"""Equivalence: is an effect shown to lie inside ±δ? Two one-sided t tests."""

import math
from dataclasses import dataclass
from typing import Any

from scipy import stats

from analysis.stats.figures import Figure, FloatArray, Interval
from analysis.stats.inference import NO_SPREAD, has_spread, t_interval


@dataclass(frozen=True, slots=True)
class Equivalence:
    """Two one-sided tests at ±δ, and the interval that says the same."""

    margin_pp: float
    p_value: Figure
    interval: Interval
    n_histories: int
    planned: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return every part."""
        return {
            "margin_pp": self.margin_pp,
            "p": self.p_value.as_json(),
            "interval": self.interval.as_json(),
            "n_histories": self.n_histories,
            "planned": self.planned,
        }


def equivalence(
    values: FloatArray, *, margin_pp: float, alpha: float = 0.05, planned: bool = False
) -> Equivalence:
    """Two one-sided t tests of ``|C| ≥ δ`` against ``−δ < C < δ``.

    ``p = max(P(T ≥ (mean + δ) / se), P(T ≤ (mean − δ) / se))``. p < α says the same as a
    ``1 − 2α`` interval inside ±δ.

    Parameters
    ----------
    values
        One contrast value per history, pp, shape (n,).
    margin_pp
        δ, pp.
    alpha
        Level of each test; the interval has level 1 − 2α.
    planned
        Whether the locked plan named it; the paper's were not.

    Returns
    -------
    Equivalence
        Undefined for n < 2 and where every history shows the same value.

    Notes
    -----
    Source: Schuirmann 1987; statistics.md, row "Equivalence".

    Examples
    --------
    >>> import numpy as np
    >>> result = equivalence(np.array([-1.0, 0.5, 1.0, 0.0, -0.5]), margin_pp=5)
    >>> result.p_value.value < 0.05, -5 < result.interval.low
    (True, True)
    """
    n = int(values.size)
    interval = t_interval(values, level=1 - 2 * alpha)
    if n < 2 or not has_spread(values):
        reason = NO_SPREAD if n >= 2 else f"a t test needs two histories, there are {n}"
        return Equivalence(margin_pp, Figure.undefined(reason), interval, n, planned)
    mean, se = float(values.mean()), float(values.std(ddof=1)) / math.sqrt(n)
    above_low = float(stats.t.sf((mean + margin_pp) / se, n - 1))
    below_high = float(stats.t.cdf((mean - margin_pp) / se, n - 1))
    p = Figure.ok(max(above_low, below_high))
    return Equivalence(margin_pp, p, interval, n, planned)
