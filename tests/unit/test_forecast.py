"""A forecast counts the study's own prompts, prefixes once, and says what it does not know."""

from dataclasses import replace

import pytest

from experiments.forecast import Forecaster, Measured
from experiments.forecast_prompts import DryRun, PromptText, count_calls
from experiments.plan.expand import expand
from experiments.plan.plan import load_plan, parse_plan
from experiments.warm_up import Rate, texts_per_s, warm_up
from stores.formats.formats import FORMATS
from stores.roles import ChatReply
from stores.workload.generator import generate
from tests.unit.engines import FakeChat, FakeEmbedder
from tests.unit.plans import plan_values

HISTORIES = generate("tiny", seed=7)
RATE = Rate(100.0, 10.0, 0.5, template_tokens=5, measured_on="by hand")


def words(text: str) -> int:
    return len(text.split())


def forecaster(**changes) -> Forecaster:
    plan = parse_plan(plan_values(**changes))
    return Forecaster(plan, HISTORIES, expand(plan, HISTORIES), FORMATS)


def measured(one: Forecaster, **found) -> dict:
    for model in one.plan.models:
        one.count_with(model.key, Measured(count=words, rate=RATE, why_not="", **found))
    one.count_with("vectors", Measured(texts_per_s=4.0, why_not=""))
    return one.forecast().as_json()


def line(document, role, model) -> dict:
    (test,) = document["tests"]
    return next(row for row in test["lines"] if (row["role"], row["model"]) == (role, model))


def test_a_shared_prefix_is_computed_once_and_a_reply_is_cut_at_its_limit():
    calls = [
        PromptText("a b", "c d", "e", "x y z", 10),
        PromptText("a b", "c d", "f g", "x y z", 2),
        PromptText("a b", "i j k", "f", "", 10),
        PromptText("other", "", "h", "", 10),
    ]
    found = count_calls(calls, words, template_tokens=1)
    assert (found.calls, found.prompt) == (4, 6 + 7 + 7 + 3)
    assert found.computed == 6 + (1 + 2) + (1 + 3 + 1) + 3
    assert (found.output, found.output_limit) == (4 + 2 + 1 + 1, 32)


def test_an_instruction_that_the_model_has_just_computed_is_not_computed_again():
    calls = [PromptText("a b c d", "m n", "e", "", 10)]
    found = count_calls(calls, words, template_tokens=1, computed="a b c d")
    assert (found.prompt, found.computed) == (8, 1 + 2 + 1)


def test_a_writer_computes_its_instruction_once_for_all_histories():
    writer = line(measured(forecaster(formats=["notes"])), "writer", "old")
    dry = DryRun(forecaster(formats=["notes"]).plan, FORMATS)
    calls = [call for history in HISTORIES for call in dry.store(history, "notes").calls]
    (instruction,) = {call.instruction for call in calls}
    own = sum(words(call.own) for call in calls)
    again = len(calls) - 1
    assert writer["computed_tokens"] == own + words(instruction) + 5 + again


