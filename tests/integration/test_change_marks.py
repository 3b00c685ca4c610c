"""The database marks what was changed after it was written, so that kept results go stale."""

import pytest

from analysis import kept
from analysis.change_marks import WATCHED, drop_marks, make_marks
from analysis.kept import Shelf, at_hand, fingerprint
from experiments.models import Answer, Attempt, Run
from stores.models import Blob, Probe, Store
from tests.answered import answered_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    return answered_study(n_histories=1, n_probes=4)


@pytest.mark.parametrize(
    "change",
    [
        lambda: Answer.objects.filter(correct=True)[:1].get().delete(),
        lambda: Answer.objects.update(correct=None),
        lambda: Answer.objects.update(rank=3),
        lambda: Probe.objects.update(kind="alias"),
        lambda: Store.objects.update(coverage={}),
        lambda: Blob.objects.update(data=b"something else"),
        lambda: Attempt.objects.first().delete(),
        lambda: Run.objects.update(state=Run.State.STOPPED),
    ],
)
def test_whatever_results_rest_on_changes_the_fingerprint(study, change):
    before = fingerprint(study)
    change()
    assert fingerprint(study) != before


def test_an_answer_of_an_open_attempt_marks_nothing_and_a_late_one_does(study):
    attempt = Attempt.objects.first()
    probe = Answer.objects.filter(attempt=attempt).first().probe
    Answer.objects.filter(attempt=attempt, probe=probe).delete()
    Attempt.objects.filter(pk=attempt.pk).update(state="open")
    before = kept._mark()
    late = Answer.objects.create(attempt=attempt, probe=probe, correct=True)
    assert kept._mark() == before
    Answer.objects.filter(pk=late.pk).delete()
    Attempt.objects.filter(pk=attempt.pk).update(state="complete")
    before = kept._mark()
    Answer.objects.create(attempt=attempt, probe=probe, correct=True)
    assert kept._mark() != before


def test_two_changes_leave_two_marks(study):
    Answer.objects.update(correct=True)
    first = kept._mark()
    Answer.objects.update(correct=True)
    assert kept._mark() != first


def test_the_triggers_can_be_taken_away_for_a_migration_and_made_again(study):
    drop_marks()
    before = fingerprint(study)
    Answer.objects.update(correct=None)
    assert fingerprint(study) == before
    make_marks()
    make_marks()
    Answer.objects.update(correct=True)
    assert fingerprint(study) != before
    assert set(WATCHED)


def test_a_thing_at_hand_is_made_once_and_anew_after_a_change(study):
    made = []
    for _ in range(2):
        at_hand(study, "test", lambda: made.append(1))
    assert len(made) == 1
    Answer.objects.update(correct=None)
    at_hand(study, "test", lambda: made.append(1))
    assert len(made) == 2


def test_while_a_run_goes_on_nothing_is_at_hand(study):
    study.runs.update(state=Run.State.RUNNING)
    made = []
    for _ in range(2):
        at_hand(study, "test", lambda: made.append(1))
    assert len(made) == 2


def test_the_shelf_forgets_the_oldest():
    shelf = Shelf(2)
    for key in "abca":
        shelf.get((key,), "1", lambda: None)
    made = []
    shelf.get(("c",), "1", lambda: made.append("c"))
    shelf.get(("b",), "1", lambda: made.append("b"))
    assert made == ["b"]
