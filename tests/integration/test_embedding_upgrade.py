"""An embedding upgrade in the database: built, read or only ranked, exported and reported."""

from collections import defaultdict
from dataclasses import replace

import pytest

from analysis.observations import csv_bytes, from_study, read_table, write_csv
from analysis.report import study_report
from experiments.models import Answer, Call, Evaluation, Run
from experiments.plan.plan import parse_plan
from experiments.runtime.pool import use_pool
from experiments.selectors import costs
from experiments.services.evaluate import evaluate
from experiments.services.launch import RefusedAtPreflightError, launch_study
from stores.errors import InvalidInputError
from stores.selectors import history_value
from tests.factories import BagEmbedder, a_workspace
from tests.index_ranks import TurnedEmbedder, expected_order, parts_of
from tests.models import WatchedPool
from tests.runs import a_launched_run, work_off
from tests.unit.engines import around

pytestmark = pytest.mark.django_db(transaction=True)

EMBEDDERS = [{"key": key, "engine": "scripted", "price": {}} for key in ("before", "after")]
SPACES = {"before": BagEmbedder("before"), "after": TurnedEmbedder("after")}
INDEXES = ["old", "full", "mixed", "router", "dual_query", "version_filter"]


class UpgradePool(WatchedPool):
    """Two embedders with spaces of their own; no other one."""

    def __init__(self, spaces=SPACES):
        super().__init__()
        self._open_embedder = lambda part: spaces[part.key]


@pytest.fixture
def pool():
    pool = UpgradePool()
    use_pool(pool)
    yield pool
    use_pool(None)


def launched(*, n_histories=2, key="upgrade", **settings) -> Run:
    upgrade = {"old": "before", "new": "after", **settings}
    changes = {"models": []} if settings.get("retrieval_only") else {}
    return a_launched_run(
        n_histories=n_histories,
        key=key,
        formats=["rag"],
        embedders=EMBEDDERS,
        tests={"embedding_upgrade": upgrade},
        budgets={"context_tokens": 4096, "chunk_chars": 96, "top_k": 3},
        **changes,
    )


def test_each_index_is_one_store_that_both_readers_and_all_repeats_read(pool):
    repeated = launched(noise_repeats=2, key="repeated").evaluations
    for cell in repeated.filter(repeat=1):
        first = repeated.get(history=cell.history, index=cell.index, reader=cell.reader, repeat=0)
        assert first.build_id == cell.build_id
    Run.objects.update(state="stopped")
    run = launched()
    work_off()
    run.refresh_from_db()
    assert run.state == Run.State.COMPLETE
    assert run.store_builds.count() == 8
    stores = defaultdict(set)
    for evaluation in run.evaluations.all():
        key = (evaluation.history_id, evaluation.index)
        stores[key].add(evaluation.attempts.get(state="complete").store_id)
    assert len(stores) == 8
    assert all(len(used) == 1 for used in stores.values())
    assert {b.store.index for b in run.store_builds.all()} == {"old", "full", "mixed", "router"}
    assert not Answer.objects.filter(correct=None).exists()


def test_a_store_says_which_generations_and_which_index_it_is(pool):
    run = launched(n_histories=1)
    work_off()
    stores = {build.spec["index"]: build.store for build in run.store_builds.all()}
    assert stores["old"].embedder == "before"
    assert {stores[name].embedder for name in ("full", "mixed", "router")} == {"after"}
    assert stores["mixed"].schema_version == "rag-index/1"
    _, rows = parts_of(bytes(stores["mixed"].content.data))
    assert {(part, key) for part, key, _ in rows} == {("old", "before"), ("new", "after")}
    assert stores["mixed"].coverage["spans_kept"] == stores["mixed"].coverage["spans_required"]


def test_the_kept_ranks_of_every_index_are_those_of_the_stored_vectors(pool):
    run = launched(retrieval_only=True, indexes=INDEXES, dial=[10, 75], n_histories=3)
    work_off()
    seen = 0
    for evaluation in run.evaluations.select_related("build__store__content", "history"):
        store = evaluation.build.store
        chunks, rows = parts_of(bytes(store.content.data))
        probes = {probe.key: probe for probe in history_value(evaluation.history).probes}
        for answer in Answer.objects.filter(attempt__evaluation=evaluation):
            probe = probes[answer.probe.key]
            held = {k: at for at, c in enumerate(chunks) for k in c["events"]
                    if k in probe.evidence}  # fmt: skip
            queries = {key: space.embed_queries([probe.question])[0].astype(float)
                       for key, space in SPACES.items()}  # fmt: skip
            order = expected_order(
                evaluation.index, rows, set(held.values()), old_key="before",
                old_query=queries["before"], new_query=queries["after"],
            )  # fmt: skip
            ranks = {at: rank for rank, at in enumerate(order, start=1)}
            assert answer.evidence_ranks == {k: ranks.get(held[k]) for k in probe.evidence}
            wanted = set(held.values())
            found = {at for at in wanted if ranks.get(at, 99) <= 3}
            assert answer.recall == pytest.approx(len(found) / len(wanted))
            assert answer.rank == (min(ranks[at] for at in found) if found else None)
            seen += 1
    assert seen == 3 * 8 * 5


