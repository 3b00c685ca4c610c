"""The probe page says where a probe was lost, and shows the prompt under every condition."""

import pytest
from django.urls import reverse

from experiments.models import Answer
from experiments.plan.plan import parse_plan
from experiments.runtime.pool import use_pool
from experiments.services.launch import launch_study
from stores.workload.generator import generate
from tests.factories import a_history, a_workspace, plan_data
from tests.runs import work_off
from tests.web.conftest import signed_in, text_of
from tests.web.downloads import table_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def study():
    """A study whose old model forgets half of what it reads."""
    use_pool(None)
    workspace, value = a_workspace(), generate("tiny", seed=7)[0]
    a_history(workspace, value)
    models = [{"key": "old", "engine": "scripted", "options": {"keep": 0.4}},
              {"key": "new", "engine": "scripted"}]  # fmt: skip
    data = plan_data(
        "stages", histories={"keys": [value.key]}, formats=["notes", "rag"], models=models,
        budgets={"context_tokens": 4096}, analysis={"gates": "mark"},
        tests={"gates": {"doses": [25]}, "writer_swap": {}, "controlled_evidence": {}},
    )  # fmt: skip
    made = launch_study(plan=parse_plan(data), workspace=workspace, user=None, preflight=False)
    work_off()
    yield made
    use_pool(None)


def test_a_probe_says_where_it_was_lost_and_every_prompt_is_exact(study):
    client = signed_in(study.workspace, "viewer")
    answers = Answer.objects.filter(attempt__evaluation__run__study=study)
    missed = answers.filter(
        attempt__evaluation__condition="stored_evidence", attempt__evaluation__format="notes",
        attempt__evaluation__writer="old", attempt__evaluation__reader="new", correct=False,
    ).first()  # fmt: skip
    assert missed is not None
    page = text_of(client.get(reverse("probe", args=[missed.probe_id]) + "?study=stages"))
    assert "✗ lost in construction" in page
    assert "right with the original events, wrong with what the store keeps of them" in page
    assert "✓ not lost" in page
    assert "Without a store" in page
    assert "✗ in no item" in page
    for condition in ("normal", "stored_evidence", "raw_evidence", "no_memory", "style_rewrite",
                      "corrupt_25"):  # fmt: skip
        answer = answers.filter(attempt__evaluation__condition=condition).first()
        prompt = text_of(client.get(reverse("prompt", args=[answer.pk])))
        assert "The store can no longer be read" not in prompt
        assert answer.probe.question.split()[-1].rstrip("?") in prompt
        assert "another hash" not in prompt, condition


def test_a_probe_that_is_right_normally_and_wrong_with_the_raw_evidence_is_shown_as_such(study):
    answers = Answer.objects.filter(attempt__evaluation__run__study=study)
    right = answers.filter(
        attempt__evaluation__condition="normal", attempt__evaluation__format="notes",
        attempt__evaluation__writer="new", attempt__evaluation__reader="new", correct=True,
    ).first()  # fmt: skip
    assert right is not None
    raw = answers.filter(probe=right.probe, attempt__evaluation__condition="raw_evidence")
    raw.update(correct=False, reason="no_code")
    client = signed_in(study.workspace, "viewer")
    page = text_of(client.get(reverse("probe", args=[right.probe_id]) + "?study=stages"))
    assert "? fits no stage" in page
    assert "more help made a right answer wrong" in page


def test_stages_and_cells_of_a_probe_sort_and_download(study):
    client = signed_in(study.workspace, "viewer")
    probe = Answer.objects.filter(attempt__evaluation__run__study=study).first().probe
    path = reverse("probe", args=[probe.pk]) + "?study=stages"
    stages = table_of(client, path, "stages", sort="-stages.stage")
    named = [row["stage"] for row in stages]
    assert named == sorted(named, reverse=True)
    assert all("✓" in row["answers"] or "✗" in row["answers"] for row in stages)
    cells = table_of(client, path, "cells")
    page = text_of(client.get(path))
    assert len(cells) == page.count('<article class="cell')
    results = [row["result"] for row in cells]
    assert results.count("right") == page.count('<article class="cell right')
    assert {row["labels"][:8] for row in cells} == {"scripted"}
