"""The history bootstrap: whole histories are drawn again, the same draws for every contrast."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.stats.figures import Figure, FloatArray, IntArray, PerHistory

LOWER_QUANTILE = 0.05
ROUNDING = 1e-9  # pp: two means that differ by less are one mean, added up in another order


class ReproductionError(Exception):
    """The bootstrap does not see the point estimates that were published: it stops."""


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """Lower bound and p of one contrast from resampled histories."""

    estimate: Figure
    lower_bound: Figure
    p_value: Figure
    resamples: int
    empty_resamples: int
    margin_pp: float

    def as_json(self) -> dict[str, Any]:
        """Return every part."""
        return {
            "estimate": self.estimate.as_json(),
            "lower_bound": self.lower_bound.as_json(),
            "p": self.p_value.as_json(),
            "resamples": self.resamples,
            "empty_resamples": self.empty_resamples,
            "margin_pp": self.margin_pp,
        }


def draws(n_histories: int, *, resamples: int, seed: int) -> IntArray:
    """Positions of the drawn histories, shape (resamples, n_histories).

    ``default_rng(seed).integers(0, n, (B, n))`` over all histories of the study sorted by key:
    anybody can draw the same.

    Notes
    -----
    Source: statistics.md, row "Bootstrap".

    Examples
    --------
    >>> draws(3, resamples=2, seed=0)
    array([[2, 1, 1],
           [0, 0, 0]])
    """
    rng = np.random.default_rng(seed)
    return np.asarray(rng.integers(0, n_histories, (resamples, n_histories)), dtype=np.int64)


def resampled_means(values: PerHistory, drawn: IntArray) -> FloatArray:
    """Mean of the contrast in every resample, NaN where no drawn history has a value.

    A history without a value is dropped within each resample that drew it. Shape (resamples,),
    in the unit of the values.

    Notes
    -----
    Source: statistics.md, row "Bootstrap".

    Examples
    --------
    >>> from analysis.stats.figures import per_history
    >>> resampled_means(per_history("ab", {"a": 4.0}), np.array([[0, 1], [0, 0], [1, 1]]))
    array([ 4.,  4., nan])
    """
    weight = values.defined.astype(np.float64)
    weighted = np.where(values.defined, values.values, 0.0)
    kept = weight[drawn].sum(axis=1)
    totals = weighted[drawn].sum(axis=1)
    means = np.full(len(drawn), np.nan)
    np.divide(totals, kept, out=means, where=kept > 0)
    return means


def bootstrap(
    values: PerHistory, *, published: Figure, drawn: IntArray, margin_pp: float
) -> Bootstrap:
    """Lower bound (5 % quantile) and p of one contrast.

    ``p = (1 + #{C* ≤ δ}) / (B + 1)``, so never 0. Quantiles interpolate linearly. A resample in
    which no history has a value counts as ``≤ δ`` in p, and is left out of the quantile.

    Parameters
    ----------
    values
        The contrast, one value per history, pp, over all histories of the study sorted by key.
    published
        The point estimate that stands in the table.
    drawn
        From `draws`, shape (B, n_histories): the same for every contrast.
    margin_pp
        δ, pp.

    Raises
    ------
    ReproductionError
        Where the mean of the values is not the published estimate.

    Notes
    -----
    Source: statistics.md, row "Bootstrap"; the paper, section 3.5 and appendix F.

    Examples
    --------
    >>> from analysis.stats.figures import per_history
    >>> values = per_history("abcd", dict(zip("abcd", [6.0, 8.0, 7.0, 9.0])))
    >>> drawn = draws(4, resamples=999, seed=0)
    >>> bootstrap(values, published=Figure.ok(7.5), drawn=drawn, margin_pp=5).p_value.value
    0.001
    """
    resamples = len(drawn)
    kept = values.kept
    if not kept.size:
        none = Figure.undefined("no history has a value")
        if published.defined:
            raise ReproductionError(f"published {published.value}, the histories give none")
        return Bootstrap(none, none, none, resamples, resamples, margin_pp)
    mean = float(kept.mean())
    if published.value is None or abs(mean - published.value) > ROUNDING:
        raise ReproductionError(f"published {published.value}, the histories give {mean}")
    means = resampled_means(values, drawn)
    defined = means[~np.isnan(means)]
    empty = resamples - defined.size
    below = int(np.sum(defined <= margin_pp + ROUNDING)) + empty
    bound = (
        Figure.ok(float(np.quantile(defined, LOWER_QUANTILE)))
        if defined.size
        else Figure.undefined("no resample holds a history with a value")
    )
    return Bootstrap(
        Figure.ok(mean),
        bound,
        Figure.ok((1 + below) / (resamples + 1)),
        resamples,
        empty,
        margin_pp,
    )


def bootstrap_all(
    contrasts: Sequence[tuple[PerHistory, Figure, float]], *, resamples: int, seed: int
) -> list[Bootstrap]:
    """Bootstrap of several (values, published estimate, margin) on the same draws.

    See `bootstrap`; values, estimates and margins in pp.

    Examples
    --------
    >>> from analysis.stats.figures import per_history
    >>> values = per_history("abc", {"a": 7.0, "b": 8.0, "c": 9.0})
    >>> found = bootstrap_all([(values, Figure.ok(8.0), 5.0)], resamples=99, seed=0)
    >>> found[0].p_value.value
    0.01
    """
    if not contrasts:
        return []
    drawn = draws(len(contrasts[0][0].histories), resamples=resamples, seed=seed)
    return [
        bootstrap(values, published=published, drawn=drawn, margin_pp=margin)
        for values, published, margin in contrasts
    ]
