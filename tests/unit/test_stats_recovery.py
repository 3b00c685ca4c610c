"""Cost to recover: successes, conditional medians, and what is no success."""

import numpy as np
import pytest

from analysis.stats.cells import CellCounts
from analysis.stats.recovery import Try, cost_to_recover, recoveries
from tests.unit.answer_frames import cube, right

NAMES = ["a", "b", "c", "d"]


def counts(*correct, probes=100, blank=None):
    return CellCounts.of(NAMES, correct, [probes] * 4, blank)


FRESH = counts(80, 80, 80, 80)


def tries(*shift):
    costs = np.array([3.0, 1.0, 2.0, 5.0])
    return [
        Try(1, counts(71, 72, 10, 80), costs + sum(shift)),
        Try(2, counts(80, 80, 10, 80), 2 * costs + sum(shift)),
    ]


def test_the_cheapest_success_counts_and_failures_stay_out_of_the_median():
    found = cost_to_recover(tries(), FRESH, target=0.9)
    assert [f.value for f in found.costs] == [6.0, 1.0, None, 5.0]
    assert found.costs[2].status == "unreachable"
    assert (found.n_success, found.n_histories, found.median_cost.value) == (3, 4, 5.0)


def test_a_stricter_target_can_show_a_cheaper_median():
    easy = [Try(1, counts(80, 72, 72, 72), np.array([1.0, 9.0, 9.0, 9.0]))]
    assert cost_to_recover(easy, FRESH, target=0.9).median_cost.value == 9.0
    assert cost_to_recover(easy, FRESH, target=0.99).median_cost.value == 1.0


def test_all_repairs_failing_is_unreachable_and_not_undefined():
    failing = [Try(1, counts(1, 1, 1, 1), np.ones(4))]
    found = cost_to_recover(failing, FRESH, target=0.9)
    assert (found.n_success, found.n_histories, found.median_cost.status) == (0, 4, "unreachable")


def test_an_unscored_repair_is_neither_success_nor_failure():
    blank = [Try(1, counts(80, 80, 80, 80, blank=[0, 1, 0, 0]), np.ones(4))]
    found = cost_to_recover(blank, FRESH, target=0.9)
    assert found.costs[1].status == "undefined"
    assert found.costs[1].reason == "1 of 100 answers was never scored (rung 1)"
    assert found.n_histories == 3


def test_a_success_at_an_unknown_cost_has_no_cost():
    unknown = [Try(1, counts(80, 80, 80, 80), np.full(4, np.nan))]
    found = cost_to_recover(unknown, FRESH, target=0.9)
    assert found.costs[0].reason == "the target was reached at a cost that is not known"


@pytest.mark.parametrize("shift", [0.5, 10.0])
def test_adding_a_constant_to_all_costs_shifts_the_result(shift):
    plain = cost_to_recover(tries(), FRESH, target=0.9)
    moved = cost_to_recover(tries(shift), FRESH, target=0.9)
    assert moved.n_success == plain.n_success
    assert moved.median_cost.value == pytest.approx(plain.median_cost.value + shift)


def repair_cells():
    key = {"format": "notes", "writer": "A", "reader": "B"}
    fresh = (key | {"repair": "fresh"}, right(10, 10, 10))
    inherited = (key, right(9, 5, 5))
    raw = [
        (key | {"repair": "notes_raw", "rung": r, "cost_usd": 0.1 * r}, right(10, 8 + r // 2, 3))
        for r in (1, 2, 3)
    ]
    store = [
        (key | {"repair": "notes_store", "rung": r, "cost_usd": 0.05 * r}, right(5, 5, 5))
        for r in (1, 2, 3)
    ]
    return [fresh, inherited, *raw, *store]


def test_none_is_taken_from_the_writer_swap_and_stays_out_of_the_minimum():
    found = recoveries(cube(*repair_cells()), targets=(0.9,))
    by_method = {recovery.method: recovery for recovery in found}
    assert by_method["none"].source == "taken from the writer swap"
    assert (by_method["none"].n_success, by_method["none"].median_cost.value) == (1, 0.0)
    assert by_method["notes_raw"].costs[1].value == pytest.approx(0.2)
    assert [f.value for f in by_method["any"].costs] == [
        pytest.approx(0.1), pytest.approx(0.2), None,
    ]  # fmt: skip


def test_a_row_of_its_own_for_none_is_preferred():
    key = {"format": "notes", "writer": "A", "reader": "B", "repair": "none"}
    found = recoveries(cube(*repair_cells(), (key, right(10, 10, 5))), targets=(0.9,))
    none = next(recovery for recovery in found if recovery.method == "none")
    assert (none.source, none.n_success) == ("", 2)


def test_the_inherited_rag_store_is_the_old_index():
    key = {"format": "rag", "writer": "A", "reader": "B"}
    answers = cube(
        (key | {"repair": "fresh"}, right(10)),
        (key | {"repair": "rag_reembed", "rung": 1, "cost_usd": 0.01}, right(10)),
        ({"format": "rag", "reader": "B", "index": "old"}, right(4)),
    )
    none = next(r for r in recoveries(answers, targets=(0.9,)) if r.method == "none")
    assert (none.source, none.n_success, none.n_histories) == ("taken from the old index", 0, 1)
