"""Every check before a launch says what was expected and what was found."""

from dataclasses import replace

import pytest

from experiments.plan.expand import expand
from experiments.plan.plan import parse_plan
from experiments.preflight import preflight, refusal
from experiments.preflight_models import TOKENIZER_TEXT
from experiments.surroundings import Check, ModelElsewhere
from stores.formats.formats import FORMATS
from stores.roles import EngineError, ModelIdentity
from stores.workload.generator import generate
from tests.unit.engines import FakeChat, FakeEmbedder, around
from tests.unit.plans import plan_values

HISTORIES = generate("tiny", seed=7)[:2]


def checks(surroundings=None, **changes) -> list[Check]:
    plan = parse_plan(plan_values(**changes))
    return preflight(
        plan,
        HISTORIES,
        expand(plan, HISTORIES),
        surroundings=surroundings or around(),
        formats=FORMATS,
    )


def failed(surroundings=None, **changes) -> list[Check]:
    return [check for check in checks(surroundings, **changes) if not check.ok]


def test_a_plan_that_fits_passes_and_names_what_was_found():
    found = checks()
    assert refusal(found) == ""
    by_name = {(check.name, check.subject): check.found for check in found}
    assert by_name["model", "old"] == "revision r1, sha256:abc"
    assert by_name["vector size", "vectors"] == "3"
    assert by_name["format", "kg_fixed"] == "applies to 2 of 2 histories"
    assert "tokens in 'tiny-s7-0" in by_name["longest history", "new"]


def test_a_history_longer_than_the_context_is_refused_with_the_numbers():
    budgets = {"context_tokens": 300, "reader_output_tokens": 10, "writer_output_tokens": 10}
    problems = failed(formats=["lc_raw"], budgets=budgets)
    assert [check.name for check in problems] == ["longest history"] * 2
    message = refusal(problems)
    assert "longest history (old): expected at most 172 tokens (context 300, unused 128)" in message
    assert "tokens in 'tiny-s7-0" in message
    assert "raise budgets.context_tokens" in message


def test_a_window_that_leaves_no_room_to_write_is_refused():
    budgets = {"context_tokens": 544, "unused_tokens": 16, "writer_output_tokens": 511}
    assert [c.name for c in failed(formats=["notes"], budgets=budgets)] == ["longest window"] * 2


def test_a_model_whose_context_is_too_small_is_refused():
    small = around(chat=lambda key: FakeChat(key, context_tokens=1024))
    (one, other) = failed(small)
    assert (one.name, one.expected, one.found) == (
        "context",
        "at least 2,048 tokens",
        "1,024 tokens",
    )
    assert other.subject == "new"


def test_a_model_that_cannot_be_opened_is_a_failed_check_and_not_an_exception():
    def broken(key):
        raise EngineError("the file has SHA-256 00, expected ff.")

    (one, _) = failed(around(chat=broken))
    assert (one.name, one.found) == ("model", "the file has SHA-256 00, expected ff")


def test_an_unstated_price_is_refused_and_a_price_of_zero_is_not():
    def models(**price):
        return [
            {"key": "old", "engine": "llama_cpp", "catalogue": "a", **price},
            {"key": "new", "engine": "llama_cpp", "catalogue": "b", **price},
        ]

    assert [check.name for check in failed(models=models())] == ["price", "price"]
    assert failed(models=models(price={})) == []


def test_too_little_disk_is_refused_with_both_figures():
    (check,) = failed(around(free=2 * 1024 * 1024))
    assert check.name == "free disk"
    assert (check.found, check.expected.startswith("at least ")) == ("2 MiB", True)


ENDPOINT = {
    "key": "new",
    "engine": "openai_api",
    "base_url": "http://127.0.0.1:9/v1",
    "model": "m",
    "api_key_env": "SOME_KEY",
    "price": {},
}
MODELS = [{"key": "old", "engine": "scripted"}, ENDPOINT]


def test_an_api_key_that_is_not_set_names_its_variable_only():
    (check,) = failed(models=MODELS)
    assert (check.name, check.expected) == ("API key", "in the environment variable SOME_KEY")
    assert failed(around(environ={"SOME_KEY": "s3cret"}), models=MODELS) == []
    assert "s3cret" not in str(checks(around(environ={"SOME_KEY": "s3cret"}), models=MODELS))


