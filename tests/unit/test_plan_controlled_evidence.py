"""Controlled evidence and the gates expand to exactly the cells of the protocol."""

from collections import Counter

import pytest

from experiments.plan.expand import expand
from experiments.plan.plan import parse_plan
from experiments.plan.specs import Expansion
from stores.errors import InvalidInputError
from stores.workload.types import Event, History
from tests.unit.plans import plan_values


def history(key: str, *, fields: bool = True) -> History:
    facts = {"op": "state", "subject": "Anna", "predicate": "code", "object": "AB-1234"}
    event = Event(key="e1", seq=1, text="Anna's code is AB-1234.", fields=facts if fields else None)
    return History(key=key, events=(event,))


HISTORIES = [history(f"h{n:02}") for n in range(48)]
SWAP = {"writer_swap": {}, "controlled_evidence": {}}


def expanded(histories=HISTORIES, *, test="controlled_evidence", **changes) -> Expansion:
    return expand(parse_plan(plan_values(**{"tests": SWAP, **changes})), histories)[test]


def kinds(cells) -> Counter:
    return Counter((cell.condition, cell.format) for cell in cells)


def test_two_models_make_18_evaluations_of_a_history_6_of_them_reused():
    work = expanded(HISTORIES[:1])
    assert kinds(work.reused) == {("normal", "notes"): 4, ("normal", "rag"): 2}
    assert kinds(work.evaluations) == {
        ("stored_evidence", "notes"): 4, ("stored_evidence", "rag"): 2, ("raw_evidence", "*"): 2,
        ("style_rewrite", "notes"): 2, ("stored_evidence", "kg_fixed"): 2,
    }  # fmt: skip
    assert len(work.counted) == 18


def test_48_histories_make_864_evaluations_of_which_576_are_new():
    work = expanded()
    assert len(work.counted) == 864
    assert len(work.evaluations) == 576
    assert len({cell.key for cell in work.counted}) == 864


def test_without_a_writer_swap_the_normal_cells_are_run_here():
    work = expanded(HISTORIES[:1], tests={"controlled_evidence": {}})
    assert not work.reused
    assert kinds(work.evaluations)["normal", "notes"] == 4
    assert kinds(work.evaluations)["normal", "kg_fixed"] == 2


def test_the_new_model_of_each_direction_rewrites_the_old_ones_notes():
    work = expanded(HISTORIES[:1])
    rewrites = [store for store in work.stores if store.derived]
    assert {(s.parent, s.writer, s.derived) for s in rewrites} == {
        ("h00/notes/old", "new", "style_rewrite"), ("h00/notes/new", "old", "style_rewrite"),
    }  # fmt: skip
    cells = {c.store_key: c for c in work.evaluations if c.condition == "style_rewrite"}
    for store in rewrites:
        assert cells[store.key].reader == store.writer
        assert cells[store.key].writer == store.parent.split("/")[-1]


def test_a_parent_is_built_before_what_is_derived_from_it():
    for test in ("controlled_evidence", "gates"):
        tests = {"gates": {}, "writer_swap": {}, "controlled_evidence": {}}
        stores = expanded(HISTORIES[:2], test=test, tests=tests).stores
        place = {store.key: n for n, store in enumerate(stores)}
        derived = [store for store in stores if store.parent]
        assert derived
        assert all(place[store.parent] < place[store.key] for store in derived)


def test_isolated_kg_items_are_checked_in_the_inherited_cell_of_each_direction():
    work = expanded(HISTORIES[:1], directions=[["old", "new"]])
    checks = [c for c in work.evaluations if c.format == "kg_fixed"]
    assert [(c.writer, c.reader, c.condition) for c in checks] == [
        ("old", "new", "stored_evidence")
    ]


def test_every_cell_that_reads_a_store_names_one_of_its_run():
    work = expanded(HISTORIES[:2])
    stores = {store.key for store in work.stores}
    for cell in work.evaluations:
        assert (cell.store_key in stores) == (cell.condition != "raw_evidence")


def test_histories_without_fields_leave_the_kg_checks_out_and_say_why():
    work = expanded([history("plain", fields=False)])
    assert ("stored_evidence", "kg_fixed") not in kinds(work.evaluations)
    assert [(left.history, left.format) for left in work.left_out] == [("plain", "kg_fixed")]


def test_the_gates_read_each_format_at_every_dose_and_each_reader_with_nothing_and_everything():
    work = expanded(HISTORIES[:1], test="gates", tests={"gates": {"doses": [25, 75]}})
    found = kinds(work.evaluations)
    assert found["no_memory", "*"] == found["raw_evidence", "*"] == 2
    for name in ("lc_raw", "rag", "notes", "kg_fixed"):
        for condition in ("normal", "corrupt_25", "corrupt_75"):
            assert found[condition, name] == 2
    assert all(c.writer in ("", c.reader) for c in work.evaluations)


def test_later_tests_reuse_what_the_gates_run():
    tests = {"gates": {}, "writer_swap": {}, "controlled_evidence": {}}
    swap = expanded(HISTORIES[:1], test="writer_swap", tests=tests)
    assert len(swap.counted) == 12
    assert len(swap.reused) == 8
    controlled = expanded(HISTORIES[:1], tests=tests)
    assert len(controlled.counted) == 18
    assert kinds(controlled.reused) == {
        ("normal", "notes"): 4, ("normal", "rag"): 2, ("raw_evidence", "*"): 2,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"formats": ["lc_raw"]}, "neither is named"),
        ({"tests": {"gates": {"doses": [25, 25]}}}, "dose 25 is given twice"),
        ({"tests": {"gates": {"doses": [30]}}}, "doses"),
        (
            {"models": [{"key": "a", "engine": "scripted"}], "tests": {"controlled_evidence": {}}},
            "a style rewrite needs two models",
        ),
    ],
)
def test_a_plan_that_cannot_be_controlled_is_refused(changes, message):
    with pytest.raises(InvalidInputError, match=message):
        parse_plan(plan_values(**{"tests": SWAP, **changes}))
