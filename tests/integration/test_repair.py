"""Repairs on scripted models, worked off one job after the other, up to the exported rows."""

import inspect
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from analysis.observations import csv_bytes, from_study, to_cube
from analysis.sections import repair as repair_section
from experiments.engines.scripted import ScriptedModel
from experiments.models import Call, Evaluation, Repair, Run, StoreBuild, Study
from experiments.plan.plan import parse_plan
from experiments.runtime.pool import use_pool
from experiments.services.launch import launch_study
from stores.formats import repairing, restyling
from stores.formats.content import canonical_json
from stores.models import Store
from stores.roles import ChatReply, ChatRequest
from stores.workload.generator import generate
from tests.factories import a_history, a_workspace, plan_data
from tests.runs import work_off

pytestmark = pytest.mark.django_db(transaction=True)
HISTORY = generate("tiny", seed=7)[0]
MODELS = [
    {"key": "old", "engine": "scripted", "options": {"keep": 0.5},
     "price": {"prompt_usd_per_mtok": 1, "output_usd_per_mtok": 1000}},
    {"key": "new", "engine": "scripted",
     "price": {"prompt_usd_per_mtok": 1, "output_usd_per_mtok": 1000}},
]  # fmt: skip
VECTORS = [{"key": "before", "engine": "scripted"}, {"key": "after", "engine": "scripted"}]
EMBEDDERS = {"old_embedder": "before", "new_embedder": "after"}


@pytest.fixture(autouse=True)
def scripted_pool() -> Iterator[None]:
    use_pool(None)
    yield
    use_pool(None)


def repaired(
    tests: dict[str, Any] | None = None, *, key: str = "repaired", **changes: Any
) -> Study:
    """Launch a study that repairs, and work it off."""
    workspace = a_workspace()
    a_history(workspace, HISTORY)
    data = plan_data(key, **{
        "histories": {"keys": [HISTORY.key]}, "models": MODELS, "embedders": VECTORS,
        "directions": [["old", "new"]], "budgets": {"context_tokens": 4096},
        "tests": tests or {"repair": EMBEDDERS}, **changes,
    })  # fmt: skip
    study = launch_study(plan=parse_plan(data), workspace=workspace, user=None, preflight=False)
    work_off()
    return study


def test_every_method_and_rung_is_a_new_store_with_parent_rung_cost_and_checksum() -> None:
    study = repaired()
    run = study.runs.get()
    assert run.state == Run.State.COMPLETE
    assert Counter(run.evaluations.values_list("repair", flat=True)) == {
        "notes_raw": 3, "notes_store": 3, "rag_reembed": 3, "kg_rebuild": 3, "fresh": 3
    }  # fmt: skip
    found = Repair.objects.select_related("store__parent", "degraded")
    assert found.count() == 12
    for one in found:
        assert one.store.parent == one.degraded
        assert one.store.pk != one.degraded.pk
        assert (one.store.format, len(one.store.checksum)) == (one.degraded.format, 64)
        assert one.allowance_tokens == (256, 512, 1024)[one.rung - 1]
        assert not one.hit_output_limit
        assert one.repairer == ("after" if one.method == "rag_reembed" else "new")
        assert (one.cost_tokens > 0) == (one.method != "rag_reembed")
        assert one.engine_s > 0
        assert one.cost_gpu_hours == 0
    roles = set(Call.objects.filter(build__spec__repair="kg_rebuild").values_list("role", "model"))
    assert roles == {("repairer", "new")}
    for store in Store.objects.filter(repairs__isnull=False).distinct():
        assert "repair" not in store.builds.get().spec


def test_the_store_that_really_degraded_is_repaired_and_read_by_the_new_model() -> None:
    study = repaired()
    for one in Evaluation.objects.filter(run__study=study).exclude(repair="fresh"):
        store = one.attempts.get().store
        assert (one.writer, one.reader) == ("old", "new")
        if one.format == "rag":
            assert (store.parent.embedder, store.embedder) == ("before", "after")
            assert one.embedder == "after"
        else:
            assert (store.parent.writer, store.writer) == ("old", "new")
    for one in Evaluation.objects.filter(run__study=study, repair="fresh"):
        store = one.attempts.get().store
        assert store.parent is None
        assert (store.writer or store.embedder) in ("new", "after")


def test_a_stop_at_the_output_limit_is_a_failed_repair_charged_in_full() -> None:
    study = repaired({"repair": {"rungs": [8, 1024], "methods": ["notes_raw", "notes_store",
                                                                "kg_rebuild"]}})  # fmt: skip
    assert study.runs.get().state == Run.State.COMPLETE
    failed = Repair.objects.filter(rung=1).select_related("store", "degraded")
    assert failed.count() == 3
    for one in failed:
        assert one.hit_output_limit
        assert one.store.checksum == one.degraded.checksum
        assert one.store.writer == one.degraded.writer == "old"
        assert "stopped at its output limit (8 tokens" in one.store.notices[0]
        build = one.store.builds.get()
        prompt = sum(build.calls.values_list("prompt_tokens", flat=True))
        assert prompt > 0
        assert one.cost_tokens == prompt + 8
        calls = build.calls.all()
        computed = sum(c.prompt_tokens - c.cached_tokens + c.primed_tokens for c in calls)
        assert one.cost_usd == pytest.approx((computed + 8 * 1000) / 1e6)
        (attempt,) = one.store.attempts.all()
        assert attempt.answers.count() == len(HISTORY.probes)
    assert not Repair.objects.filter(rung=2, hit_output_limit=True).exists()


