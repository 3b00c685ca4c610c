"""From rows to counts: nothing depends on the order of rows or on names."""

import numpy as np
import pytest

from analysis.arrays import to_cube
from analysis.stats.cells import Cell
from analysis.stats.contrasts import design_of, h1
from analysis.stats.inference import estimate
from analysis.stats.noise import noise_floor_pp
from stores.errors import InvalidInputError
from tests.unit.answer_frames import cube, frame, right

RNG = np.random.default_rng(5)


def swap_cells(names=("A", "B"), n=6, probes=20):
    rng = np.random.default_rng(8)
    return [
        (
            {"format": "notes", "writer": writer, "reader": reader},
            {f"h{h}": rng.integers(0, 2, probes).tolist() for h in range(n)},
        )
        for writer in names
        for reader in names
    ]


def test_counts_are_those_of_pandas():
    table = frame(*swap_cells())
    counts = to_cube(table).counts(Cell("notes", "", "A", "B"))
    chosen = table[(table.writer == "A") & (table.reader == "B")]
    assert counts.correct.tolist() == chosen.groupby("history")["correct"].sum().tolist()


def test_permuting_rows_changes_nothing():
    table = frame(*swap_cells())
    shuffled = table.sample(frac=1, random_state=3).reset_index(drop=True)
    one, other = to_cube(table), to_cube(shuffled)
    assert one.cells == other.cells
    assert one.histories == other.histories
    assert np.array_equal(one.correct, other.correct)


def test_renaming_models_changes_no_contrast():
    one, other = cube(*swap_cells()), cube(*swap_cells(names=("Z", "Y")))
    values = [h1(c, design_of(c)).values for c in (one, other)]
    assert values[0].values == pytest.approx(values[1].values)


def test_histories_are_sorted_by_key():
    cells = [({"format": "notes", "writer": "A", "reader": "A"}, {"b": [1], "a": [0], "C": [1]})]
    assert cube(*cells).histories == ("C", "a", "b")


def test_masks_count_a_kind_alone():
    answers = cube(({"format": "lc_raw", "reader": "A"}, {"h": [1, 0, 1, 0, 1, 1, 1, 1, 1, 1]}))
    counts = answers.counts(answers.cells[0], answers.kinds == "temporal")
    assert (counts.correct[0], counts.probes[0]) == (1, 2)


def test_cells_over_different_probes_are_told_apart_even_when_equal_in_number():
    table = frame(
        ({"format": "notes", "writer": "A", "reader": "A"}, {"h": [1, 1, 1]}),
        ({"format": "notes", "writer": "B", "reader": "A"}, {"h": [1, 1, 1]}),
    )
    table.loc[5, "probe"] = "p999"
    answers = to_cube(table)
    one, other = (answers.counts(cell) for cell in answers.cells)
    assert one.probes[0] == other.probes[0]
    assert one.probe_set[0] != other.probe_set[0]


def test_two_equal_keys_are_refused_with_both_rows():
    table = frame(({"format": "notes", "writer": "A", "reader": "A"}, {"h": [1, 1]}))
    table.loc[1, "probe"] = "p000"
    with pytest.raises(InvalidInputError, match="row 1 and row 2 have the same key"):
        to_cube(table)


def test_an_empty_frame_is_refused():
    with pytest.raises(InvalidInputError, match="there are no answers"):
        to_cube(frame(*swap_cells()).iloc[:0])


def repeats(*counts):
    key = {"format": "notes", "writer": "A", "reader": "B"}
    return [(key | {"repeat": number}, right(k)) for number, k in enumerate(counts)]


def test_the_noise_floor_takes_all_pairs_of_the_repeats_of_a_cell():
    assert noise_floor_pp(cube(*repeats(5, 7))).value == pytest.approx(20)
    # |5−7|, |5−6|, |7−6| of ten probes
    assert noise_floor_pp(cube(*repeats(5, 7, 6))).value == pytest.approx(100 * 0.4 / 3)


def test_without_repeats_the_noise_floor_was_not_measured():
    floor = noise_floor_pp(cube(*repeats(5)))
    assert (floor.value, floor.figure.status) == (None, "undefined")
    assert "not measured" in floor.figure.reason


def test_a_headline_uses_the_lowest_repeat_whatever_its_number():
    answers = cube(({"format": "lc_raw", "reader": "A", "repeat": 3}, right(4)))
    assert answers.first(Cell("lc_raw", "", "", "A")).correct[0] == 4


def test_an_estimate_lists_who_was_left_out():
    answers = cube(({"format": "lc_raw", "reader": "A"}, {"a": [1, 0], "b": [1, None]}))
    result = estimate(answers.counts(answers.cells[0]).accuracy(), unit="accuracy")
    assert result.value == 0.5
    assert [(e.history, e.reason) for e in result.excluded] == [
        ("b", "1 of 2 answers was never scored")
    ]
