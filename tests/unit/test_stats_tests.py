"""Margin test, Holm, equivalence and bootstrap: against SciPy, statsmodels and plain loops."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.weightstats import DescrStatsW

from analysis.stats.bootstrap import ReproductionError, bootstrap, bootstrap_all, draws
from analysis.stats.equivalence import equivalence
from analysis.stats.figures import Figure, PerHistory
from analysis.stats.margin import margin_test
from analysis.stats.multiplicity import holm

VALUES = np.random.default_rng(2).normal(6, 4, 12)
p_values = st.lists(st.floats(0, 1), min_size=1, max_size=8)


def history_values(values, defined=None):
    values = np.array(values, dtype=float)
    known = np.ones(values.size, dtype=bool) if defined is None else np.array(defined)
    names = tuple(f"h{i:02}" for i in range(values.size))
    return PerHistory(names, values, known, tuple("" if ok else "left out" for ok in known))


def test_the_margin_test_is_that_of_scipy():
    theirs = stats.ttest_1samp(VALUES, 5, alternative="greater")
    ours = margin_test(VALUES, margin_pp=5)
    assert ours.statistic.value == pytest.approx(theirs.statistic, rel=1e-12)
    assert ours.p_value.value == pytest.approx(theirs.pvalue, rel=1e-12)


@pytest.mark.parametrize("values", [[7.0], [], [7.0, 7.0, 7.0]])
def test_without_spread_there_is_no_p(values):
    result = margin_test(np.array(values), margin_pp=5)
    assert result.p_value.status == "undefined"
    assert result.p_value.value is None


@settings(max_examples=30)
@given(p_values)
def test_holm_is_that_of_statsmodels(values):
    ours = [p.value for p in holm([Figure.ok(v) for v in values])]
    assert ours == pytest.approx(multipletests(values, method="holm")[1], abs=1e-12)


@given(p_values, st.randoms())
def test_holm_does_not_depend_on_the_order(values, random):
    order = list(range(len(values)))
    random.shuffle(order)
    once = holm([Figure.ok(v) for v in values])
    again = holm([Figure.ok(values[i]) for i in order])
    assert [once[i].value for i in order] == [p.value for p in again]


def test_an_undefined_p_keeps_its_place_in_the_family():
    adjusted = holm([Figure.ok(0.02), Figure.undefined("one history"), Figure.ok(0.01)])
    assert [p.value for p in adjusted] == [0.04, None, 0.03]


def test_equivalence_is_that_of_statsmodels():
    ours = equivalence(VALUES - 6, margin_pp=5)
    p, _, _ = DescrStatsW(VALUES - 6).ttost_mean(-5, 5)
    assert ours.p_value.value == pytest.approx(p, rel=1e-9)


@given(st.lists(st.floats(-20, 20), min_size=3, max_size=12, unique=True))
def test_equivalence_says_the_same_as_the_90_percent_interval(values):
    result = equivalence(np.array(values), margin_pp=5)
    if result.p_value.value is None or abs(result.p_value.value - 0.05) < 1e-9:
        return
    low, high = result.interval.ends()
    inside = low > -5 and high < 5
    assert (result.p_value.value < 0.05) == inside


def test_the_bootstrap_is_that_of_a_plain_loop():
    defined = np.ones(12, dtype=bool)
    defined[[3, 7]] = False
    values = history_values(VALUES, defined)
    result = bootstrap_all(
        [(values, Figure.ok(float(VALUES[defined].mean())), 5.0)], resamples=500, seed=11
    )[0]
    drawn = np.random.default_rng(11).integers(0, 12, (500, 12))
    means = []
    for row in drawn:
        kept = [VALUES[i] for i in row if defined[i]]
        means.append(sum(kept) / len(kept))
    assert result.lower_bound.value == pytest.approx(np.quantile(means, 0.05))
    below = sum(mean <= 5 for mean in means)
    assert result.p_value.value == (1 + below) / 501


def test_the_bootstrap_p_is_never_zero():
    values = history_values([50.0, 60.0, 70.0])
    drawn = draws(3, resamples=99, seed=0)
    assert bootstrap(values, published=Figure.ok(60.0), drawn=drawn, margin_pp=5).p_value.value == (
        0.01
    )


def test_the_bootstrap_stops_where_it_cannot_reproduce_the_estimate():
    values = history_values([1.0, 2.0])
    with pytest.raises(ReproductionError, match=r"published 1\.6"):
        bootstrap(
            values, published=Figure.ok(1.6), drawn=draws(2, resamples=9, seed=0), margin_pp=5
        )


def test_a_resample_without_a_value_counts_against_the_claim():
    values = history_values([50.0, 0.0], [True, False])
    drawn = np.array([[0, 0], [1, 1], [0, 1]])
    result = bootstrap(values, published=Figure.ok(50.0), drawn=drawn, margin_pp=5)
    assert result.empty_resamples == 1
    assert result.p_value.value == 2 / 4


def test_every_contrast_meets_the_same_resamples():
    values = history_values(VALUES)
    mean = Figure.ok(float(VALUES.mean()))
    one, other = bootstrap_all([(values, mean, 5.0), (values, mean, 5.0)], resamples=200, seed=1)
    assert one == other
