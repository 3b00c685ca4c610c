import re

import pytest
from django.urls import reverse

from experiments.models import Answer, Attempt, Evaluation
from stores.models import Blob, Probe, Store
from tests.web.conftest import text_of
from tests.web.test_study_page import words_of


@pytest.fixture
def probe(study) -> Probe:
    """A probe with a value that changed: its evidence is two events with a code each."""
    return Probe.objects.filter(kind="temporal").order_by("pk").first()


def states_of(probe: Probe) -> list[str]:
    stores = Store.objects.filter(history=probe.history)
    return [s["state"] for store in stores for s in store.coverage["by_probe"][probe.key]]


def page_of(client, probe, query: str = "") -> str:
    return text_of(client.get(reverse("probe", args=[probe.pk]) + query))


def an_answer(probe: Probe, **cell) -> Answer:
    query = {f"attempt__evaluation__{name}": value for name, value in cell.items()}
    return Answer.objects.select_related("call").get(probe=probe, **query)


def test_question_right_answer_and_evidence_are_shown_and_its_codes_marked(admin, probe):
    page = page_of(admin, probe)
    assert probe.question in words_of(page)
    assert f"<code>{probe.answer}</code>" in page
    assert f"<mark>{probe.answer}</mark>" in page
    assert page.count('class="event evidence"') == len(probe.evidence)


def test_events_between_the_evidence_are_counted_not_hidden_in_silence(admin, probe):
    shown = re.findall(r"(\d+) events? not shown", page_of(admin, probe))
    assert shown
    assert not re.findall(r"events? not shown", page_of(admin, probe, "?whole=1"))
    assert page_of(admin, probe, "?whole=1").count('<li class="event') == 11


def test_every_cell_of_the_study_stands_side_by_side(admin, probe):
    page = page_of(admin, probe)
    assert page.count('<article class="cell') == 12
    answers = Answer.objects.filter(probe=probe)
    assert page.count("✓ right") == answers.filter(correct=True).count()
    assert page.count("✗ wrong") == answers.filter(correct=False).count()


def test_the_evidence_is_followed_into_each_store(admin, study):
    probe = next(p for p in Probe.objects.order_by("pk") if "missing" in states_of(p))
    words = words_of(page_of(admin, probe))
    # Every store is read by both models.
    assert words.count("✗ missing") == 2 * states_of(probe).count("missing")


def test_the_rank_of_the_evidence_is_shown_or_that_it_was_not_retrieved(admin, probe):
    answer = an_answer(probe, format="rag", reader="new")
    event = probe.evidence[0]
    answer.evidence_ranks = {event: 9, probe.evidence[1]: 1}
    answer.retrieved = [{"item": "chunk-0001", "rank": 1, "events": [probe.evidence[1]]}]
    answer.save()
    words = words_of(page_of(admin, probe))
    assert f"{event} : ✗ not retrieved rank 9, only 1 shown" in words.replace(
        f"{event}:", f"{event} :"
    )
    assert "✓ rank 1" in words


def test_the_reason_of_a_wrong_answer_is_said_in_words(admin, probe):
    Answer.objects.filter(probe=probe).update(correct=False, reason="stale_code")
    assert "an outdated code" in page_of(admin, probe)


def test_an_answer_that_was_never_scored_is_neither_right_nor_wrong(admin, probe):
    Answer.objects.filter(probe=probe).update(correct=None, reason="")
    page = page_of(admin, probe)
    assert page.count("· never scored") == 12
    assert "✗ wrong" not in page


def test_the_cell_that_the_address_names_is_marked(admin, probe):
    page = page_of(admin, probe, "?study=swap&format=notes&writer=old&reader=new")
    chosen = re.findall(r'<article class="cell \w+ chosen" id="cell-(\d+)"', page)
    evaluation = Evaluation.objects.get(
        history=probe.history, format="notes", writer="old", reader="new"
    )
    assert chosen == [str(evaluation.pk)]


@pytest.mark.parametrize("name", ["lc_raw", "rag", "notes", "kg_fixed"])
def test_the_exact_prompt_is_rebuilt_from_the_store_and_its_hash_confirmed(admin, probe, name):
    answer = an_answer(
        probe, format=name, reader="new", writer="" if name in ("lc_raw", "rag") else "old"
    )
    page = text_of(admin.get(reverse("prompt", args=[answer.pk])))
    assert "✓ exact" in page
    assert probe.question in words_of(page)
    assert answer.call.reply_text in words_of(page)


def test_a_prompt_that_cannot_be_confirmed_is_called_a_reconstruction(admin, probe):
    answer = an_answer(probe, format="notes", writer="old", reader="new")
    Answer.objects.filter(pk=answer.pk).update(prefix_sha256="0" * 64)
    page = text_of(admin.get(reverse("prompt", args=[answer.pk])))
    assert "✓ exact" not in page
    assert "changed since" in page


def test_a_prompt_whose_store_is_damaged_is_refused_in_words(admin, probe):
    answer = an_answer(probe, format="notes", writer="old", reader="new")
    store = answer.attempt.store
    Blob.objects.filter(pk=store.content_id).update(data=b"\xff no JSON")
    page = text_of(admin.get(reverse("prompt", args=[answer.pk])))
    assert "can no longer be read" in page
    assert answer.call.reply_text in words_of(page)


def test_htmx_gets_the_prompt_without_the_page_around_it(admin, probe):
    answer = an_answer(probe, format="lc_raw", reader="new")
    fragment = text_of(
        admin.get(reverse("prompt", args=[answer.pk]), headers={"HX-Request": "true"})
    )
    assert "<html" not in fragment
    assert "✓ exact" in fragment


def test_the_answers_of_a_second_attempt_do_not_replace_the_first(admin, probe):
    first = an_answer(probe, format="lc_raw", reader="new")
    again = Attempt.objects.create(
        evaluation=first.attempt.evaluation, number=2, state="complete", store=first.attempt.store
    )
    Answer.objects.create(attempt=again, probe=probe, text="A second opinion", correct=False)
    assert "A second opinion" not in page_of(admin, probe)
