"""A plan has one canonical form and one hash."""

from experiments.plan.plan import canonical_json, differences, parse_plan, plan_sha256, plan_value
from tests.unit.plans import plan_values

HASH = "a244935fe40829e35c7b2eb62e79868cb54d4b508c40ede2fd3c8dd83ef52cc5"


def test_the_hash_of_a_plan_never_changes():
    # A changed hash means that every locked plan stops matching: change the schema instead.
    assert plan_sha256(parse_plan(plan_values(title="Zwei Modelle ü"))) == HASH


def test_defaults_spelled_out_are_the_same_plan():
    written = plan_values(seed=0, prompts="v2", budgets={"top_k": 8.0, "writer_temperature": 0})
    assert plan_sha256(parse_plan(written)) == plan_sha256(parse_plan(plan_values()))


def test_the_order_of_keys_is_nothing_and_the_order_of_models_is_something():
    values = plan_values()
    assert plan_sha256(parse_plan(dict(reversed(values.items())))) == plan_sha256(
        parse_plan(values)
    )
    turned = plan_values(models=values["models"][::-1])
    assert plan_sha256(parse_plan(turned)) != plan_sha256(parse_plan(values))


def test_canonical_json_is_utf8_without_spaces_and_sorted():
    text = canonical_json(parse_plan(plan_values(title="ü"))).decode()
    assert text.startswith('{"analysis":{"alpha":0.05,"bootstrap_resamples":10000,')
    assert '"title":"ü"}' in text


def test_a_locked_plan_hashes_as_it_stands():
    plan = parse_plan(plan_values())
    assert canonical_json(plan_value(plan)) == canonical_json(plan)


def test_differences_name_the_key_and_both_values():
    locked = plan_value(parse_plan(plan_values()))
    given = plan_value(parse_plan(plan_values(seed=3, budgets={"top_k": 5})))
    assert differences(locked, given) == [
        "budgets.top_k: locked 8, given 5",
        "seed: locked 0, given 3",
    ]
    assert differences(locked, locked) == []
