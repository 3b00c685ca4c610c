"""The report and its version on a real PostgreSQL, which sums big integers as decimals."""

from analysis.report import study_report
from analysis.results import data_version, kept_report
from experiments.models import Answer
from tests.answered import answered_study


def test_a_report_is_kept_and_goes_stale_on_postgresql_too(postgres_database: str) -> None:
    study = answered_study(n_histories=2)
    first, before = kept_report(study), data_version(study)
    assert first == kept_report(study) == study_report(study)
    chosen = Answer.objects.filter(correct=True).first()
    assert chosen is not None
    Answer.objects.filter(pk=chosen.pk).update(correct=False)
    assert data_version(study) != before
    assert kept_report(study) == study_report(study) != first