def test_the_routers_invariants_hold_for_every_probe(pool):
    run = launched(retrieval_only=True, n_histories=6)
    work_off()
    ranks = defaultdict(dict)
    for answer in Answer.objects.select_related("probe", "attempt__evaluation__history"):
        cell = answer.attempt.evaluation
        ranks[cell.history.key, answer.probe.key][cell.index] = answer.evidence_ranks
    parts = {}
    for build in run.store_builds.filter(spec__index="router").select_related("history"):
        chunks, rows = parts_of(bytes(build.store.content.data))
        for at, chunk in enumerate(chunks):
            parts |= {(build.history.key, key): rows[at][0] for key in chunk["events"]}
    counted = {"new": 0, "old": 0}
    for (history, _), by_index in ranks.items():
        holding = {parts[history, event] for event in by_index["router"]}
        if len(holding) == 1:
            (part,) = holding
            counted[part] += 1
            bound = by_index["full" if part == "new" else "old"]
            assert all(rank <= bound[event] for event, rank in by_index["router"].items())
    assert min(counted.values()) > 3


def test_retrieval_alone_asks_no_model_and_misses_no_answer(pool):
    run = launched(retrieval_only=True)
    work_off()
    run.refresh_from_db()
    assert run.state == Run.State.COMPLETE
    assert pool.opened == []
    assert not Call.objects.exclude(role="embedder").exists()
    assert set(Answer.objects.values_list("correct", "text", "call")) == {(None, "", None)}
    assert Answer.objects.exclude(recall=None).count() == 2 * 4 * 5
    assert {cost.role for cost in costs(run)} == {"embedder"}
    report = study_report(run.study)
    assert (report["data"]["unscored"], report["data"]["not_asked"]) == (0, 40)
    (part,) = report["embedding_upgrade"]
    assert (part["asked"], part["readers"]) == (False, [])
    assert "answers were not asked" in part["note"]
    by_index = {row["index"]: row for row in part["indexes"]}
    assert by_index["mixed"]["accuracy"]["reason"].endswith("answers were not asked")
    assert by_index["mixed"]["recall_at_8"]["n_histories"] == 2
    assert by_index["mixed"]["behind_full"]["recall_at_8"]["value"] is not None
    assert report["directions"] == []
    assert report["planned_tests"]["contrasts"] == []


def test_a_table_of_ranks_alone_is_read_back_the_same(pool, tmp_path):
    run = launched(retrieval_only=True, indexes=INDEXES)
    work_off()
    frame = from_study(run.study)
    write_csv(frame, tmp_path / "answers.csv")
    assert csv_bytes(read_table(tmp_path / "answers.csv")) == csv_bytes(frame)
    lines = (tmp_path / "answers.csv").read_text().splitlines()
    cells = dict(zip(lines[0].split(","), lines[1].split(","), strict=True))
    assert (cells["reader"], cells["correct"]) == ("", "")
    at = lines[0].split(",").index("correct")
    parts = lines[1].split(",")
    parts[at] = "1"
    (tmp_path / "scored.csv").write_text("\n".join([lines[0], ",".join(parts), ""]))
    with pytest.raises(InvalidInputError, match="'' in column reader") as caught:
        read_table(tmp_path / "scored.csv")
    assert "answers were not asked" in str(caught.value)


def test_the_same_work_again_changes_nothing(pool):
    run = launched(retrieval_only=True, n_histories=1)
    work_off()
    first = csv_bytes(from_study(run.study))
    again = launched(retrieval_only=True, n_histories=1, key="again")
    work_off()
    assert csv_bytes(from_study(again.study)) == first
    assert again.store_builds.filter(reused=True).count() == 4
    Evaluation.objects.filter(run=run).update(state="ready")
    Run.objects.filter(pk=run.pk).update(state="running")
    evaluate(evaluation_id=run.evaluations.first().pk)
    assert csv_bytes(from_study(run.study)) == first


