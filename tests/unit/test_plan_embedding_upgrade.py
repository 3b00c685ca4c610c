"""An embedding upgrade expands to the protocol's stores and evaluations, or says what is wrong."""

from collections import Counter

import pytest

from experiments.plan.embedding_upgrade import leave_out_impossible, retrieval_only
from experiments.plan.expand import expand
from experiments.plan.plan import parse_plan, plan_sha256, plan_value
from experiments.plan.problems import InvalidPlanError
from experiments.plan.specs import Expansion
from stores.errors import InvalidInputError
from stores.workload.types import Event, History
from tests.unit.plans import plan_values

HISTORIES = [
    History(key=f"h{n:02}", events=(Event(key="e1", seq=1, text="The code is AB-1234."),))
    for n in range(48)
]
EMBEDDERS = [{"key": key, "engine": "scripted", "price": {}} for key in ("before", "after")]


def plan(**settings):
    return parse_plan(values(**settings))


def values(**settings):
    upgrade = {"old": "before", "new": "after", **settings}
    return plan_values(embedders=EMBEDDERS, tests={"embedding_upgrade": upgrade})


def expansion(**settings) -> Expansion:
    return expand(plan(**settings), HISTORIES)["embedding_upgrade"]


def problem(**changes) -> str:
    with pytest.raises(InvalidPlanError) as caught:
        parse_plan({**values(), **changes})
    return str(caught.value)


def test_the_papers_four_indexes_are_192_stores_and_384_evaluations_of_48_histories():
    found = expansion()
    assert (len(found.stores), len(found.evaluations)) == (192, 384)
    by_index = Counter((cell.index, cell.reader) for cell in found.evaluations)
    assert by_index == {
        (index, reader): 48
        for index in ("old", "full", "mixed", "router")
        for reader in ("old", "new")
    }


def test_both_readers_read_the_same_store_of_an_index():
    found = expansion()
    keys = {store.key for store in found.stores}
    readers = Counter(cell.store_key for cell in found.evaluations)
    assert set(readers) == keys
    assert set(readers.values()) == {2}


def test_the_embedder_of_a_cell_is_the_one_that_the_service_asks_with():
    asked = {(cell.index, cell.embedder) for cell in expansion().evaluations}
    assert asked == {("old", "before"), ("full", "after"), ("mixed", "after"), ("router", "after")}


def test_the_dial_and_the_deployable_indexes_are_added_once():
    found = expansion(
        indexes=["old", "full", "mixed", "dual_query", "version_filter"],
        dial=[0, 10, 25, 50, 75, 90, 100],
    )
    assert [store.index for store in found.stores[:10]] == [
        "old", "full", "mixed", "dual_query", "version_filter",
        "mixed_0", "mixed_10", "mixed_25", "mixed_75", "mixed_90",
    ]  # fmt: skip
    assert len(found.stores) == 480


def test_one_reader_finishes_before_the_next_one_is_loaded():
    readers = [cell.reader for cell in expansion().evaluations]
    assert readers == sorted(readers, key=["old", "new"].index)


def test_repeats_are_spread_over_the_indexes_and_asked_again():
    repeats = [cell for cell in expansion(noise_repeats=8).evaluations if cell.repeat]
    assert Counter((c.index, c.reader) for c in repeats) == {
        (index, reader): 1
        for index in ("old", "full", "mixed", "router")
        for reader in ("old", "new")
    }


def test_retrieval_alone_ranks_once_for_all_readers():
    found = expansion(retrieval_only=True)
    assert len(found.evaluations) == 192
    assert {cell.reader for cell in found.evaluations} == {""}


def test_a_retrieval_only_plan_needs_no_model():
    data = values(retrieval_only=True) | {"models": []}
    assert expand(parse_plan(data), HISTORIES)["embedding_upgrade"].evaluations


def test_one_model_alone_can_be_the_reader():
    data = values() | {"models": [{"key": "only", "engine": "scripted"}]}
    found = expand(parse_plan(data), HISTORIES)["embedding_upgrade"]
    assert len(found.evaluations) == 192


