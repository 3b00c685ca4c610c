"""Loss decomposition: parts add up, negatives stay, shares are ratios of pooled means."""

import pytest

from analysis.stats.decomposition import COMPONENTS, decompose
from tests.unit.answer_frames import cube, right


def cells(name="notes", normal=(4, 6), stored=(5, 5), raw=(9, 9), writers=("A", "B")):
    made = [
        ({"format": "*", "writer": "*", "reader": "R", "condition": "raw_evidence"}, right(*raw))
    ]
    for writer in writers:
        key = {"format": name, "writer": writer, "reader": "R"}
        made += [(key, right(*normal)), (key | {"condition": "stored_evidence"}, right(*stored))]
    return made


def test_the_parts_add_up_to_the_total_in_every_history():
    loss = decompose(cube(*cells()), "notes")
    assert loss.total.value == pytest.approx(0.5)
    for position in range(2):
        parts = sum(loss.components[c].per_history.values[position] for c in COMPONENTS)
        assert parts == pytest.approx(loss.total.per_history.values[position])
    assert {c: loss.components[c].value for c in COMPONENTS} == pytest.approx(
        {"retrieval": 0.0, "construction": 0.4, "reader": 0.1}
    )


def test_a_negative_part_is_kept():
    loss = decompose(cube(*cells(normal=(6, 6), stored=(5, 5))), "notes")
    assert loss.components["retrieval"].value == pytest.approx(-0.1)
    assert loss.shares["retrieval"].value == pytest.approx(-0.25)


def test_shares_are_ratios_of_pooled_means_and_not_means_of_ratios():
    loss = decompose(cube(*cells(normal=(2, 9), stored=(6, 9), raw=(10, 10))), "notes")
    assert loss.shares["retrieval"].value == pytest.approx(0.2 / 0.45)


def test_without_loss_there_are_no_shares():
    loss = decompose(cube(*cells(normal=(10, 10), stored=(10, 10), raw=(10, 10))), "notes")
    assert loss.shares["reader"].reason == "nothing is lost: the total is 0"


def test_a_history_without_one_condition_is_left_out_of_all_parts():
    made = cells()
    made[2] = (made[2][0], right(5))
    loss = decompose(cube(*made), "notes")
    assert loss.total.n_histories == 1
    assert loss.total.excluded[0].reason == "the cell is missing"


def test_a_graph_is_left_out_where_its_items_alone_do_worse():
    loss = decompose(cube(*cells("kg_fixed", normal=(9, 9), stored=(7, 7))), "kg_fixed")
    assert "do worse than its normal read (-20.0 pp)" in loss.left_out_because
    kept = decompose(cube(*cells("kg_fixed", normal=(7, 7), stored=(9, 9))), "kg_fixed")
    assert kept.left_out_because == ""


def test_one_cell_or_one_kind_alone_can_be_asked_for():
    answers = cube(*cells())
    one = decompose(answers, "notes", mask=answers.kinds == "direct")
    assert one.total.n_histories == 2
    chosen = [cell for cell in answers.cells if cell.writer == "A" and cell.condition == "normal"]
    assert len(decompose(answers, "notes", cells=chosen).cells) == 1