@pytest.mark.parametrize(
    ("chat", "found"),
    [
        (lambda key: FakeChat(key, served="other"), "an answer from other"),
        (lambda key: FakeChat(key, error="no connection to 127.0.0.1:9."), "no connection"),
    ],
)
def test_an_endpoint_that_is_down_or_serves_another_model_is_refused(chat, found):
    (check,) = failed(around(chat=chat, environ={"SOME_KEY": "x"}), models=MODELS)
    assert check.name == "endpoint"
    assert check.found.startswith(found)


def test_a_dated_name_of_the_same_hosted_model_is_taken():
    dated = around(chat=lambda key: FakeChat(key, served="m-2026-01-31"), environ={"SOME_KEY": "x"})
    assert failed(dated, models=MODELS) == []


def test_an_embedder_with_another_vector_size_than_stated_is_refused():
    (check,) = failed(around(embedder=lambda: FakeEmbedder(size=4)))
    assert (check.name, check.expected, check.found) == ("vector size", "3", "4")


def test_without_rag_no_embedder_is_opened():
    def broken():
        raise EngineError("must not be opened")

    assert failed(around(embedder=broken), formats=["notes"]) == []


def elsewhere(key):
    return ModelElsewhere(ModelIdentity(key, "fake", "r1", "sha256:abc"), 2048)


def test_a_model_that_another_process_has_is_not_loaded_and_the_bytes_prove_what_they_can():
    by_name = {check.name: check for check in checks(around(chat=elsewhere, embedder=lambda: None))}
    assert by_name["tokenizer"].found == "to be counted by the worker, which has it loaded"
    assert by_name["longest history"].ok
    assert by_name["embedder"].found.endswith("another process loads them")
    budgets = {"context_tokens": 700, "writer_output_tokens": 16}
    unsure = checks(around(chat=elsewhere), formats=["lc_raw"], budgets=budgets)
    assert "to be counted before it is asked" in str(unsure)
    assert refusal(unsure) == ""


def test_a_history_far_too_long_is_refused_even_where_it_cannot_be_encoded():
    event = replace(HISTORIES[0].events[0], text="word " * 20_000)
    long = [replace(HISTORIES[0], events=(event,))]
    plan = parse_plan(plan_values(formats=["lc_raw"]))
    found = preflight(
        plan, long, expand(plan, long), surroundings=around(chat=elsewhere), formats=FORMATS
    )
    assert "found more than 6," in refusal(found)


def test_a_revision_or_a_tokenizer_that_the_plan_does_not_mean_is_refused():
    def models(**wanted):
        return [
            {"key": "old", "engine": "scripted", **wanted},
            {"key": "new", "engine": "scripted"},
        ]

    right = models(revision="r1", fixed_text_tokens=len(TOKENIZER_TEXT.split()))
    assert failed(models=right) == []
    (revision,) = failed(models=models(revision="r2"))
    assert (revision.name, revision.expected, revision.found) == ("revision", "r2", "r1")
    (tokenizer,) = failed(models=models(fixed_text_tokens=99))
    assert (tokenizer.name, tokenizer.expected) == ("tokenizer", "99 tokens for a fixed text")


def test_an_embedder_of_another_revision_is_refused():
    embedders = [{"key": "vectors", "engine": "scripted", "revision": "r9"}]
    (check,) = failed(embedders=embedders)
    assert (check.name, check.expected, check.found) == ("revision", "r9", "r1")


TWO = [{"key": key, "engine": "scripted", "price": {}} for key in ("before", "after")]
UPGRADE = {"embedding_upgrade": {"old": "before", "new": "after"}}
REPAIR = {"repair": {"old_embedder": "before", "new_embedder": "after"}}


@pytest.mark.parametrize("tests", [UPGRADE, REPAIR, {**UPGRADE, "repair": {}}])
def test_an_upgrade_or_a_repair_within_one_space_of_vectors_is_refused(tests):
    (check,) = failed(embedders=TWO, tests=tests)
    assert (check.name, check.subject) == ("embedding spaces", "before → after")
    assert check.expected == "two spaces: a mean cosine below 0.999"
    assert check.found.startswith("mean cosine 1.0000")


def test_every_check_of_the_protocol_is_made_and_says_what_was_expected_and_found():
    found = checks(around(environ={"SOME_KEY": "x"}), models=MODELS)
    names = {check.name for check in found}
    assert names >= {
        "price", "API key", "free disk", "format", "model", "tokenizer", "context",
        "longest history", "longest window", "endpoint", "embedder", "vector size",
    }  # fmt: skip
    assert all(check.expected and check.found for check in found)
