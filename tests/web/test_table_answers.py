"""The way down from a number of a table's study to its histories and probes."""

import re
from urllib.parse import urlencode

import pytest
from django.core.files.base import ContentFile

from analysis.table_import import TableUpload, import_table
from tests.web.conftest import text_of
from tests.web.tables import csv_of, right, rows
from tests.web.test_study_page import words_of

INHERITED = {"format": "notes", "writer": "Llama", "reader": "Qwen", "condition": "normal"}


@pytest.fixture
def study(workspace):
    upload = TableUpload(file=ContentFile(csv_of()), name="answers.csv")
    return import_table(upload=upload, workspace=workspace, user=None)


def answers(client, study, **filters):
    return text_of(client.get(f"/studies/{study.key}/answers/?{urlencode(filters)}"))


def counts(page):
    """Right answers by history, as the page shows them."""
    found = re.findall(r'history=(h\d)"?[^>]*>h\d</a></th><td class="num">(\d+)</td>', page)
    return {history: int(number) for history, number in found}


def test_the_counts_are_those_of_the_rows(admin, study):
    cell = ("notes", "Llama", "Qwen", "", "", "", "")
    expected = {f"h{n}": sum(right(cell, n, probe) for probe in range(10)) for n in range(5)}
    assert counts(answers(admin, study, **INHERITED)) == expected


def test_a_cell_without_index_or_repair_does_not_mix_with_those(admin, study):
    words = words_of(answers(admin, study, **INHERITED))
    assert "repair" not in words.split("One by one")[1]
    repaired = words_of(answers(admin, study, **INHERITED, repair="notes_raw", rung="2"))
    assert "(repair notes_raw, rung 2)" in repaired


def test_a_history_shows_its_probes_and_a_probe_all_its_cells(admin, study):
    page = words_of(answers(admin, study, **INHERITED, history="h1"))
    assert page.split("One by one")[1].count("Qwen reads what Llama wrote") == 10
    page = words_of(answers(admin, study, history="h1", probe="p03"))
    n_cells = len({(r["format"], r["writer"], r["reader"], r["index"], r["repair"], r["rung"])
                   for r in rows()})  # fmt: skip
    assert page.split("One by one")[1].count("reads") == n_cells


@pytest.mark.parametrize("correct", ["right", "wrong"])
def test_right_and_wrong_answers_can_be_told_apart(admin, study, correct):
    words = words_of(answers(admin, study, **INHERITED, correct=correct)).split("One by one")[1]
    other = {"right": "✗ wrong", "wrong": "✓ right"}[correct]
    assert other not in words


def test_a_filter_that_matches_nothing_says_so(admin, study):
    assert "No answer matches" in answers(admin, study, format="prose")


def test_every_number_of_the_swap_page_leads_to_answers(admin, study):
    page = text_of(admin.get(f"/studies/{study.key}/swap/"))
    links = set(re.findall(r'href="(/studies/[^"]+/answers/[^"]+)"', page))
    assert links
    for link in links:
        assert "No answer matches" not in text_of(admin.get(link.replace("&amp;", "&"))), link