def test_vectors_of_two_sizes_leave_the_mixed_indexes_out_and_say_what_a_service_would_do():
    one = plan(indexes=["old", "full", "mixed", "dual_query"], dial=[25])
    kept = leave_out_impossible(expand(one, HISTORIES), one, {"before": 384, "after": 768})
    found = kept["embedding_upgrade"]
    assert {store.index for store in found.stores} == {"old", "full", "dual_query"}
    assert {cell.index for cell in found.evaluations} == {"old", "full", "dual_query"}
    assert [left.reason.split(":")[0] for left in found.left_out] == [
        "the index mixed", "the index mixed_25",
    ]  # fmt: skip
    assert "no mixing is possible of 384 and 768 dimensions" in found.left_out[0].reason
    assert "dual_query" in found.left_out[0].reason


def test_vectors_of_one_size_or_of_unknown_size_leave_nothing_out():
    one = plan()
    expansions = expand(one, HISTORIES)
    assert leave_out_impossible(expansions, one, {"before": 384, "after": 384}) == expansions
    assert leave_out_impossible(expansions, one, {}) == expansions


def test_a_test_that_only_mixes_two_sizes_has_nothing_to_do():
    one = plan(indexes=["mixed"])
    sizes = {"before": 384, "after": 768}
    with pytest.raises(InvalidInputError, match="nothing to do: no mixing is possible"):
        leave_out_impossible(expand(one, HISTORIES), one, sizes)


def test_the_retrieval_of_a_plan_is_a_study_of_its_own_without_models():
    whole = parse_plan(
        values() | {
            "tests": {
                "writer_swap": {},
                "embedding_upgrade": {"old": "before", "new": "after", "noise_repeats": 3},
            },
            "analysis": {"contrasts": [{"key": "H2"}]},
        }
    )  # fmt: skip
    alone = parse_plan(plan_value(retrieval_only(whole)))
    assert (alone.key, alone.models, alone.formats) == ("two-models-retrieval", (), ("rag",))
    assert alone.tests.writer_swap is None
    assert list(expand(alone, HISTORIES)) == ["embedding_upgrade"]
    assert plan_sha256(retrieval_only(alone)) == plan_sha256(alone)


def test_a_plan_without_an_upgrade_has_no_retrieval_to_run():
    with pytest.raises(InvalidInputError, match="nothing to retrieve without answers"):
        retrieval_only(parse_plan(plan_values()))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"formats": ["notes"]}, "needs the format 'rag'"),
        ({"models": []}, "needs at least one model that reads"),
        ({"tests": {"embedding_upgrade": {"old": "befor", "new": "after"}}},
         "the embedder 'befor' is not in the plan"),
        ({"tests": {"embedding_upgrade": {"old": "after", "new": "after"}}}, "to itself"),
        ({"tests": {"embedding_upgrade": {"old": "before", "new": "after", "indexes": ["half"]}}},
         "'half'"),
        ({"tests": {"embedding_upgrade": {"old": "before", "new": "after", "indexes": []}}},
         "no index is named"),
        ({"tests": {"embedding_upgrade": {"old": "before", "new": "after", "dial": [101]}}},
         "at most 100"),
        ({"tests": {"embedding_upgrade": {"old": "before", "new": "after", "dial": [5, 5]}}},
         "the share 5 is given twice"),
        ({"tests": {"embedding_upgrade": {"old": "before", "new": "after", "noise_repeats": 1,
                                          "retrieval_only": True}}},
         "no noise repeats"),
        ({"tests": {"embedding_upgrade": {"old": "before", "new": "after", "indexes": ["mixed"]}},
          "analysis": {"contrasts": [{"key": "H2"}]}}, "H2 needs the index 'full'"),
        ({"tests": {"embedding_upgrade": {"old": "before", "new": "after",
                                          "retrieval_only": True}},
          "analysis": {"contrasts": [{"key": "H2"}]}}, "this upgrade is retrieval-only"),
        ({"tests": {}}, "no test is named"),
    ],
)  # fmt: skip
def test_a_plan_that_does_not_fit_together_says_so(changes, words):
    assert words in problem(**changes)


def test_too_many_repeats_are_refused_with_the_number_of_cells():
    with pytest.raises(InvalidInputError, match="the embedding upgrade has 384 cells"):
        expansion(noise_repeats=385)
