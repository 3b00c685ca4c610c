"""What a cell is called, whether it comes from the database or from an answers table."""

import pytest

from analysis.cell_words import reads_inherited, short_title_of, title_of
from analysis.stats.cells import Cell


@pytest.mark.parametrize(
    ("cell", "title", "short"),
    [
        (Cell("notes", "", "old", "new"), "new reads what old wrote", "new reads old’s"),
        (Cell("notes", "", "new", "new"), "new reads its own", "new reads its own"),
        (Cell("lc_raw", "", "", "new"), "new reads", "new reads"),
        (
            Cell("notes", "", "old", "new", "stored_evidence", repeat=1),
            "new reads what old wrote (stored evidence, repeat 1)",
            "new reads old’s stored evidence repeat 1",
        ),
        (
            Cell("rag", "e", "", "", index="mixed"),
            "ranked, nobody reads (index mixed)",
            "index mixed",
        ),
        (
            Cell("notes", "", "old", "new", repair="none"),
            "new reads what old wrote (repair none)",
            "new reads old’s repair none",
        ),
    ],
)
def test_a_cell_says_who_reads_what(cell, title, short):
    assert (title_of(cell), short_title_of(cell)) == (title, short)


def test_repaired_and_fresh_stores_are_told_apart_and_are_nobody_s_inheritance():
    repaired = Cell("notes", "", "old", "new", repair="notes_raw", rung=2)
    fresh = Cell("notes", "", "old", "new", repair="fresh")
    assert title_of(repaired) == "new reads, old → new (repair notes_raw, rung 2)"
    assert title_of(fresh) == "new reads, old → new (a fresh store)"
    assert not reads_inherited(repaired)
    assert not reads_inherited(fresh)
    assert reads_inherited(Cell("notes", "", "old", "new", repair="none"))
