"""Every index of an embedding upgrade: all ranks recomputed from the stored vectors."""

from itertools import pairwise

import numpy as np
import pytest

from experiments.services.asking import rank_and_recall
from stores.errors import InvalidInputError
from stores.formats.base import WriteBudget
from stores.formats.rag import Rag
from stores.formats.rag_indexes import index_of, read_index, write_index
from stores.vectors.arms import ARM_NAMES, arm_of, dial_name
from stores.vectors.halves import migrated_positions
from stores.vectors.index import VectorIndex
from stores.vectors.spaces import compare_spaces, spread_out
from stores.workload.generator import generate
from tests.factories import BagEmbedder
from tests.index_ranks import TurnedEmbedder, expected_order, parts_of

BUDGET = WriteBudget(writer_output_tokens=64, chunk_chars=160, seed=3)
DIAL = [dial_name(p) for p in (0, 10, 25, 50, 75, 90, 100)]
ARMS = list(dict.fromkeys([*ARM_NAMES, *DIAL]))


@pytest.fixture(scope="module")
def history():
    return generate("small", seed=5)[0]


@pytest.fixture(scope="module")
def embedders():
    return {"old": BagEmbedder("before"), "new": TurnedEmbedder("after")}


@pytest.fixture(scope="module")
def stores(history, embedders):
    return {
        name: write_index(history, arm=arm_of(name), budget=BUDGET, **embedders).content
        for name in ARMS
    }


def readings(stores, history, embedders, name, probes=None):
    return read_index(
        stores[name], probes or history.probes, arm=arm_of(name), embedders=embedders, budget=BUDGET
    )


@pytest.mark.parametrize("name", ARMS)
def test_all_ranks_of_every_index_are_those_of_the_stored_vectors(name, stores, history, embedders):
    chunks, rows = parts_of(stores[name])
    questions = [probe.question for probe in history.probes]
    asked = {part: e.embed_queries(questions).astype(float) for part, e in embedders.items()}
    for n, (probe, reading) in enumerate(
        zip(history.probes, readings(stores, history, embedders, name), strict=True)
    ):
        held = {k: at for at, c in enumerate(chunks) for k in c["events"] if k in probe.evidence}
        order = expected_order(
            name, rows, set(held.values()), old_key="before",
            old_query=asked["old"][n], new_query=asked["new"][n],
        )  # fmt: skip
        ranks = {at: rank for rank, at in enumerate(order, start=1)}
        assert reading.evidence_ranks == {k: ranks.get(held[k]) for k in probe.evidence}
        shown = [(r.item, r.rank) for r in reading.retrieved]
        assert sorted(shown) == sorted(
            (chunks[at]["item"], rank) for at, rank in ranks.items() if rank <= BUDGET.top_k
        )


def test_the_router_is_never_worse_than_full_where_all_is_migrated_nor_than_old_where_nothing_is(
    stores, history, embedders
):
    chunks, rows = parts_of(stores["router"])
    part_of = {key: rows[at][0] for at, chunk in enumerate(chunks) for key in chunk["events"]}
    cells = [readings(stores, history, embedders, name) for name in ("router", "full", "old")]
    seen = set()
    for probe, router, full, old in zip(history.probes, *cells, strict=True):
        parts = {part_of[key] for key in probe.evidence}
        for key in probe.evidence:
            if parts == {"new"}:
                assert router.evidence_ranks[key] <= full.evidence_ranks[key]
            if parts == {"old"}:
                assert router.evidence_ranks[key] <= old.evidence_ranks[key]
        seen.add(frozenset(parts))
    assert {frozenset({"new"}), frozenset({"old"})} <= seen


def test_the_vectors_of_a_mixed_index_are_those_of_the_old_and_the_full_one(stores):
    old, full = (parts_of(stores[name])[1] for name in ("old", "full"))
    for name in ("mixed", "mixed_10", "router", "dual_query", "version_filter"):
        for at, (part, _, vector) in enumerate(parts_of(stores[name])[1]):
            assert np.array_equal(vector, (old if part == "old" else full)[at][2])


def test_the_halves_are_the_same_in_every_index_and_the_shares_are_nested(stores):
    def migrated(name):
        return {at for at, (part, *_) in enumerate(parts_of(stores[name])[1]) if part == "new"}

    halves = [migrated(name) for name in ("mixed", "router", "dual_query", "version_filter")]
    assert all(half == halves[0] for half in halves)
    n = len(parts_of(stores["mixed"])[1])
    assert len(halves[0]) == (n * 50 + 50) // 100
    shares = [migrated(name) for name in DIAL[:-1]]
    assert shares[0] == set()
    assert all(few < more for few, more in pairwise(shares))


def test_another_seed_or_history_draws_other_halves():
    names = [f"chunk-{n}" for n in range(40)]
    draws = {
        migrated_positions(names, percent=50, seed=seed, history_checksum=checksum)
        for seed in (0, 1)
        for checksum in ("a", "b")
    }
    assert len(draws) == 4


def test_the_dial_ends_in_the_full_index_but_its_zero_is_not_the_old_one(
    stores, history, embedders
):
    assert stores["full"] == stores[dial_name(100)]
    ranks = {
        name: [r.evidence_ranks for r in readings(stores, history, embedders, name)]
        for name in ("old", "mixed_0")
    }
    assert ranks["old"] != ranks["mixed_0"]


def test_an_index_of_one_generation_is_an_ordinary_store(stores, history, embedders):
    plain = Rag().write(history, writer=None, embedder=embedders["new"], budget=BUDGET).content
    assert stores["full"] == plain
    own = Rag().read(plain, history.probes, embedder=embedders["new"], budget=BUDGET)
    assert own == readings(stores, history, embedders, "full")


