"""Histories of real text: answers without codes, evidence that cannot be followed word for word."""

import pytest
from django.urls import reverse

from stores.models import Probe, Store
from stores.workload import types
from stores.workload.types import Event, History, Scoring
from tests.factories import a_study
from tests.web.conftest import text_of
from tests.web.test_study_page import words_of


@pytest.fixture
def chat(workspace):
    """A study over one conversation: one answer stands in its evidence, the other does not."""
    events = (Event("a", 1, "I moved to Bern last week.", actor="Ada"), Event("b", 2, "Nice!"))
    f1 = Scoring("token_f1")
    probes = (
        types.Probe("q1", "chat", "direct", "Where does Ada live?", "Bern", ("a",), scoring=f1),
        types.Probe("q2", "chat", "direct", "Is she settled?", "yes", ("a",), scoring=f1),
    )
    value = History("chat", events, "A chat", probes)
    return a_study(workspace, key="chat", values=[value], histories={"keys": ["chat"]})


def probe_page(admin, key: str) -> str:
    probe = Probe.objects.get(key=key)
    return words_of(text_of(admin.get(reverse("probe", args=[probe.pk]))))


def test_the_scorer_and_its_threshold_stand_beside_the_right_answer(admin, chat):
    assert "by token F1 of at least 0.5, the plan’s" in probe_page(admin, "q1")


def test_evidence_in_words_is_followed_like_a_code(admin, chat):
    words = probe_page(admin, "q1")
    assert "Bern a ✓ kept" in words


def test_evidence_that_cannot_be_followed_says_why(admin, chat):
    assert "not followed: its answer does not stand in its evidence" in probe_page(admin, "q2")


def test_a_store_of_free_text_says_which_coverage_is_undefined(admin, chat):
    store = Store.objects.filter(format="rag").get()
    words = words_of(text_of(admin.get(reverse("store", args=[store.pk]))))
    assert "undefined: no event names its entity" in words
    assert "1 probe cannot be followed" in words


def test_one_history_decides_nothing_and_the_page_says_how_many_it_takes(admin, chat):
    words = words_of(text_of(admin.get("/studies/chat/")))
    assert "at least three are needed to decide anything" in words
    assert "Too few histories" in words
