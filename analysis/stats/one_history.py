"""One history, "this store only": paired answers of its probes, and nothing about other ones."""

import math
from dataclasses import dataclass
from typing import Any

from scipy import stats

from analysis.stats.figures import Figure, Interval
from analysis.stats.inference import LEVEL

LABEL = "this store only: says nothing about other histories"
METHOD = "Newcombe's paired score interval (his method 10)"


@dataclass(frozen=True, slots=True)
class PairedComparison:
    """Two cells of one history, probe by probe; never pooled with results across histories."""

    history: str
    probes: int
    gained: int  # right in the second alone
    lost: int  # right in the first alone
    difference_pp: Figure
    interval_pp: Interval
    p_value: Figure
    label: str = LABEL

    def as_json(self) -> dict[str, Any]:
        """Return every part."""
        return {
            "history": self.history,
            "probes": self.probes,
            "gained": self.gained,
            "lost": self.lost,
            "difference_pp": self.difference_pp.as_json(),
            "interval_pp": self.interval_pp.as_json(),
            "mcnemar_p": self.p_value.as_json(),
            "label": self.label,
        }


def mcnemar_p(gained: int, lost: int) -> Figure:
    """Exact two-sided McNemar test: of the discordant probes, is one side more than half?

    ``p = min(1, 2 · P(Bin(b + c, ½) ≤ min(b, c)))``; 1 where nothing differs.

    Notes
    -----
    Source: statistics.md, "One history".

    Examples
    --------
    >>> mcnemar_p(2, 10).value
    0.03857421875
    """
    discordant = gained + lost
    if not discordant:
        return Figure.ok(1.0)
    p = 2 * float(stats.binom.cdf(min(gained, lost), discordant, 0.5))
    return Figure.ok(min(1.0, p))


def wilson(successes: int, trials: int, *, level: float = LEVEL) -> tuple[float, float]:
    """Wilson's score interval of a proportion.

    Examples
    --------
    >>> tuple(round(end, 4) for end in wilson(32, 50))
    (0.5014, 0.7586)
    """
    z = float(stats.norm.ppf((1 + level) / 2))
    p, z2 = successes / trials, z * z
    centre = (p + z2 / (2 * trials)) / (1 + z2 / trials)
    half = z * math.sqrt(p * (1 - p) / trials + z2 / (4 * trials * trials)) / (1 + z2 / trials)
    return centre - half, centre + half


def paired_interval(
    both: int, gained: int, lost: int, neither: int, *, level: float = LEVEL
) -> tuple[float, float]:
    """Interval of a paired difference of proportions ``(gained − lost) / n``, fractions.

    Newcombe's (1998) method 10: Wilson's intervals of the two margins, joined with the correlation
    φ of the table; φ's numerator is lessened by n / 2, not below 0, where it is positive.

    Examples
    --------
    Cavo et al. (2012), as printed by the R package contingencytables: −0.1186 to −0.0046.

    >>> tuple(round(end, 4) for end in paired_interval(59, 6, 16, 80))
    (-0.1186, -0.0046)
    """
    n = both + gained + lost + neither
    second, first = both + gained, both + lost
    p2, p1 = second / n, first / n
    low2, high2 = wilson(second, n, level=level)
    low1, high1 = wilson(first, n, level=level)
    margins = second * (n - second) * first * (n - first)
    phi = 0.0
    if margins:
        numerator: float = both * neither - gained * lost
        if numerator > 0:
            numerator = max(numerator - n / 2, 0.0)
        phi = numerator / math.sqrt(margins)
    down = _joined(p2 - low2, high1 - p1, phi)
    up = _joined(high2 - p2, p1 - low1, phi)
    return p2 - p1 - down, p2 - p1 + up


def _joined(one: float, other: float, phi: float) -> float:
    return math.sqrt(max(0.0, one * one - 2 * phi * one * other + other * other))


def compare_paired(
    history: str, first: "list[bool]", second: "list[bool]", *, level: float = LEVEL
) -> PairedComparison:
    """Compare two cells of one history over the same probes.

    Parameters
    ----------
    history
        Its key.
    first, second
        Whether each probe was right, in one order; the difference is second − first.

    Returns
    -------
    PairedComparison
        Undefined for no probes.

    Examples
    --------
    >>> result = compare_paired("h", [True] * 6 + [False] * 4, [False] * 6 + [False] * 4)
    >>> result.lost, result.difference_pp.value, round(result.p_value.value, 4)
    (6, -60.0, 0.0312)
    """
    pairs = list(zip(first, second, strict=True))
    if not pairs:
        none = "there are no probes to compare"
        empty = Interval(None, None, level, METHOD, none)
        figure = Figure.undefined(none)
        return PairedComparison(history, 0, 0, 0, figure, empty, figure)
    gained = sum(b and not a for a, b in pairs)
    lost = sum(a and not b for a, b in pairs)
    both = sum(a and b for a, b in pairs)
    low, high = paired_interval(both, gained, lost, len(pairs) - both - gained - lost, level=level)
    return PairedComparison(
        history=history,
        probes=len(pairs),
        gained=gained,
        lost=lost,
        difference_pp=Figure.ok(100 * (gained - lost) / len(pairs)),
        interval_pp=Interval(100 * low, 100 * high, level, METHOD),
        p_value=mcnemar_p(gained, lost),
    )
