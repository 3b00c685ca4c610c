"""When a large study ends, its report is computed at once and kept."""

import pytest

from analysis import warming
from analysis.models import AnalysisResult
from experiments.models import Run, StoreBuild
from experiments.services.run_state import settle_run
from tests.answered import answered_study

pytestmark = pytest.mark.django_db


def end(study):
    run = study.runs.get()
    StoreBuild.objects.filter(run=run).update(state="complete")
    settle_run(run_id=run.pk)
    run.refresh_from_db()
    return run


def reports(study):
    return AnalysisResult.objects.filter(study=study, kind="report").count()


def test_the_report_of_a_large_study_is_kept_when_its_run_ends(monkeypatch):
    monkeypatch.setattr(warming, "LARGE_ANSWERS", 10)
    study = answered_study(n_histories=2, state=Run.State.RUNNING)
    assert end(study).state == Run.State.COMPLETE
    assert reports(study) == 1


def test_a_small_study_waits_for_somebody_to_look():
    study = answered_study(n_histories=2, state=Run.State.RUNNING)
    end(study)
    assert reports(study) == 0


def test_while_another_run_goes_on_nothing_is_computed(monkeypatch):
    monkeypatch.setattr(warming, "LARGE_ANSWERS", 10)
    study = answered_study(n_histories=2, state=Run.State.RUNNING)
    run = study.runs.get()
    Run.objects.create(study=study, test="repair", state=Run.State.QUEUED)
    settle_run(run_id=run.pk)
    assert reports(study) == 0


def test_what_fails_in_the_analysis_does_not_keep_a_run_from_ending(monkeypatch):
    monkeypatch.setattr(warming, "LARGE_ANSWERS", 10)
    monkeypatch.setattr("analysis.results.warm", lambda study: 1 / 0)
    study = answered_study(n_histories=2, state=Run.State.RUNNING)
    assert end(study).state == Run.State.COMPLETE
