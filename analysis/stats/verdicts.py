"""A verdict for people who must decide, from the interval of the swap delta and the margin."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from scipy import stats

from analysis.stats.figures import Estimate, Figure, Interval
from analysis.stats.inference import LEVEL, discordant_interval
from stores.counting import count_of

Outcome = Literal[
    "safe", "loses", "worse", "undecided", "too_few_histories", "withheld", "not_affected"
]
MIN_HISTORIES = 3
MAX_NAMED_HISTORIES = 1_000_000


@dataclass(frozen=True, slots=True)
class Discordant:
    """Answers that differ between two cells, pooled over histories."""

    gained: int  # right with the inherited store alone
    lost: int  # right with the own store alone
    answers: int

    def scaled(self, factor: float) -> "Discordant":
        """The same shares in another number of answers."""
        return Discordant(
            round(self.gained * factor), round(self.lost * factor), round(self.answers * factor)
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a direction means for one format.

    Attributes
    ----------
    outcome
        safe, loses, worse ("worse, perhaps within the margin"), undecided, too_few_histories,
        withheld (a gate failed or answers are unscored), not_affected (nobody wrote the store).
    interval
        The interval, in pp, that decided, with the name of its method.
    gain
        The whole interval lies above 0, and the gain is not smaller than the noise floor.
    histories_to_decide
        How many histories would decide it at the spread seen, where that can be named.
    reason
        Why the outcome is this one, where the interval alone does not say it.
    beside
        What must stand beside the verdict: what was not measured, gates that failed and are marked.
    """

    outcome: Outcome
    interval: Interval
    gain: bool
    histories_to_decide: Figure
    reason: str = ""
    beside: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return every part; the sentence is made by `analysis.words`."""
        return {
            "outcome": self.outcome,
            "interval": self.interval.as_json(),
            "gain": self.gain,
            "histories_to_decide": self.histories_to_decide.as_json(),
            "reason": self.reason,
            "beside": list(self.beside),
        }


def decisive_interval(delta_pp: Estimate, discordant: Discordant | None) -> Interval:
    """The t interval, or the exact bound of pooled answers where every history shows one value.

    In pp. Undefined with fewer than two histories.

    Examples
    --------
    >>> from analysis.stats.figures import per_history
    >>> from analysis.stats.inference import estimate
    >>> spread = estimate(per_history("ab", {"a": -1.0, "b": 0.0}), unit="pp")
    >>> decisive_interval(spread, None).method
    't across histories'
    >>> same = estimate(per_history("ab", {"a": 0.0, "b": 0.0}), unit="pp")
    >>> exact = decisive_interval(same, Discordant(gained=0, lost=0, answers=10))
    >>> round(exact.low, 2), round(exact.high, 2)
    (-30.85, 30.85)
    """
    if delta_pp.interval.defined or delta_pp.n_histories < 2 or discordant is None:
        return delta_pp.interval
    exact = discordant_interval(
        gained=discordant.gained, lost=discordant.lost, answers=discordant.answers
    )
    if exact.low is None or exact.high is None:
        return exact
    return Interval(100 * exact.low, 100 * exact.high, exact.level, exact.method)


def judge(
    delta_pp: Estimate,
    *,
    margin_pp: float,
    discordant: Discordant | None = None,
    noise_floor_pp: Figure | None = None,
    withheld_because: str = "",
    beside: tuple[str, ...] = (),
) -> Verdict:
    """Verdict on one direction and format.

    Parameters
    ----------
    delta_pp
        Swap delta across histories, pp (negative: loss).
    margin_pp
        δ, above 0.
    discordant
        Pooled answers; they decide where every history shows the same delta.
    noise_floor_pp
        Mean absolute accuracy change between live repeats, pp; None or undefined: not measured.
    withheld_because
        A failed gate or unscored answers: then there is no verdict.
    beside
        What to say beside the verdict.

    Returns
    -------
    Verdict
        *safe*: the interval's lower end is above −δ. *loses*: its upper end is below −δ. *worse*:
        its upper end is below 0, and it straddles −δ. *undecided*: the rest. *too few histories*:
        fewer than 3 have a delta. The noise floor turns a loss or a gain smaller than itself into
        "undecided" or no gain; *safe* stands unless a measured noise floor reaches the margin.

    Notes
    -----
    Source: statistics.md, "A verdict for people who must decide".

    Examples
    --------
    >>> import numpy as np
    >>> from analysis.stats.figures import per_history
    >>> from analysis.stats.inference import estimate
    >>> values = dict(zip("abcdef", [-1.0, 0.0, 1.0, 0.5, -0.5, 0.0]))
    >>> judge(estimate(per_history("abcdef", values), unit="pp"), margin_pp=5).outcome
    'safe'
    """
    interval = decisive_interval(delta_pp, discordant)
    none_named = Figure.undefined("the verdict does not ask for more histories")
    if withheld_because:
        return Verdict("withheld", interval, False, none_named, withheld_because, beside)
    if delta_pp.n_histories < MIN_HISTORIES or interval.low is None or interval.high is None:
        unnamed = Figure.undefined("fewer than 3 histories show no spread to plan with")
        n = delta_pp.n_histories
        verb = "has" if n == 1 else "have"
        reason = f"{count_of(n, 'history')} {verb} a swap delta; at least 3 are needed"
        return Verdict("too_few_histories", interval, False, unnamed, reason, beside)
    noise = noise_floor_pp.value if noise_floor_pp is not None else None
    outcome, reason = _outcome(delta_pp, interval, margin_pp, noise)
    gain = interval.low > 0 and (noise is None or delta_pp.figure.number() >= noise)
    needed = none_named
    if outcome == "undecided" and reason:
        needed = Figure.undefined("more histories do not lower the noise floor")
    elif outcome == "undecided":
        needed = histories_to_decide(delta_pp, margin_pp=margin_pp, discordant=discordant)
    return Verdict(outcome, interval, gain, needed, reason, beside)


def _outcome(
    delta_pp: Estimate, interval: Interval, margin_pp: float, noise: float | None
) -> tuple[Outcome, str]:
    low, high = interval.ends()
    too_small = noise is not None and abs(delta_pp.figure.number()) < noise
    if low > -margin_pp:
        if noise is not None and noise >= margin_pp:
            return "undecided", f"the noise floor ({noise:.1f} pp) is not below the margin"
        return "safe", ""
    if high < 0 and too_small:
        return "undecided", f"the loss is smaller than the noise floor ({noise:.1f} pp)"
    if high < -margin_pp:
        return "loses", ""
    return ("worse", "") if high < 0 else ("undecided", "")


def histories_to_decide(
    delta_pp: Estimate, *, margin_pp: float, discordant: Discordant | None = None
) -> Figure:
    """Smallest n that would decide against −δ, if the next histories look like the ones seen.

    ``smallest n with t(0.975, n − 1) · SD / √n < |Δ + δ|``. Where every history shows the same
    delta there is no SD; then the smallest n whose pooled answers decide at the shares seen.

    Returns
    -------
    Figure
        A number of histories, at least 3. Undefined for n < 3, for Δ = −δ, and beyond a million.

    Notes
    -----
    Source: statistics.md, "Undecided comes with how many histories would decide it".

    Examples
    --------
    SD 10 pp at a delta of 0 and a margin of 5 pp: t(0.975, 17) · 10 / √18 = 4.97 < 5.

    >>> import numpy as np
    >>> from analysis.stats.figures import per_history
    >>> from analysis.stats.inference import estimate
    >>> seen = estimate(per_history("abc", {"a": -10.0, "b": 0.0, "c": 10.0}), unit="pp")
    >>> histories_to_decide(seen, margin_pp=5).value
    18.0
    """
    if delta_pp.n_histories < MIN_HISTORIES or delta_pp.sd.value is None:
        return Figure.undefined("fewer than 3 histories show no spread to plan with")
    delta = delta_pp.figure.number()
    distance = abs(delta + margin_pp)
    if distance <= 1e-9 * margin_pp:
        return Figure.undefined("the delta seen lies exactly at the margin: no number decides it")
    sd = delta_pp.sd.value
    if sd > 0:
        return _smallest(
            lambda n: float(stats.t.ppf((1 + LEVEL) / 2, n - 1)) * sd / math.sqrt(n) < distance
        )
    if discordant is None:
        return Figure.undefined("every history shows the same delta: no spread to plan with")
    seen, n_seen = discordant, delta_pp.n_histories

    def decides(n: int) -> bool:
        pooled = seen.scaled(n / n_seen)
        low, high = discordant_interval(
            gained=pooled.gained, lost=pooled.lost, answers=pooled.answers
        ).ends()
        return 100 * low > -margin_pp or 100 * high < -margin_pp

    return _smallest(decides)


def _smallest(decides: Callable[[int], bool]) -> Figure:
    """The smallest n ≥ 3 for which a condition holds that holds for all larger n."""
    high = MIN_HISTORIES
    while not decides(high):
        high *= 2
        if high > MAX_NAMED_HISTORIES:
            return Figure.undefined("more than a million histories: the delta lies at the margin")
    low = max(MIN_HISTORIES, high // 2)
    while low < high:
        middle = (low + high) // 2
        if decides(middle):
            high = middle
        else:
            low = middle + 1
    return Figure.ok(float(high))
