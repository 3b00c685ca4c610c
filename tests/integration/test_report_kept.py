"""Results are kept per version of the data, and a changed answer makes them stale, never wrong."""

import pytest

from analysis.models import AnalysisResult
from analysis.report import study_report
from analysis.results import data_version, kept_report, kept_result
from experiments.models import Answer, Run
from tests.answered import answered_study

pytestmark = pytest.mark.django_db


def test_a_kept_report_is_not_computed_again():
    study = answered_study(n_histories=3)
    first = kept_report(study)
    computed = []
    again = kept_result(study, kind="report", compute=lambda s: computed.append(s) or {})
    assert again == first == study_report(study)
    assert not computed


def test_a_changed_answer_makes_the_kept_report_stale():
    study = answered_study(n_histories=3)
    before = kept_report(study)
    chosen = Answer.objects.filter(correct=True).first()
    Answer.objects.filter(pk=chosen.pk).update(correct=False)
    after = kept_report(study)
    assert after == study_report(study)
    assert after != before
    assert AnalysisResult.objects.filter(kind="report").count() == 1


@pytest.mark.parametrize("change", [{"correct": None}, {"rank": 7}, {"recall": 0.25}])
def test_every_part_of_an_answer_counts_in_the_version(change):
    study = answered_study(n_histories=1)
    before = data_version(study)
    chosen = Answer.objects.filter(attempt__evaluation__format="rag", correct=True).first()
    Answer.objects.filter(pk=chosen.pk).update(**change)
    assert data_version(study) != before


def test_two_changes_that_cancel_in_number_do_not_cancel_in_the_version():
    study = answered_study(n_histories=1)
    before = data_version(study)
    right, wrong = (Answer.objects.filter(correct=value).first() for value in (True, False))
    Answer.objects.filter(pk=right.pk).update(correct=False)
    Answer.objects.filter(pk=wrong.pk).update(correct=True)
    assert data_version(study) != before


def test_the_end_of_a_run_makes_the_report_stale():
    study = answered_study(n_histories=3, state=Run.State.RUNNING)
    assert "not finished" in str(kept_report(study)["directions"][0]["formats"][2]["verdict"])
    study.runs.update(state=Run.State.COMPLETE)
    assert "not finished" not in str(kept_report(study)["directions"])
