"""Repair expands to exactly the cells of the protocol, on the stores that really degraded."""

from collections import Counter
from pathlib import Path

import pytest

from experiments.plan.expand import expand
from experiments.plan.plan import load_plan, parse_plan
from experiments.plan.problems import InvalidPlanError
from experiments.plan.specs import Expansion
from stores.workload.types import Event, History
from tests.unit.plans import plan_values

FACTS = {"op": "state", "subject": "Anna", "predicate": "code", "object": "AB-1234"}
EVENT = Event(key="e1", seq=1, text="Anna's code is AB-1234.", fields=FACTS)
HISTORIES = [History(key=f"h{n:02}", events=(EVENT,)) for n in range(48)]
PAPER = Path("experiments/studies/paper.yaml")
VECTORS = [
    {"key": "before", "engine": "scripted", "price": {}},
    {"key": "after", "engine": "scripted", "price": {}},
]
UPGRADE = {"old": "before", "new": "after"}


def expanded(n_histories: int = 1, *, settings=None, **changes) -> Expansion:
    tests = {"embedding_upgrade": UPGRADE, "repair": settings or {}}
    values = plan_values(**{"embedders": VECTORS, "tests": tests, **changes})
    return expand(parse_plan(values), HISTORIES[:n_histories])["repair"]


def refusal(settings, **changes) -> str:
    values = {"embedders": VECTORS, "tests": {"repair": settings}, **changes}
    with pytest.raises(InvalidPlanError) as caught:
        parse_plan(plan_values(**values))
    return str(caught.value)


def test_two_models_make_30_evaluations_of_a_history():
    cells = expanded().evaluations
    notes = [cell for cell in cells if cell.format == "notes"]
    assert Counter((c.writer, c.reader, c.repair, c.rung) for c in notes) == {
        (old, new, method, rung): 1
        for old, new in (("old", "new"), ("new", "old"))
        for method, rungs in (("fresh", (0,)), ("notes_raw", (1, 2, 3)), ("notes_store", (1, 2, 3)))
        for rung in rungs
    }  # fmt: skip
    assert Counter(cell.repair for cell in cells) == {
        "notes_raw": 6, "notes_store": 6, "rag_reembed": 6, "kg_rebuild": 6, "fresh": 6
    }  # fmt: skip
    assert len(cells) == 30


def test_48_histories_make_1440_evaluations():
    cells = expanded(48).evaluations
    assert len(cells) == len({cell.key for cell in cells}) == 1_440


def test_the_papers_plan_counts_576_384_1440_and_864_evaluations():
    expansions = expand(load_plan(PAPER), HISTORIES)
    assert {
        name: sum(not cell.repeat for cell in work.counted)
        for name, work in expansions.items()
        if name != "gates"
    } == {
        "writer_swap": 576, "embedding_upgrade": 384, "repair": 1_440, "controlled_evidence": 864
    }  # fmt: skip


def test_a_repair_begins_at_the_old_models_store_and_a_fresh_one_is_the_new_models():
    work = expanded()
    stores = {store.key: store for store in work.stores}
    for cell in work.evaluations:
        store = stores[cell.store_key]
        if cell.format == "rag":
            assert cell.embedder == store.embedder == "after"
            assert cell.repair == "fresh" or stores[store.parent].embedder == "before"
        elif cell.repair == "fresh":
            assert (store.writer, store.parent) == (cell.reader, "")
        else:
            assert (stores[store.parent].writer, store.writer) == (cell.writer, cell.reader)
            assert (store.repair, store.rung) == (cell.repair, cell.rung)
    assert all(
        list(stores).index(store.parent) < list(stores).index(store.key)
        for store in work.stores
        if store.parent
    )


def test_a_named_repairer_repairs_in_every_direction():
    repaired = [s for s in expanded(settings={"repairer": "new"}).stores if s.repair]
    assert {store.writer for store in repaired} == {"new", ""}


def test_a_method_without_its_format_is_left_out():
    work = expanded(formats=["notes"], tests={"repair": {}}, embedders=[])
    assert {cell.format for cell in work.evaluations} == {"notes"}
    assert len(work.evaluations) == 14


@pytest.mark.parametrize(
    ("settings", "changes", "what"),
    [
        ({"rungs": [512, 256]}, {}, "the allowances do not rise"),
        ({"rungs": [1, 2, 3, 4]}, {}, "rungs"),
        ({"repairer": "nwe"}, {}, "Did you mean 'new'?"),
        ({}, {}, "rag_reembed does not know this embedder"),
        ({"old_embedder": "after", "new_embedder": "after"}, {}, "from 'after' to itself"),
        ({"methods": ["kg_rebuild"]}, {"formats": ["notes"]}, "repair none of the formats"),
        (
            {"methods": ["notes_raw"]},
            {"analysis": {"contrasts": [{"key": "H7a"}]}},
            "the contrast H7a needs the method 'notes_store'",
        ),
    ],
)
def test_a_repair_that_cannot_be_is_refused_with_its_place(settings, changes, what):
    assert what in refusal(settings, **changes)
