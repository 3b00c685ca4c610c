"""A plan file is read, or refused with the place and the nearest known key."""

import json
from pathlib import Path

import pytest

from experiments.plan.plan import load_plan, load_plan_text, parse_plan
from experiments.plan.problems import InvalidPlanError
from stores.errors import InvalidInputError
from tests.unit.plans import plan_values

STUDIES = Path(__file__).parents[2] / "experiments" / "studies"
PLAN = b"""\
key: two-models
title: Two models
histories:
  preset: tiny
  seed: 7
formats: [lc_raw, notes]
models:
  - key: old
    engine: scripted
  - key: new
    engine: scripted
tests:
  writer_swap:
    noise_repeats: 2
"""


def refused(text: bytes, *, source: str = "study.yaml") -> InvalidPlanError:
    with pytest.raises(InvalidPlanError) as caught:
        load_plan_text(text, source=source)
    return caught.value


def test_a_yaml_file_and_the_same_plan_as_json_are_one_plan(tmp_path):
    (tmp_path / "study.yaml").write_bytes(PLAN)
    plan = load_plan(tmp_path / "study.yaml")
    (tmp_path / "study.json").write_text(plan.model_dump_json(indent=1).replace("  ", "\t"))
    assert load_plan(tmp_path / "study.json") == plan
    assert plan.planned_directions == (("old", "new"), ("new", "old"))


def test_a_typo_names_file_line_and_key_and_suggests_the_nearest():
    error = refused(
        PLAN.replace(b"    engine: scripted\n  - key: new", b"    enigne: x\n  - key: new")
    )
    typo = next(p for p in error.problems if "enigne" in p.what)
    assert (typo.line, typo.field) == (9, "models.0.enigne")
    assert typo.hint == "Did you mean 'engine'?"
    assert "study.yaml, line 9, models[0].enigne: the key 'enigne' is not known" in str(error)


def test_an_unknown_value_lists_the_known_ones_and_the_nearest():
    error = refused(PLAN.replace(b"[lc_raw, notes]", b"[lc_raw, note]"))
    assert str(error) == (
        "study.yaml, line 6, formats[1]: 'note' is not known; expected lc_raw or rag or notes or "
        "kg_fixed. Did you mean 'notes'?"
    )


def test_a_missing_key_is_named_with_the_line_of_its_part():
    error = refused(PLAN.replace(b"  - key: new\n    engine", b"  - engine"))
    assert "study.yaml, line 10, models[1].key: the key 'key' is missing" in str(error)


def test_a_key_given_twice_is_refused_with_both_lines():
    error = refused(PLAN + b"title: Again\n")
    assert str(error) == (
        "study.yaml, line 15, title: the key 'title' is given twice, first on line 2. "
        "Keep one of them."
    )


def test_every_problem_is_reported_at_once_in_the_order_of_the_file():
    error = refused(
        PLAN.replace(b"two-models", b"two models").replace(b"repeats: 2", b"repeats: -1")
    )
    assert [problem.line for problem in error.problems] == [1, 14]
    assert "out of range; expected at least 0" in str(error)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"key: [1", "line 1: not YAML: "),
        (b"- a\n- b\n", "its top level is no mapping"),
        (b"", "its top level is no mapping"),
        (b"key: \xff\n", "line 1: the file is not UTF-8 text"),
        (b"a: &x 1\nb: *x\n", "line 2: not YAML: aliases (*name) are not taken"),
        (b"1: 2\n", "a key must be text"),
        (b"a: !!python/object:os.system x\n", "line 1: not YAML: "),
        (b"a: 1\n---\na: 2\n", "not YAML: "),
        (b"[" * 5000, "nested too deeply" ),
        (b"a: " + b"[" * 30 + b"]" * 30, "nested too deeply"),
        (b"a: \x00\n", "not YAML: "),
        (b"#" * (1024 * 1024 + 1), "a plan has at most 1,048,576"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_plan_is_refused_in_words(text, says):
    assert says in str(refused(text))


def test_bad_json_names_line_and_column():
    error = refused(b'{"key": "a",\n "title": }', source="study.json")
    assert "study.json, line 2: not JSON: Expecting value (column 11)" in str(error)


def test_a_file_that_is_not_there_says_so(tmp_path):
    with pytest.raises(InvalidInputError, match="cannot be read: No such file"):
        load_plan(tmp_path / "none.yaml")


def test_a_form_gets_its_problems_by_field():
    values = plan_values(title="", budgets={"top_k": "many"})
    with pytest.raises(InvalidPlanError) as caught:
        parse_plan(values)
    assert set(caught.value.by_field()) == {"title", "budgets.top_k"}
    assert caught.value.by_field()["budgets.top_k"] == [
        "'many' cannot be taken; expected a whole number."
    ]


def test_a_locked_plan_reads_back_as_itself():
    plan = parse_plan(plan_values())
    assert parse_plan(json.loads(plan.model_dump_json())) == plan


@pytest.mark.parametrize("path", sorted(STUDIES.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_plan_that_memport_brings_can_be_loaded(path):
    assert load_plan(path).key == path.stem


def test_a_list_that_is_too_long_is_refused_in_words():
    error = refused(PLAN + b"directions: [[old, new, old]]\n")
    assert "directions[0]" in str(error)
    assert "after validation" not in str(error)
