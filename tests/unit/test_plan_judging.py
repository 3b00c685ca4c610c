"""A plan names its contrasts with margin and α, their family, and the exclusion rules."""

import pytest

from experiments.plan.judging import DEFINITIONS
from experiments.plan.plan import parse_plan, plan_value
from experiments.plan.problems import InvalidPlanError
from tests.unit.plans import plan_values


def analysis(**values):
    return parse_plan(plan_values(analysis=values)).analysis


def test_a_contrast_takes_margin_and_alpha_of_the_study_and_may_have_its_own():
    named = analysis(
        margin_pp=3, alpha=0.01, contrasts=[{"key": "H1"}, {"key": "H4a", "margin_pp": 7}]
    )
    assert [(c.margin_pp, c.alpha) for c in named.contrasts] == [(3, 0.01), (7, 0.01)]


def test_the_lock_holds_definitions_direction_unit_and_exclusion_rules():
    plan = plan_value(parse_plan(plan_values(analysis={"contrasts": [{"key": "H1"}]})))["analysis"]
    assert plan["contrasts"][0]["definition"] == DEFINITIONS["H1"]
    assert plan["contrasts"][0]["expected"] == "greater"
    assert plan["unit"] == "history"
    assert len(plan["exclusions"]) == 6


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"contrasts": [{"key": "H1", "definition": "mine"}]}, "H1 is defined otherwise here"),
        ({"exclusions": {"attempts": "the best one"}}, "exclusions.attempts"),
        ({"secondary": ["by_mood"]}, "by_kind"),
        ({"unit": "probe"}, "analysis.unit"),
        (
            {"contrasts": [{"key": "H1", "alpha": 0.01}, {"key": "H4a"}]},
            "the family 'planned' has two values of alpha",
        ),
    ],
)
def test_what_the_program_does_not_do_cannot_be_planned(values, said):
    with pytest.raises(InvalidPlanError) as caught:
        analysis(**values)
    assert said in caught.value.sentence()


def test_two_families_may_have_two_alphas():
    named = [{"key": "H1", "alpha": 0.01, "family": "first"}, {"key": "H4a"}]
    assert [c.alpha for c in analysis(contrasts=named).contrasts] == [0.01, 0.05]
