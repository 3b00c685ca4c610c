"""Retained performance and its neighbours: exact at the floor, undefined with a reason."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.stats.cells import CellCounts
from analysis.stats.metrics import (
    above_floor,
    difference,
    direct_gap,
    exact,
    reaches,
    retained_performance,
    service_change_pp,
    swap_delta_pp,
    writer_swap_penalty_pp,
)

counts = st.integers(1, 200).flatmap(
    lambda n: st.tuples(st.integers(0, n), st.integers(0, n), st.just(n))
)


def cell(correct, probes, blank=None):
    names = [f"h{position}" for position in range(len(correct))]
    return CellCounts.of(names, correct, probes, blank)


def test_the_floor_is_decided_on_integers_and_equality_passes():
    # 0.2 · n is no float for most n; every multiple of five must pass exactly.
    n = np.arange(5, 2000, 5)
    assert above_floor(cell(n // 5, n)).all()
    assert not above_floor(cell(n // 5 - 1, n)).any()


@pytest.mark.parametrize("chance", [0.1, 0.25, 0.3, 1 / 3])
def test_the_floor_above_chance_is_decided_on_fractions(chance):
    n = 6000
    at_floor = (exact(chance) + exact(0.2)) * n
    assert at_floor.denominator == 1
    k = int(at_floor)
    assert above_floor(cell([k], [n]), chance=chance).all()
    assert not above_floor(cell([k - 1], [n]), chance=chance).any()


def test_below_the_floor_the_ratio_is_undefined_and_the_gap_is_still_there():
    own, inherited = cell([1], [10]), cell([0], [10])
    ratio = retained_performance(own, inherited).figure(0)
    assert (ratio.value, ratio.status) == (None, "undefined")
    assert ratio.reason == "own-store score below 0.20 above chance"
    assert direct_gap(own, inherited).figure(0).value == pytest.approx(0.1)


def test_a_ratio_may_exceed_one_and_may_be_negative():
    own = cell([50, 60], [100, 100])
    assert retained_performance(own, cell([100, 9], [100, 100]), chance=0.1).values == (
        pytest.approx([2.25, -0.02])
    )


def test_gap_and_swap_delta_have_opposite_signs_and_units():
    own, inherited = cell([8], [10]), cell([6], [10])
    assert direct_gap(own, inherited).values[0] == pytest.approx(0.2)
    assert swap_delta_pp(own, inherited).values[0] == pytest.approx(-20)


def test_a_swap_can_gain_while_the_service_loses():
    old_on_own, new_on_own, new_on_old = cell([9], [10]), cell([5], [10]), cell([7], [10])
    assert swap_delta_pp(new_on_own, new_on_old).values[0] == pytest.approx(20)
    assert service_change_pp(old_on_own, new_on_old).values[0] == pytest.approx(-20)


def test_a_cell_over_other_probes_is_not_compared():
    figure = difference(cell([5], [10]), cell([5], [9])).figure(0)
    assert figure.reason == "the cells were asked different probes"


def test_an_unscored_answer_is_neither_wrong_nor_dropped():
    figure = difference(cell([5], [10], [2]), cell([5], [10])).figure(0)
    assert figure.reason == "2 of 10 answers were never scored"


def test_a_missing_cell_says_so():
    assert difference(cell([0], [0]), cell([5], [9])).figure(0).reason == "the cell is missing"


def test_the_penalty_is_undefined_where_one_direction_is():
    own = cell([80, 10], [100, 100])
    forward = retained_performance(own, cell([60, 10], [100, 100]))
    backward = retained_performance(cell([50, 50], [100, 100]), cell([60, 10], [100, 100]))
    penalty = writer_swap_penalty_pp([forward, backward])
    assert penalty.values[0] == pytest.approx(50 * ((1 - 0.75) + (1 - 1.2)))
    assert penalty.figure(1).reason == "own-store score below 0.20 above chance"


def test_a_penalty_over_three_directions_is_their_mean():
    own = cell([50], [100])
    parts = [retained_performance(own, cell([k], [100])) for k in (40, 50, 70)]
    assert writer_swap_penalty_pp(parts).values[0] == pytest.approx(100 * (0.2 + 0 - 0.4) / 3)


@pytest.mark.parametrize("share", [0.9, 0.95, 0.99])
def test_a_target_is_reached_at_equality(share):
    own = np.arange(100, 20001, 100)
    target = np.round(own * share).astype(int)
    assert reaches(cell(target, own), cell(own, own), exact(share)).all()
    assert not reaches(cell(target - 1, own), cell(own, own), exact(share)).any()


@given(counts)
def test_retained_performance_is_the_plain_ratio(numbers):
    k_inherited, k_own, n = numbers
    figure = retained_performance(cell([k_own], [n]), cell([k_inherited], [n])).figure(0)
    if 5 * k_own >= n:
        assert figure.value == pytest.approx((k_inherited / n) / (k_own / n))
    else:
        assert figure.value is None


@given(st.lists(counts, min_size=2, max_size=8), st.randoms())
def test_the_order_of_the_histories_changes_no_value(numbers, random):
    shuffled = numbers[:]
    random.shuffle(shuffled)
    once = swap_delta_pp(*(cell([r[i] for r in numbers], [r[2] for r in numbers]) for i in (1, 0)))
    again = swap_delta_pp(
        *(cell([r[i] for r in shuffled], [r[2] for r in shuffled]) for i in (1, 0))
    )
    assert sorted(once.values) == sorted(again.values)
