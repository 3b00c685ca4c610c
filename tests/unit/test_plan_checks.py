"""What one part of a plan asks of another."""

from typing import Any

import pytest

from experiments.plan.patterns import why_not_bounded
from experiments.plan.plan import parse_plan
from experiments.plan.problems import InvalidPlanError
from tests.unit.plans import plan_values

OLD = {"key": "old", "engine": "scripted"}
NEW = {"key": "new", "engine": "scripted"}
ENDPOINT = {"key": "new", "engine": "openai_api", "base_url": "http://127.0.0.1:1/v1", "model": "m"}


def one_problem(**changes: Any) -> tuple[str, str]:
    with pytest.raises(InvalidPlanError) as caught:
        parse_plan(plan_values(**changes))
    (problem,) = caught.value.problems
    return problem.field, str(caught.value)


@pytest.mark.parametrize(
    ("changes", "field", "says"),
    [
        ({"histories": {}}, "histories", "no histories are named"),
        ({"histories": {"preset": "tiny", "keys": ["a"]}}, "histories", "named in two ways"),
        ({"histories": {"keys": ["a", "a"]}}, "histories.keys.1", "'a' is given twice"),
        ({"formats": ["notes", "notes"]}, "formats.1", "'notes' is given twice"),
        ({"embedders": []}, "formats", "'rag' needs an embedder"),
        ({"models": [OLD, OLD]}, "models.1.key", "the model 'old' is given twice"),
        ({"models": [OLD]}, "models", "a writer swap needs two models"),
        ({"directions": [["old", "nwe"], ["new", "old"]]}, "directions.0.1", "mean 'new'?"),
        ({"directions": [["old", "new"]] * 2}, "directions.1", "is given twice"),
        ({"tests": {}}, "tests", "no test is named"),
        ({"tests": {"writer_swap": {"embedders": ["x"]}}},
         "tests.writer_swap.embedders.0", "'x' is not in the plan"),
        ({"models": [OLD, {"key": "new", "engine": "llama_cpp"}]},
         "models.1.engine", "needs the key catalogue"),
        ({"models": [OLD, ENDPOINT | {"base_url": None}]}, "models.1.engine", "the key base_url"),
        ({"models": [OLD, ENDPOINT | {"base_url": "localhost:80"}]},
         "models.1.base_url", "'localhost:80' is no address"),
        ({"models": [OLD, ENDPOINT | {"catalogue": "x"}]},
         "models.1.catalogue", "does not use catalogue"),
        ({"embedders": [{"key": "e", "engine": "onnx"}]},
         "embedders.0.engine", "needs the key catalogue"),
        ({"budgets": {"context_tokens": 512, "writer_output_tokens": 400}},
         "budgets.writer_output_tokens", "(528) leave no room in the context of 512 tokens"),
        ({"prompts": "v0"}, "prompts", "no prompt version 'v0'; expected v1"),
        ({"scoring": {"code_pattern": "[A-Z"}}, "scoring.code_pattern", "no regular expression"),
        ({"analysis": {"contrasts": [{"key": "H2"}]}},
         "analysis.contrasts.0.key", "the contrast H2 needs the test embedding_upgrade"),
        ({"formats": ["notes"], "analysis": {"contrasts": [{"key": "H4a"}]}},
         "analysis.contrasts.0.key", "needs the format 'kg_fixed'"),
    ],
)  # fmt: skip
def test_a_plan_that_does_not_fit_together_names_the_field(changes, field, says):
    at, message = one_problem(**changes)
    assert at == field
    assert says in message


def test_a_direction_to_itself_and_an_unused_model_are_both_named():
    with pytest.raises(InvalidPlanError) as caught:
        parse_plan(plan_values(directions=[["old", "old"]]))
    assert [p.field for p in caught.value.problems] == ["directions.0", "models.1.key"]


def test_a_secret_put_in_place_of_its_variable_is_not_repeated():
    at, message = one_problem(models=[OLD, ENDPOINT | {"api_key_env": "sk-very-secret"}])
    assert at == "models.1.api_key_env"
    assert "sk-very-secret" not in message


@pytest.mark.parametrize("pattern", [r"[A-Z]{2}-\d{4}", r"\d{3,5}", r"(?:AB|CD)-\d+?"[:-2], "x"])
def test_a_bounded_pattern_is_taken(pattern):
    assert why_not_bounded(pattern) == ""


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        (r"\d+", "more than 64 characters"),
        (r"a*", "matches the empty text"),
        (r"(a?b){3}", "repeats a part that itself varies"),
        (r"(?:a|ab){2}", "repeats a part that itself varies"),
        ("a?" * 20 + "a" * 20, "20 parts of variable length"),
        ("a" * 201, "at most 200"),
        (r"(a", "no regular expression"),
        (r"\d{1,16}a{1,16}\d{1,16}", "too many ways"),
    ],
)
def test_a_pattern_that_could_stall_a_run_is_refused_with_the_reason(pattern, why):
    assert why in why_not_bounded(pattern)