def test_no_event_text_can_reach_the_prompt_of_a_repair_from_the_store(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[ChatRequest] = []
    chat = ScriptedModel.chat

    def watched(self: Any, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        seen.extend(requests)
        return chat(self, requests)

    # The old notes hold nothing of the history, so that whatever of it is seen came from elsewhere.
    monkeypatch.setattr(ScriptedModel, "_kept_lines", lambda *_: [])
    monkeypatch.setattr(ScriptedModel, "_kept_notes", lambda *_: ["an empty day"])
    monkeypatch.setattr(ScriptedModel, "chat", watched)
    repaired({"repair": {"methods": ["notes_store"]}}, formats=["notes"])
    asked = [one for one in seen if "repair the notes" in one.system]
    assert asked
    texts = "\n".join(one.system + one.prefix + one.suffix for one in asked)
    assert "an empty day" in texts
    for event in HISTORY.events:
        assert event.text not in texts
        assert event.key not in texts
    # And its signature has no room for a history.
    for method in repairing.FROM_STORE.values():
        assert list(inspect.signature(method).parameters) == [
            "content", "repairer", "budget", "prompts"
        ]  # fmt: skip


def test_repaired_notes_obey_the_cap_of_any_notes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ScriptedModel, "_kept_lines", lambda *_: [(1, "a long line")] * 60)
    repaired(formats=["notes"], tests={"repair": {"methods": ["notes_raw"], "rungs": [4000]}},
             budgets={"context_tokens": 4096, "notes_kib": 1})  # fmt: skip
    store = Repair.objects.get().store
    assert store.size_bytes <= 1024
    assert "cut at the cap of 1 KiB" in store.notices[0]


def test_repaired_notes_that_outgrow_the_cap_are_caught_before_they_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The planted bug: the repaired notes are kept as they come, and the repairer writes a lot.
    def uncapped(parts: Any, _: int) -> tuple[bytes, str]:
        return canonical_json({"format": "notes", "notes": parts}), ""

    monkeypatch.setattr(restyling, "capped", uncapped)
    monkeypatch.setattr(ScriptedModel, "_kept_notes", lambda *_: ["a long line"] * 200)
    study = repaired(
        formats=["notes"],
        tests={"repair": {"methods": ["notes_store"], "rungs": [4000]}},
        budgets={"context_tokens": 8192, "notes_kib": 1},
    )
    build = StoreBuild.objects.get(run__study=study, spec__repair="notes_store")
    assert build.state == "failed"
    assert "outgrow their cap of 1,024" in build.error
    assert not Repair.objects.exists()
    assert study.runs.get().state == Run.State.INCOMPLETE


def test_an_allowance_is_shared_by_all_calls_and_never_overdrawn() -> None:
    repaired({"repair": {**EMBEDDERS, "rungs": [300]}})
    for build in StoreBuild.objects.filter(spec__repair__in=["notes_raw", "notes_store"]):
        assert build.calls.count() > 1
        assert sum(build.calls.values_list("output_tokens", flat=True)) <= 300


def test_a_repair_of_another_study_at_the_same_prices_is_taken_as_it_is() -> None:
    repaired({"repair": {"methods": ["notes_raw"]}}, formats=["notes"])
    again = repaired({"repair": {"methods": ["notes_raw"]}}, formats=["notes"], key="again")
    assert Repair.objects.count() == 3
    assert not StoreBuild.objects.filter(run__study=again, reused=False).exists()
    dearer = [dict(m, price={"output_usd_per_mtok": 2000}) for m in MODELS]
    repaired({"repair": {"methods": ["notes_raw"]}}, formats=["notes"], key="dear", models=dearer)
    assert Repair.objects.count() == 6


def test_exported_rows_name_direction_method_rung_and_costs_in_three_units() -> None:
    study = repaired({"writer_swap": {}, "repair": EMBEDDERS})
    frame = from_study(study)
    rows = frame[frame["repair"] != ""]
    assert set(rows["writer"]) == {"old"}
    assert set(rows["reader"]) == {"new"}
    fresh = rows[rows["repair"] == "fresh"]
    assert set(fresh["rung"]) == {0}
    assert fresh[["cost_usd", "cost_tokens", "cost_gpu_hours"]].isna().all(axis=None)
    for one in Repair.objects.all():
        same = (rows["repair"] == one.method) & (rows["rung"] == one.rung)
        (cost,) = set(rows[same]["cost_tokens"])
        assert cost == one.cost_tokens
    header, *_ = csv_bytes(frame).decode().splitlines()
    assert "cost_usd,cost_tokens,cost_gpu_hours" in header
    assert set(frame[frame["repair"] == ""]["cost_tokens"].isna()) == {True}


def test_none_stands_beside_the_methods_and_says_where_it_comes_from() -> None:
    study = repaired({"writer_swap": {}, "embedding_upgrade": {"old": "before", "new": "after"},
                      "repair": {}})  # fmt: skip
    section = repair_section(to_cube(from_study(study)))
    assert section is not None
    assert {"usd", "tokens", "gpu_hours"} <= set(section)
    none = {row["format"]: row["source"] for row in section["usd"] if row["method"] == "none"}
    assert none == {
        "notes": "taken from the writer swap", "kg_fixed": "taken from the writer swap",
        "rag": "taken from the old index",
    }  # fmt: skip
    raw = [row for row in section["usd"] if row["method"] == "notes_raw"]
    assert [row["n_success"] for row in raw] == [1, 1, 1]
    assert json.dumps(section)
