"""Several tests at once: Holm's step-down adjustment of a family of p-values."""

from collections.abc import Sequence

from analysis.stats.figures import Figure


def holm(p_values: Sequence[Figure]) -> list[Figure]:
    """Holm-adjusted p-values, in the order given.

    ``p_(j) adjusted = min(1, max_{k ≤ j} (m − k + 1) · p_(k))`` over the p-values sorted upwards.

    Parameters
    ----------
    p_values
        The family. An undefined one stays undefined, and still counts in m: a test that could not
        be made does not make the others easier.

    Notes
    -----
    Source: Holm 1979; the paper, section 3.5; statistics.md, row "Holm".

    Examples
    --------
    >>> family = [Figure.ok(0.01), Figure.undefined("one history"), Figure.ok(0.04)]
    >>> [p.value for p in holm(family)]
    [0.03, None, 0.08]
    """
    m = len(p_values)
    defined = [position for position, p in enumerate(p_values) if p.defined]
    adjusted, running = list(p_values), 0.0
    ranked = sorted(defined, key=lambda position: p_values[position].number())
    for rank, position in enumerate(ranked):
        running = max(running, (m - rank) * p_values[position].number())
        adjusted[position] = Figure.ok(min(1.0, running))
    return adjusted
