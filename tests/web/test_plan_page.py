"""The plan page checks the lock, says what fails, and gives the files for a check elsewhere."""

import pytest

from experiments.guards import drop_guards
from experiments.models import Study
from experiments.plan.plan import parse_plan
from experiments.services.locking import lock_study
from tests.answered import answered_study
from tests.factories import a_study
from tests.unit.plans import plan_values
from tests.web.conftest import text_of
from tests.web.test_study_page import words_of


@pytest.fixture
def locked(workspace, settings, tmp_path) -> Study:
    settings.HOME = tmp_path
    return lock_study(plan=parse_plan(plan_values()), workspace=workspace, user=None)


def test_a_lock_that_holds_says_so_and_gives_its_files(viewer, locked):
    words = words_of(text_of(viewer.get("/studies/two-models/plan/")))
    assert "✓ holds" in words
    assert locked.plan_lock.key_id in words
    data = viewer.get("/studies/two-models/plan/plan.json").content
    assert data == bytes(locked.plan_lock.plan_json)
    assert len(viewer.get("/studies/two-models/plan/plan.sig").content) == 64
    assert viewer.get("/studies/two-models/plan/secret_key").status_code == 404


def test_a_changed_plan_is_shown_as_such(viewer, locked):
    drop_guards()
    Study.objects.update(plan={**locked.plan, "seed": 9})
    words = words_of(text_of(viewer.get("/studies/two-models/plan/")))
    assert "✗ does not hold" in words
    assert "another plan than the one that was locked" in words


def test_a_late_lock_says_why_on_the_plan_page_and_marks_the_study_page(
    viewer, workspace, settings, tmp_path
):
    settings.HOME = tmp_path
    answered_study(key="two-models", n_histories=2)
    lock_study(
        plan=parse_plan(plan_values()), workspace=workspace, user=None,
        after_results_because="<i>lost</i>",
    )  # fmt: skip
    page = text_of(viewer.get("/studies/two-models/plan/"))
    assert "after results existed: &lt;i&gt;lost&lt;/i&gt;" in page
    words = words_of(text_of(viewer.get("/studies/two-models/")))
    assert "Unplanned: the plan was locked after results existed" in words
    assert "(unplanned)" in words


def test_a_study_without_a_signature_is_said_to_have_none(viewer, workspace):
    a_study(workspace, key="older", n_histories=1)
    words = words_of(text_of(viewer.get("/studies/older/plan/")))
    assert "locked without a signature" in words
