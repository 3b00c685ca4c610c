"""A plan expands to exactly the stores and evaluations of the protocol."""

from collections import Counter
from pathlib import Path

import pytest

from experiments.plan.expand import expand
from experiments.plan.plan import load_plan, parse_plan
from experiments.plan.specs import Expansion
from stores.errors import InvalidInputError
from stores.workload.parameters import PRESETS
from stores.workload.types import Event, History
from tests.unit.plans import plan_values


def history(key: str, *, fields: bool = True) -> History:
    facts = {"op": "state", "subject": "Anna", "predicate": "code", "object": "AB-1234"}
    event = Event(key="e1", seq=1, text="Anna's code is AB-1234.", fields=facts if fields else None)
    return History(key=key, events=(event,))


HISTORIES = [history(f"h{n:02}") for n in range(48)]


def writer_swap(histories=HISTORIES, **changes) -> Expansion:
    return expand(parse_plan(plan_values(**changes)), histories)["writer_swap"]


def test_two_models_make_six_stores_and_twelve_evaluations_of_a_history():
    work = writer_swap(HISTORIES[:1])
    assert Counter(store.format for store in work.stores) == {
        "lc_raw": 1, "rag": 1, "notes": 2, "kg_fixed": 2,
    }  # fmt: skip
    assert Counter(cell.format for cell in work.evaluations) == {
        "lc_raw": 2, "rag": 2, "notes": 4, "kg_fixed": 4,
    }  # fmt: skip


def test_the_papers_plan_is_288_stores_and_576_evaluations_with_16_repeats():
    work = writer_swap(tests={"writer_swap": {"noise_repeats": 16}})
    assert len(work.stores) == 288
    assert Counter(cell.repeat for cell in work.evaluations) == {0: 576, 1: 16}


def test_every_cell_reads_a_store_of_its_own_history_format_and_writer():
    work = writer_swap(HISTORIES[:2])
    stores = {store.key: store for store in work.stores}
    assert len(stores) == len(work.stores)
    for cell in work.evaluations:
        store = stores[cell.store_key]
        assert (store.history, store.format, store.writer, store.embedder) == (
            cell.history, cell.format, cell.writer, cell.embedder,
        )  # fmt: skip
    assert len(set(work.evaluations)) == len(work.evaluations)


def test_three_models_read_nine_ways():
    models = [{"key": key, "engine": "scripted"} for key in "abc"]
    work = writer_swap(HISTORIES[:1], models=models)
    assert Counter(cell.format for cell in work.evaluations) == {
        "lc_raw": 3, "rag": 3, "notes": 9, "kg_fixed": 9,
    }  # fmt: skip


def test_one_direction_needs_both_own_readings_and_the_inherited_one():
    work = writer_swap(HISTORIES[:1], formats=["notes"], directions=[["old", "new"]])
    assert {(cell.writer, cell.reader) for cell in work.evaluations} == {
        ("old", "old"), ("old", "new"), ("new", "new"),
    }  # fmt: skip


def test_a_format_that_does_not_apply_is_left_out_with_its_reason():
    work = writer_swap([history("a"), history("b", fields=False)])
    assert [(left.history, left.format) for left in work.left_out] == [("b", "kg_fixed")]
    assert "fields" in work.left_out[0].reason
    assert {s.format for s in work.stores if s.history == "b"} == {"lc_raw", "rag", "notes"}


def test_a_study_left_with_nothing_to_do_is_refused_with_the_reason():
    with pytest.raises(InvalidInputError, match=r"nothing to do: .*fields"):
        writer_swap([history("b", fields=False)], formats=["kg_fixed"])
    with pytest.raises(InvalidInputError, match="names no history"):
        writer_swap([])


def test_work_is_ordered_so_that_each_model_is_loaded_as_rarely_as_possible():
    work = writer_swap(HISTORIES[:3], tests={"writer_swap": {"noise_repeats": 4}})
    writers = [store.writer for store in work.stores]
    assert writers == sorted(writers, key=["", "old", "new"].index)
    first = [cell.reader for cell in work.evaluations if not cell.repeat]
    assert first == sorted(first, key=["new", "old"].index)
    assert [cell.repeat for cell in work.evaluations] == [0] * 36 + [1] * 4


def test_noise_repeats_are_a_seeded_choice_spread_over_the_kinds_of_cells():
    def repeated(seed: int, histories=HISTORIES):
        work = writer_swap(histories, tests={"writer_swap": {"noise_repeats": 12}}, seed=seed)
        return {(c.history, c.format, c.writer, c.reader) for c in work.evaluations if c.repeat}

    assert repeated(1) == repeated(1, HISTORIES[::-1])
    assert repeated(1) != repeated(2)
    assert len({cell[1:] for cell in repeated(1)}) == 12


def test_more_repeats_than_cells_are_refused_with_the_numbers():
    with pytest.raises(InvalidInputError, match=r"13 noise repeats .* 12 cells"):
        writer_swap(HISTORIES[:1], tests={"writer_swap": {"noise_repeats": 13}})


def test_two_embedders_give_the_joint_cell_beside_the_single_ones():
    embedders = [{"key": key, "engine": "scripted"} for key in ("e", "f")]
    one = writer_swap(HISTORIES[:1], formats=["rag"], embedders=embedders)
    assert {cell.embedder for cell in one.evaluations} == {"e"}
    both = writer_swap(
        HISTORIES[:1],
        formats=["rag"],
        embedders=embedders,
        tests={"writer_swap": {"embedders": ["e", "f"]}},
    )
    assert {(cell.reader, cell.embedder) for cell in both.evaluations} == {
        ("old", "e"), ("new", "e"), ("old", "f"), ("new", "f"),
    }  # fmt: skip


def test_the_plan_of_the_papers_size_expands_to_the_papers_counts():
    plan = load_plan(Path(__file__).parents[2] / "experiments" / "studies" / "paper.yaml")
    expansions = expand(plan, HISTORIES)
    upgrade, work = expansions["embedding_upgrade"], expansions["writer_swap"]
    assert (len(upgrade.stores), len(upgrade.evaluations)) == (192, 384)
    assert len(work.stores) == 288
    assert Counter(cell.repeat for cell in work.counted) == {0: 576, 1: 16}
    assert (PRESETS["paper"].histories, PRESETS["paper"].probes_per_kind * 5) == (48, 160)
