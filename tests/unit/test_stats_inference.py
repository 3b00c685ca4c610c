"""Intervals: against SciPy and statsmodels, and the cases in which there is none."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint
from statsmodels.stats.weightstats import DescrStatsW

from analysis.stats.figures import per_history
from analysis.stats.inference import (
    clopper_pearson,
    discordant_interval,
    estimate,
    has_spread,
    t_interval,
)


def test_the_t_interval_is_that_of_scipy_and_of_statsmodels():
    values = np.random.default_rng(1).normal(3, 2, 17)
    interval = t_interval(values)
    theirs = stats.t.interval(0.95, 16, values.mean(), stats.sem(values))
    assert (interval.low, interval.high) == pytest.approx(theirs, rel=1e-12)
    assert theirs == pytest.approx(DescrStatsW(values).tconfint_mean(), rel=1e-9)


@pytest.mark.parametrize("values", [[], [1.0]])
def test_fewer_than_two_histories_have_no_interval(values):
    interval = t_interval(np.array(values))
    assert not interval.defined
    assert "needs two histories" in interval.reason
    assert interval.half_width.status == "undefined"


def test_equal_histories_have_no_interval_even_where_floats_differ_in_the_last_place():
    values = np.array([0.1 + 0.2, 0.3, 0.3])
    assert np.ptp(values) > 0
    assert not has_spread(values)
    assert "same value" in t_interval(values).reason


def test_no_history_with_a_value_makes_the_estimate_undefined_and_says_why():
    result = estimate(per_history(["a", "b"], {}, "the cell is missing"), unit="pp")
    assert result.value is None
    assert result.figure.reason == "no history has a value: the cell is missing"
    assert [left.history for left in result.excluded] == ["a", "b"]


@pytest.mark.parametrize(("k", "n"), [(0, 40), (1, 40), (20, 40), (40, 40), (3, 7680)])
def test_the_exact_interval_is_that_of_statsmodels(k, n):
    assert clopper_pearson(k, n) == pytest.approx(
        proportion_confint(k, n, method="beta"), abs=1e-12
    )


def test_no_difference_anywhere_decides_48_histories_of_160_and_not_2_of_20():
    many = discordant_interval(gained=0, lost=0, answers=48 * 160)
    few = discordant_interval(gained=0, lost=0, answers=2 * 20)
    assert many.low == pytest.approx(-(1 - 0.025 ** (1 / 7680)))
    assert few.low == pytest.approx(-(1 - 0.025 ** (1 / 40)))
    assert many.low > -0.05 > few.low


def test_the_exact_bound_mirrors_when_gains_and_losses_change_places():
    one = discordant_interval(gained=3, lost=9, answers=100)
    other = discordant_interval(gained=9, lost=3, answers=100)
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low))
    assert one.low < (3 - 9) / 100 < one.high


def test_the_exact_bound_fails_in_no_more_than_a_tail_of_2_5_percent():
    """Summed over all outcomes of a trinomial, not simulated."""
    n = 30
    for p_gain, p_lose in [(0.0, 0.05), (0.02, 0.07), (0.1, 0.15), (0.3, 0.35)]:
        missed = 0.0
        for gained in range(n + 1):
            for lost in range(n + 1 - gained):
                low = discordant_interval(gained=gained, lost=lost, answers=n).low
                if low > p_gain - p_lose:
                    missed += stats.multinomial.pmf(
                        [gained, lost, n - gained - lost], n, [p_gain, p_lose, 1 - p_gain - p_lose]
                    )
        assert missed <= 0.025


@given(st.lists(st.floats(-100, 100), min_size=2, max_size=20), st.floats(-50, 50))
def test_shifting_every_history_shifts_the_interval(values, shift):
    base, moved = t_interval(np.array(values)), t_interval(np.array(values) + shift)
    if base.defined and moved.defined:
        assert moved.low == pytest.approx(base.low + shift, abs=1e-6)
        assert moved.high == pytest.approx(base.high + shift, abs=1e-6)


def test_the_half_width_is_t_times_the_standard_error():
    values = np.array([1.0, 4.0, 2.0])
    half = t_interval(values).half_width.value
    assert half == pytest.approx(stats.t.ppf(0.975, 2) * values.std(ddof=1) / math.sqrt(3))
