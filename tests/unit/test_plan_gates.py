"""A plan says for each gate whether a failure stops the study or is marked."""

import pytest

from experiments.plan.gates import GATES, GatePolicy
from experiments.plan.plan import parse_plan
from experiments.plan.problems import InvalidPlanError
from tests.unit.plans import plan_values


def gates_of(value) -> GatePolicy:
    return parse_plan(plan_values(analysis={"gates": value})).analysis.gates


def test_one_word_is_the_consequence_of_every_gate():
    assert gates_of("stop").stopping == GATES
    assert gates_of("mark").stopping == ()
    assert parse_plan(plan_values()).analysis.gates == gates_of("stop")


def test_each_gate_can_have_its_own_and_the_rest_stops():
    policy = gates_of({"floor": "stop", "coverage": "mark", "range": "mark"})
    assert policy.consequence("floor") == "stop"
    assert policy.consequence("coverage") == "mark"
    assert policy.in_words == "stop: floor, ceiling, dose"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("halt", "'halt' is not known"),
        ({"floor": "halt"}, "gates.floor"),
        ({"flor": "stop"}, "Did you mean 'floor'?"),
        (3, "analysis.gates"),
    ],
)
def test_another_word_or_gate_is_refused_with_its_place(given, said):
    with pytest.raises(InvalidPlanError) as caught:
        gates_of(given)
    assert said in caught.value.sentence()


def test_a_gate_that_does_not_exist_is_an_error():
    with pytest.raises(KeyError):
        GatePolicy().consequence("luck")
