"""Recall, MRR and the gain of every index, worked out by hand."""

import numpy as np
import pytest

from analysis.arrays import to_cube
from analysis.stats.retrieval import indexes, migrated_share, recall_at_k, reciprocal_rank
from tests.unit.answer_frames import frame, right


def table(ranks=(1, 2, None, 9, 8), recalls=(1.0, 0.5, 0.0, 0.0, 1.0)):
    made = frame(({"format": "rag", "reader": "A", "index": "full"}, right(3, probes=5)))
    made["rank"] = np.array([np.nan if r is None else r for r in ranks])
    made["rank"] = made["rank"].astype("Int32")
    made["recall"] = list(recalls)
    return made


def test_mrr_is_zero_where_nothing_was_retrieved_or_beyond_the_eighth():
    answers = to_cube(table())
    value = reciprocal_rank(answers, answers.cells[0])
    assert value.values[0] == pytest.approx((1 + 1 / 2 + 0 + 0 + 1 / 8) / 5)


def test_recall_is_the_mean_share():
    answers = to_cube(table())
    assert recall_at_k(answers, answers.cells[0]).values[0] == pytest.approx(0.5)


def test_an_empty_recall_is_not_zero():
    answers = to_cube(table(recalls=(1.0, np.nan, 0.0, 0.0, 1.0)))
    figure = recall_at_k(answers, answers.cells[0]).figure(0)
    assert figure.reason == "the recall of 1 probe is not given"


def test_a_cell_without_ranks_has_no_mrr():
    answers = to_cube(frame(({"format": "lc_raw", "reader": "A"}, right(3))))
    assert reciprocal_rank(answers, answers.cells[0]).figure(0).reason == "no rank is given"


def upgrade():
    cells = []
    for reader, base in (("A", 2), ("B", 4)):
        for index, gain in (("old", 0), ("mixed", 1), ("full", 4), ("router", 5), ("mixed_10", 0)):
            key = {"format": "rag", "reader": reader, "index": index}
            cells.append((key, right(base + gain, base + gain)))
    return to_cube(frame(*cells))


def test_gains_are_counted_from_the_old_index_and_readers_are_averaged():
    found = {result.index: result for result in indexes(upgrade())}
    assert list(found) == ["old", "mixed_10", "mixed", "full", "router"]
    assert found["old"].accuracy.value == pytest.approx(0.3)
    assert found["old"].gain_pp.value is None
    assert found["full"].gain_pp.value == pytest.approx(40)
    assert found["mixed"].forfeited.value == pytest.approx(0.75)
    assert found["mixed_10"].forfeited.value == pytest.approx(1.0)


def test_the_oracle_is_never_called_deployable():
    assert [r.index for r in indexes(upgrade()) if not r.deployable] == ["router"]


def test_one_reader_alone_can_be_asked_for():
    found = {result.index: result for result in indexes(upgrade(), reader="B")}
    assert found["full"].accuracy.value == pytest.approx(0.8)


def test_a_full_index_that_gains_nothing_leaves_no_share_to_forfeit():
    cells = [
        ({"format": "rag", "reader": "A", "index": index}, right(5))
        for index in ("old", "mixed", "full")
    ]
    found = {result.index: result for result in indexes(to_cube(frame(*cells)))}
    assert "gains nothing" in found["mixed"].forfeited.reason


def test_the_dial_knows_its_shares():
    assert [migrated_share(i) for i in ("mixed_0", "mixed", "mixed_75", "full", "old")] == [
        0, 50, 75, 100, None,
    ]  # fmt: skip
