"""The pages of a study that its gates hold or stop, and the form that asks for them."""

import pytest
from django.urls import reverse

from analysis.launching import FORM_DEFAULTS, plan_data
from experiments.models import Run
from experiments.plan.plan import parse_plan
from tests.web.conftest import text_of


@pytest.mark.parametrize(
    ("state", "label", "words"),
    [
        ("held", "waiting for the gates", "Now: it waits for the gates"),
        ("barred", "stopped by the gates", "Now: stopped by the gates: gate floor (new): failed"),
    ],
)
def test_a_run_says_that_it_waits_for_the_gates_or_was_stopped_by_them(
    viewer, study, state, label, words
):
    note = "it waits for the gates" if state == "held" else "gate floor (new): failed"
    Run.objects.filter(study=study).update(state=state, note=note, reused=3)
    page = text_of(viewer.get(reverse("run", args=[study.runs.get().pk])))
    assert label in page
    assert words in page
    assert "3 more evaluations of this test are read by an earlier run" in page
    assert ("--in-spite-of-gates" in page) == (state == "barred")
    assert label in text_of(viewer.get(reverse("studies")))


def test_the_verdicts_of_a_study_that_its_gates_stopped_say_so(viewer, study):
    Run.objects.filter(study=study).update(state="barred", note="gate floor (new): failed")
    page = text_of(viewer.get(reverse("study", args=[study.key])))
    assert "the study was stopped by its gates: gate floor (new): failed" in page


def test_the_form_plans_gates_and_controlled_evidence_where_they_are_ticked():
    chosen = {**FORM_DEFAULTS, "key": "a", "title": "A", "old": "old", "new": "new",
              "embedder": "e"}  # fmt: skip
    both = parse_plan(plan_data({**chosen, "gates": "1", "controlled_evidence": "1"}))
    assert both.tests.gates is not None
    assert both.tests.controlled_evidence is not None
    neither = parse_plan(plan_data(chosen))
    assert (neither.tests.gates, neither.tests.controlled_evidence) == (None, None)
