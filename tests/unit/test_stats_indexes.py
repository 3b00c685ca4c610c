"""The distance of every index to the old and the full one, worked out by hand."""

import numpy as np
import pytest

from analysis.arrays import to_cube
from analysis.index_gap import findings, section
from analysis.stats.indexes import indexes
from analysis.stats.retrieval import reciprocal_rank
from tests.unit.answer_frames import frame

HISTORIES = ("h00", "h01", "h02")


def table(by_index, *, reader=""):
    """One cell per index; of each history the recall of two probes and their ranks."""
    unscored = {history: [None if not reader else 1] * 2 for history in HISTORIES}
    cells = [({"format": "rag", "reader": reader, "index": index}, unscored) for index in by_index]
    made = frame(*cells)
    made["recall"] = [r for recalls in by_index.values() for r in recalls]
    ranks = [1 if r else None for recalls in by_index.values() for r in recalls]
    made["rank"] = np.array([np.nan if r is None else r for r in ranks])
    made["rank"] = made["rank"].astype("Int32")
    return to_cube(made)


RECALLS = {
    "old": [0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
    "mixed": [0.0, 0.5, 0.5, 0.0, 0.5, 0.5],
    "full": [1.0, 1.0, 1.0, 0.5, 1.0, 0.5],
    "router": [1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
}


def test_the_distances_are_taken_history_by_history():
    found = {result.index: result for result in indexes(table(RECALLS))}
    behind = found["mixed"].behind_full.recall
    assert behind.per_history.values.tolist() == pytest.approx([-0.75, -0.5, -0.25])
    assert behind.value == pytest.approx(-0.5)
    assert behind.low == pytest.approx(-0.5 - 4.302652729911275 * 0.25 / np.sqrt(3))
    assert found["mixed"].gain.recall.value == pytest.approx(-1 / 6)
    assert found["full"].gain.recall.value == pytest.approx(1 / 3)
    assert found["mixed"].forfeited_recall.value == pytest.approx(1.5)
    assert found["full"].behind_full.recall.value is None


def test_where_nobody_reads_the_accuracy_is_not_asked_and_no_history_is_called_unscored():
    (old, *_) = indexes(table(RECALLS))
    assert old.accuracy.value is None
    assert old.accuracy.figure.reason.endswith("answers were not asked")
    assert {gone.reason for gone in old.accuracy.excluded} == {"answers were not asked"}


def test_the_mean_reciprocal_rank_is_zero_where_nothing_at_all_was_retrieved():
    cube = table({"old": [0.0] * 6})
    assert reciprocal_rank(cube, cube.cells[0]).values.tolist() == [0, 0, 0]


def test_the_finding_says_measurably_only_where_the_whole_interval_lies_below():
    spread = findings(indexes(table(RECALLS)), asked=False)
    assert spread[0].startswith("Mixed against full, recall@8: −0.500 (95 % interval −1.121 to")
    assert spread[0].endswith("not measurably below")
    tight = {**RECALLS, "mixed": [0.5, 0.5, 0.25, 0.5, 0.5, 0.25]}
    assert findings(indexes(table(tight)), asked=False)[0].endswith("measurably below")
    better = {**RECALLS, "mixed": [1.0] * 6, "full": [0.5, 0.5, 0.5, 0.25, 0.5, 0.5]}
    assert findings(indexes(table(better)), asked=False)[0].endswith("measurably above")


def test_without_mixed_or_full_there_is_no_finding():
    assert findings(indexes(table({"old": RECALLS["old"]})), asked=False) == []
    assert section(table({"old": RECALLS["old"]}))[0]["finding"] == []


def test_one_history_has_no_interval_and_the_finding_says_so():
    unscored = {"h00": [None, None]}
    made = frame(*(({"format": "rag", "reader": "", "index": index}, unscored)
                   for index in ("old", "mixed", "full")))  # fmt: skip
    made["recall"] = [0.5, 0.5, 0.0, 0.5, 1.0, 1.0]
    (line, _) = findings(indexes(to_cube(made)), asked=False)
    assert "no interval" in line
    assert "measurably" not in line
