"""Pages over a study that was really launched and worked off, on the scripted engine."""

import pytest
from django.urls import reverse

from experiments.models import Answer
from tests.runs import a_launched_run, work_off
from tests.web.conftest import signed_in, text_of
from tests.web.pages import all_pages


@pytest.fixture
def run(db):
    """One history, every format, both directions: stores built and questions asked."""
    launched = a_launched_run()
    work_off()
    launched.refresh_from_db()
    return launched


def test_every_page_opens_and_every_prompt_is_proven_exact(run):
    client = signed_in(run.study.workspace, "admin")
    for path in all_pages(run.study):
        assert client.get(path).status_code == 200, path
    cells = run.evaluations.count()
    assert cells == 12
    for answer in Answer.objects.filter(attempt__evaluation__run=run):
        page = text_of(client.get(reverse("prompt", args=[answer.pk])))
        assert "✓ exact" in page, answer.attempt.evaluation.format
    history = text_of(client.get(reverse("history", args=[run.evaluations.first().history_id])))
    assert history.count('<td class="right') + history.count('<td class="wrong') == cells * 5