def test_the_report_holds_the_gap_by_reader_and_the_space_check(pool):
    run = launched(n_histories=4, dial=[0, 25])
    work_off()
    report = study_report(run.study)
    (part,) = report["embedding_upgrade"]
    assert part["readers"] == ["new", "old"]
    assert [row["index"] for row in part["indexes"]] == [
        "old", "mixed_0", "mixed_25", "mixed", "full", "router",
    ]  # fmt: skip
    assert set(part["by_reader"]) == {"new", "old"}
    assert [row["deployable"] for row in part["indexes"]] == [True] * 5 + [False]
    assert [line.split(":")[0] for line in part["finding"]] == [
        "Mixed against full, accuracy", "Mixed against full, recall@8", "Mixed against full, MRR",
    ]  # fmt: skip
    mixed = next(row for row in part["indexes"] if row["index"] == "mixed")
    full = next(row for row in part["indexes"] if row["index"] == "full")
    gap = mixed["behind_full"]["recall_at_8"]["value"]
    assert gap == pytest.approx(mixed["recall_at_8"]["value"] - full["recall_at_8"]["value"])
    (h2,) = report["planned_tests"]["contrasts"]
    assert h2["key"] == "H2"
    assert h2["estimate"]["value"] == pytest.approx(-mixed["behind_full"]["accuracy_pp"]["value"])
    check = report["space_check"]
    assert (check["status"], check["n_histories"]) == ("ok", 4)
    assert 0 < check["mean_cosine"] < 0.999
    assert check["neighbour_overlap"] is not None


def test_the_same_embedder_under_two_names_is_refused_before_anything_is_written(workspace_plan):
    plan, workspace = workspace_plan
    here = with_spaces({"before": BagEmbedder("before"), "after": BagEmbedder("after")})
    with pytest.raises(RefusedAtPreflightError) as caught:
        launch_study(plan=plan, workspace=workspace, user=None, surroundings=here)
    assert "mean cosine 1.0000" in str(caught.value)
    assert not Run.objects.exists()


def test_vectors_of_two_sizes_run_without_the_mixed_index_and_say_why(workspace_plan):
    plan, workspace = workspace_plan
    spaces = {"before": BagEmbedder("before"), "after": BagEmbedder("after", dimension=96)}
    here = with_spaces(spaces)
    study = launch_study(plan=plan, workspace=workspace, user=None, surroundings=here)
    use_pool(UpgradePool(spaces))
    try:
        work_off()
    finally:
        use_pool(None)
    run = study.runs.get()
    assert run.state == Run.State.COMPLETE
    assert set(run.evaluations.values_list("index", flat=True)) == {"old", "full", "router"}
    (left,) = run.left_out
    assert left["reason"].startswith("the index mixed: no mixing is possible of 64 and 96")
    (check,) = [c for c in run.preflight if c["name"] == "embedding spaces"]
    assert check["ok"]
    assert "no mixing is possible" in check["found"]
    assert not study_report(study)["space_check"]["same_size"]


def test_a_worker_that_finds_two_sizes_leaves_the_mixed_indexes_out_as_the_launch_would(
    workspace_plan,
):
    plan, workspace = workspace_plan
    spaces = {"before": BagEmbedder("before"), "after": BagEmbedder("after", dimension=96)}
    held_elsewhere = replace(around(), embedder=lambda _part: None)
    study = launch_study(plan=plan, workspace=workspace, user=None, surroundings=held_elsewhere)
    run = study.runs.get()
    assert run.evaluations.filter(index="mixed").count() == 6
    use_pool(UpgradePool(spaces))
    try:
        work_off()
    finally:
        use_pool(None)
    run.refresh_from_db()
    assert run.state == Run.State.COMPLETE
    assert set(run.evaluations.values_list("index", flat=True)) == {"old", "full", "router"}
    (left,) = run.left_out
    assert left["reason"].startswith("the index mixed: no mixing is possible of 64 and 96")


def with_spaces(spaces):
    return replace(around(), embedder=lambda part: spaces[part.key])


@pytest.fixture
def workspace_plan():
    plan = parse_plan({
        "key": "upgrade", "title": "Up", "histories": {"preset": "tiny", "seed": 7},
        "formats": ["rag"], "embedders": EMBEDDERS,
        "tests": {"embedding_upgrade": {"old": "before", "new": "after", "retrieval_only": True}},
    })  # fmt: skip
    return plan, a_workspace()
