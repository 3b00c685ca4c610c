"""The margin test: does a contrast exceed the margin that was chosen before results existed?"""

import math
from dataclasses import dataclass
from typing import Any

from scipy import stats

from analysis.stats.figures import Figure, FloatArray
from analysis.stats.inference import NO_SPREAD, has_spread


@dataclass(frozen=True, slots=True)
class MarginTest:
    """One-sample, one-sided t test of H0: C ≤ δ against C > δ."""

    margin_pp: float
    statistic: Figure
    p_value: Figure
    n_histories: int

    def as_json(self) -> dict[str, Any]:
        """Return every part."""
        return {
            "margin_pp": self.margin_pp,
            "t": self.statistic.as_json(),
            "p": self.p_value.as_json(),
            "n_histories": self.n_histories,
        }


def margin_test(values: FloatArray, *, margin_pp: float) -> MarginTest:
    """One-sample, one-sided t test of ``H0: C ≤ δ`` against ``C > δ``.

    ``t = (mean − δ) / (sd / √n)``, p from Student's t with n − 1 degrees of freedom.

    Parameters
    ----------
    values
        One contrast value per history, pp, shape (n,).
    margin_pp
        δ, pp.

    Returns
    -------
    MarginTest
        p is undefined for n < 2 and where every history shows the same value.

    Notes
    -----
    Source: the paper, section 3.5; statistics.md, row "Margin test".

    Examples
    --------
    >>> import numpy as np
    >>> round(margin_test(np.array([6.0, 8.0, 7.0, 9.0]), margin_pp=5).p_value.value, 6)
    0.015233
    """
    n = int(values.size)
    if n < 2 or not has_spread(values):
        reason = NO_SPREAD if n >= 2 else f"a t test needs two histories, there are {n}"
        return MarginTest(margin_pp, Figure.undefined(reason), Figure.undefined(reason), n)
    t = float((values.mean() - margin_pp) / (values.std(ddof=1) / math.sqrt(n)))
    return MarginTest(margin_pp, Figure.ok(t), Figure.ok(float(stats.t.sf(t, n - 1))), n)
