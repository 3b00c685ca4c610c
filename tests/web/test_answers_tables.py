"""The answers of a study that was run: sorted by the database, downloaded whole."""

from urllib.parse import urlencode

import pytest

from experiments.models import Answer
from tests.web.conftest import text_of
from tests.web.downloads import table_of
from tests.web.test_study_page import words_of


@pytest.fixture
def path(study):
    return f"/studies/{study.key}/answers/"


def listed(client, path, sort="", table="answers", **filters):
    return table_of(client, f"{path}?{urlencode(filters)}", table, sort=sort)


def test_a_download_holds_every_answer_of_the_filters_in_the_order_of_the_page(viewer, path):
    rows = listed(viewer, path)
    assert len(rows) == Answer.objects.count() > 100
    page = words_of(text_of(viewer.get(path + "?page=2"))).split("One by one")[1]
    assert rows[100]["probe"][:60] in page
    some = listed(viewer, path, format="notes", writer="old", reader="new", correct="wrong")
    wanted = Answer.objects.filter(
        correct=False, attempt__evaluation__format="notes", attempt__evaluation__writer="old",
        attempt__evaluation__reader="new",
    )  # fmt: skip
    assert len(some) == wanted.count() > 0


def test_answers_sort_by_text_by_verdict_and_by_cell(viewer, path):
    Answer.objects.filter(correct=False).update(text="")
    unscored = Answer.objects.first()
    Answer.objects.filter(pk=unscored.pk).update(correct=None)
    for sign, turned in (("", False), ("-", True)):
        texts = [row["answer"] for row in listed(viewer, path, f"{sign}answers.answer")]
        known = [text.casefold() for text in texts if text]
        assert known == sorted(known, reverse=turned)
        assert not any(texts[len(known) :])
        verdicts = [row["verdict"] for row in listed(viewer, path, f"{sign}answers.verdict")]
        assert list(dict.fromkeys(verdicts)) == (["right", "wrong"] if not turned else
                                                 ["wrong", "right"]) + [""]  # fmt: skip
        names = [row["cell"] for row in listed(viewer, path, f"{sign}answers.cell")]
        assert names == sorted(names, reverse=turned)
    assert listed(viewer, path, "answers.call") == listed(viewer, path)


def test_every_page_of_another_order_continues_it(viewer, path):
    sort = "-answers.right_answer"
    rows = listed(viewer, path, sort)
    for number in (1, 2):
        page = text_of(viewer.get(f"{path}?sort={sort}&page={number}"))
        words = words_of(page).split("One by one")[1]
        assert rows[100 * (number - 1)]["right_answer"] in words
        assert rows[: 100 * number][-1]["right_answer"] in words
    assert f'name="sort" value="{sort}"' in page


def test_the_histories_behind_a_number_sort_and_lead_on(viewer, path):
    rows = listed(viewer, path, "-histories.right", "histories", format="notes")
    numbers = [int(row["right"]) for row in rows]
    assert numbers == sorted(numbers, reverse=True)
    page = text_of(viewer.get(f"{path}?format=notes&sort=-histories.right"))
    assert "?format=notes&amp;study=swap" in page