def test_a_store_of_two_generations_is_read_through_its_arm_alone(stores, history, embedders):
    with pytest.raises(InvalidInputError, match="two embedding generations"):
        Rag().read(stores["mixed"], history.probes, embedder=embedders["new"], budget=BUDGET)
    for name, other in (("mixed", "router"), ("router", "mixed"), ("full", "mixed"),
                        ("mixed_10", "mixed_25")):  # fmt: skip
        with pytest.raises(InvalidInputError, match="cannot be read as"):
            index_of(stores[name], arm=arm_of(other))


def test_no_arm_but_a_mixed_one_compares_generations(embedders):
    old, new = embedders["old"], embedders["new"]
    index = VectorIndex(old.generation, old.embed_passages(["a b", "c d"]))
    query = new.embed_queries(["a"])
    for name in ("old", "full", "router", "dual_query", "version_filter"):
        with pytest.raises(InvalidInputError, match="different embedding generations"):
            index.scores(query, generation=new.generation, across=arm_of(name))
    assert index.scores(query, generation=new.generation, across=arm_of("mixed")).shape == (1, 2)


def test_a_query_of_a_third_generation_is_refused_by_every_index(stores, history, embedders):
    stranger = {"old": BagEmbedder("elsewhere"), "new": BagEmbedder("elsewhere")}
    for name in ARMS:
        with pytest.raises(InvalidInputError, match="different embedding generations"):
            readings(stores, history, stranger, name)


def test_vectors_of_two_sizes_cannot_be_mixed_and_the_reason_says_what_to_do(history):
    sizes = {"old": BagEmbedder("before", dimension=64), "new": BagEmbedder("a", dimension=96)}
    with pytest.raises(InvalidInputError, match="no mixing is possible of 64") as caught:
        write_index(history, arm=arm_of("mixed"), budget=BUDGET, **sizes)
    assert "dual_query" in str(caught.value)
    content = write_index(history, arm=arm_of("dual_query"), budget=BUDGET, **sizes).content
    found = read_index(
        content, history.probes, arm=arm_of("dual_query"), embedders=sizes, budget=BUDGET
    )
    assert len(found) == len(history.probes)


def test_one_space_under_two_names_is_refused_before_an_index_of_both_is_built(history):
    same = {"old": BagEmbedder("before"), "new": BagEmbedder("after")}
    with pytest.raises(InvalidInputError, match=r"one space of vectors: mean cosine 1\.0000"):
        write_index(history, arm=arm_of("mixed"), budget=BUDGET, **same)


def test_evidence_outside_what_is_searched_has_no_rank_and_counts_as_missing(
    stores, history, embedders
):
    found = readings(stores, history, embedders, "version_filter")
    missing = [r for r in found if None in r.evidence_ranks.values()]
    assert missing
    for reading in missing:
        shown = {item.item for item in reading.retrieved}
        gone = {key for key, rank in reading.evidence_ranks.items() if rank is None}
        assert not shown & {reading.evidence_items[key] for key in gone}
        rank, recall = rank_and_recall(reading, top_k=BUDGET.top_k)
        wanted = set(reading.evidence_items.values())
        assert recall == pytest.approx(len(shown & wanted) / len(wanted))
        assert (rank is None) == (not shown & wanted)
    _, rows = parts_of(stores["version_filter"])
    assert all(len(r.retrieved) <= sum(part == "new" for part, *_ in rows) for r in found)


def test_the_space_check_tells_one_space_from_two():
    rng = np.random.default_rng(0)
    one = rng.normal(size=(40, 16)).astype(np.float32)
    other = rng.normal(size=(40, 16)).astype(np.float32)
    assert compare_spaces(one, 3 * one).one_space
    assert compare_spaces(one, 3 * one).neighbour_overlap == 1.0
    apart = compare_spaces(one, other)
    assert not apart.one_space
    assert abs(apart.mean_cosine) < 0.2
    assert apart.neighbour_overlap < 0.6
    cosines = [
        float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))
        for a, b in zip(one, other, strict=True)
    ]
    assert apart.mean_cosine == pytest.approx(np.mean(cosines), abs=1e-6)
    assert apart.sd_cosine == pytest.approx(np.std(cosines, ddof=1), abs=1e-6)


def test_a_rotated_space_has_other_cosines_and_the_same_neighbours():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(60, 12)).astype(np.float32)
    turn = np.linalg.qr(rng.normal(size=(12, 12)))[0].astype(np.float32)
    found = compare_spaces(rows, rows @ turn)
    assert not found.one_space
    assert found.neighbour_overlap == pytest.approx(1.0, abs=0.01)


def test_the_space_check_says_what_it_cannot_know():
    rng = np.random.default_rng(2)
    wide = compare_spaces(
        rng.normal(size=(30, 8)).astype(np.float32), rng.normal(size=(30, 5)).astype(np.float32)
    )
    assert wide.mean_cosine is None
    assert "8 and 5 dimensions: no mixing is possible" in wide.sentence()
    few = rng.normal(size=(11, 8)).astype(np.float32)
    assert compare_spaces(few, few).neighbour_overlap is None


def test_compared_texts_are_different_and_spread_over_all():
    assert spread_out(["a", "b", "a"], 5) == ["a", "b"]
    assert spread_out([str(n) for n in range(100)], 4) == ["0", "25", "50", "75"]


@pytest.mark.parametrize("name", ["mixed_50", "mixed_100", "mixed_05", "mixed_", "half", "", "Old"])
def test_an_index_is_spelled_in_one_way(name):
    with pytest.raises(InvalidInputError, match="there is no index"):
        arm_of(name)