def test_stores_evaluations_and_calls_are_those_of_the_expanded_plan():
    document = measured(forecaster(tests={"writer_swap": {"noise_repeats": 2}}))
    (test,) = document["tests"]
    assert (test["stores"], test["evaluations"], test["answers"]) == (36, 74, 370)
    assert sum(line(document, "reader", key)["calls"] for key in ("old", "new")) == 370
    windows = sum(-(-len(h.events) // 6) + -(-len(h.events) // 4) for h in HISTORIES)
    assert line(document, "writer", "old")["calls"] == windows
    assert line(document, "embedder", "vectors")["calls"] == 6 + 12
    assert document["total"]["calls"] == 370 + 2 * windows + 18


def test_the_prompts_of_a_transcript_are_exact():
    one = forecaster(formats=["lc_raw"])
    reader = line(measured(one), "reader", "old")
    by_hand = 0
    for history in HISTORIES:
        for call in DryRun(one.plan, FORMATS).readings(history, "lc_raw", "normal"):
            by_hand += words(call.instruction) + words(call.prefix) + words(call.own) + 5
    assert reader["prompt_tokens"] == by_hand
    assert reader["computed_tokens"] < by_hand / 2


def test_hours_and_dollars_follow_from_the_rate_and_the_price():
    models = [
        {"key": "old", "engine": "scripted", "price": {"engine_usd_per_hour": 3.6}},
        {"key": "new", "engine": "scripted", "price": {"output_usd_per_mtok": 1e6}},
    ]
    document = measured(forecaster(models=models, formats=["lc_raw"]))
    old, new = (line(document, "reader", key) for key in ("old", "new"))
    seconds = 0.5 * old["calls"] + old["computed_tokens"] / 100 + old["output_tokens"] / 10
    assert old["engine_s"]["value"] == pytest.approx(seconds)
    assert old["cost_usd"]["value"] == pytest.approx(seconds / 1000)
    assert new["cost_usd"]["value"] == new["output_tokens"]
    total = document["total"]
    assert total["cost_usd"]["value"] == pytest.approx(seconds / 1000 + new["output_tokens"])
    assert total["gpu_hours"]["value"] == 0


def test_what_was_not_measured_is_undefined_with_its_reason_and_never_zero():
    models = [
        {"key": "old", "engine": "vllm_offline", "model": "m", "price": {"engine_usd_per_hour": 2}},
        {"key": "new", "engine": "openai_api", "base_url": "http://x/v1", "model": "m",
         "price": {"prompt_usd_per_mtok": 1}},
    ]  # fmt: skip
    document = forecaster(models=models, formats=["notes"]).forecast().as_json()
    old, new = (line(document, "reader", key) for key in ("old", "new"))
    reason = "old: not measured: the model was not opened"
    assert old["engine_s"] == {"value": None, "status": "undefined", "reason": reason}
    assert old["cost_usd"]["value"] is None
    assert old["gpu_hours"]["value"] is None
    assert new["cost_usd"]["value"] == pytest.approx(new["computed_tokens"] / 1e6)
    assert "does not say what it runs on" in new["gpu_hours"]["reason"]
    assert document["total"]["cost_usd"]["value"] is None
    assert any("2.8 characters a token" in said for said in document["basis"])


def test_a_large_study_is_counted_on_some_histories_and_says_so():
    history = generate("small", seed=1)[0]
    many = [replace(history, key=f"h{n:03d}") for n in range(400)]
    plan = parse_plan(plan_values(formats=["lc_raw"]))
    one = Forecaster(plan, many, expand(plan, many), FORMATS)
    document = one.forecast().as_json()
    kept = 400 * 6000 // sum(len(h.events) for h in many)
    assert document["basis"][0] == f"counted on {kept} of 400 histories, evenly spaced, and scaled"
    assert document["total"]["answers"] == 2 * 400 * len(history.probes)
    alone = Forecaster(plan, many[:1], expand(plan, many[:1]), FORMATS).forecast().as_json()
    assert document["total"]["prompt_tokens"] == 400 * alone["total"]["prompt_tokens"]


def test_a_store_of_an_earlier_test_is_not_built_twice():
    plan = load_plan("experiments/studies/demo.yaml")
    twice = {"one": expand(plan, HISTORIES)["writer_swap"]}
    twice["two"] = twice["one"]
    first, second = Forecaster(plan, HISTORIES, twice, FORMATS).forecast().as_json()["tests"]
    assert (first["stores"], second["stores"]) == (36, 0)
    assert not any(row["role"] == "writer" for row in second["lines"])


def test_a_repair_is_forecast_with_its_own_prompts_and_its_allowance():
    tests = {"repair": {"methods": ["notes_raw", "notes_store", "kg_rebuild"], "rungs": [9, 400]}}
    document = measured(forecaster(tests=tests, formats=["notes", "kg_fixed"]))
    (test,) = document["tests"]
    assert (test["stores"], test["evaluations"]) == (6 * (4 + 12), 6 * 2 * (6 + 2))
    repairer = line(document, "repairer", "new")
    assert repairer["calls"] >= 6 * 3 * 2
    # Each of 3 methods on 6 histories may write what its two rungs allow, and no more.
    assert 0 < repairer["output_limit_tokens"] <= 6 * 3 * (9 + 400)
    dry = DryRun(forecaster(tests=tests).plan, FORMATS)
    event = HISTORIES[0].events[0].text
    raw, store = (dry.repair(HISTORIES[0], name, 2) for name in ("notes_raw", "notes_store"))
    assert event in raw[0].own
    assert "<notes>" in store[0].own
    assert "<events>" not in store[0].own


class Timed(FakeChat):
    """Computes 50 tokens a second, writes 5 a second, and takes a tenth of a second for a call."""

    caches = True

    def chat(self, requests):
        (request,) = requests
        again = self.caches and bool(self.calls) and self.calls[-1].prefix == request.prefix
        self.calls.append(request)
        tokens = self.count_tokens(request.prefix + request.suffix) + 7
        cached = self.count_tokens(request.prefix) if again else 0
        n = request.max_output_tokens
        wall_s = (tokens - cached) / 50 + n / 5 + 0.1
        return [ChatReply("x", "length", tokens, cached, 0, n, wall_s, "m")]


class TimedWithoutCache(Timed):
    """The same, but it computes every prompt anew."""

    caches = False


def test_a_warm_up_tells_prompt_answer_and_call_apart_and_finds_the_template():
    rate = warm_up(Timed("old"))
    assert rate.prompt_tokens_per_s == pytest.approx(50)
    assert rate.output_tokens_per_s == pytest.approx(5)
    assert rate.call_s == pytest.approx(0.1)
    assert rate.template_tokens == 7
    assert rate.engine_s(calls=3, computed_tokens=100, output_tokens=10) == pytest.approx(4.3)


def test_a_warm_up_without_a_cache_charges_the_whole_call_to_its_prompt():
    rate = warm_up(TimedWithoutCache("old"))
    assert rate.output_tokens_per_s == pytest.approx(5)
    assert rate.prompt_tokens_per_s < 50
    assert rate.call_s == 0


def test_an_embedder_is_timed_in_texts():
    ticks = iter([0.0, 2.0])
    assert texts_per_s(FakeEmbedder(), clock=lambda: next(ticks)) == 4
