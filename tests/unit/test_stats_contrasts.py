"""The four contrasts, worked out by hand on small tables."""

import pytest

from analysis.stats.contrasts import CONTRASTS, Design, design_of, h1, h2, h4a, h7a
from tests.unit.answer_frames import cube, right


def written(name, table):
    """Cells of a written format: {(writer, reader): right answers by history}."""
    return [
        ({"format": name, "writer": w, "reader": r}, right(*counts))
        for (w, r), counts in table.items()
    ]


NOTES = {("A", "A"): (5, 8), ("B", "B"): (10, 4), ("A", "B"): (6, 4), ("B", "A"): (4, 10)}
GRAPH = {("A", "A"): (10, 10), ("B", "B"): (10, 10), ("A", "B"): (9, 10), ("B", "A"): (10, 8)}


def test_h1_is_half_the_sum_of_both_losses_of_ratio():
    answers = cube(*written("notes", NOTES))
    contrast = h1(answers, design_of(answers))
    # h00: r(A→B) = 6/10, r(B→A) = 4/5; h01: 4/4 and 10/8.
    assert contrast.values.values == pytest.approx([50 * (0.4 + 0.2), 50 * (0 - 0.25)])
    assert [label for label, _ in contrast.parts] == ["A → B", "B → A"]
    assert contrast.parts[0][1].values == pytest.approx([40, 0])


def test_h4a_is_the_difference_of_the_two_penalties():
    answers = cube(*written("notes", NOTES), *written("kg_fixed", GRAPH))
    contrast = h4a(answers, design_of(answers))
    penalty_graph = [50 * (0.1 + 0), 50 * (0 + 0.2)]
    notes = h1(answers, design_of(answers)).values.values
    assert contrast.values.values == pytest.approx(notes - penalty_graph)


def test_a_planned_direction_without_cells_makes_the_penalty_undefined():
    answers = cube(*written("notes", NOTES))
    design = Design(directions=(("A", "B"), ("B", "A"), ("C", "A")))
    contrast = h1(answers, design)
    assert not contrast.values.defined.any()
    assert contrast.values.reasons == ("the cell is missing",) * 2
    assert contrast.parts[0][1].defined.all()


def test_three_models_average_over_six_directions():
    models = "ABC"
    table = {(w, r): (10 if w == r else 8,) for w in models for r in models}
    answers = cube(*written("notes", table))
    contrast = h1(answers, design_of(answers))
    assert len(contrast.parts) == 6
    assert contrast.values.values == pytest.approx([20])


def indexed(reader, index, *counts):
    return ({"format": "rag", "reader": reader, "index": index}, right(*counts))


def test_h2_averages_the_readers_within_a_history():
    answers = cube(
        indexed("A", "full", 8, 6), indexed("A", "mixed", 6, 6),
        indexed("B", "full", 9, 5), indexed("B", "mixed", 5, 6),
    )  # fmt: skip
    contrast = h2(answers, design_of(answers))
    assert contrast.values.values == pytest.approx([(20 + 40) / 2, (0 - 10) / 2])


def repaired(old, new, method, rung, *counts):
    key = {"format": "notes", "writer": old, "reader": new, "repair": method, "rung": rung}
    return (key, right(*counts))


def test_h7a_averages_directions_and_rungs_within_a_history():
    cells = []
    for old, new, gain in (("A", "B", 3), ("B", "A", 1)):
        for rung in (1, 2, 3):
            cells.append(repaired(old, new, "notes_raw", rung, 4 + gain + rung))
            cells.append(repaired(old, new, "notes_store", rung, 4 + rung))
    answers = cube(*cells)
    contrast = h7a(answers, design_of(answers))
    assert contrast.values.values == pytest.approx([20])
    assert [part.values[0] for _, part in contrast.parts] == pytest.approx([30, 10])


def test_a_missing_rung_leaves_the_history_out_and_names_the_reason():
    cells = [repaired("A", "B", m, r, 5, 5) for m in ("notes_raw", "notes_store") for r in (1, 2)]
    cells[3] = repaired("A", "B", "notes_store", 2, 5)
    answers = cube(*cells)
    contrast = h7a(answers, design_of(answers))
    assert contrast.values.defined.tolist() == [True, False]
    assert contrast.values.reasons[1] == "the cell is missing"


def test_contrasts_without_cells_are_none():
    answers = cube(({"format": "lc_raw", "reader": "A"}, right(5)))
    assert [make(answers, design_of(answers)) for make in CONTRASTS.values()] == [None] * 4
