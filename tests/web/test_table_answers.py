"""The way down from a number of a table's study to its histories and probes."""

import re
from urllib.parse import urlencode

import pytest
from django.core.files.base import ContentFile

from analysis.table_import import TableUpload, import_table
from tests.web.conftest import text_of
from tests.web.downloads import table_of
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


def listed(client, study, table="answers", sort="", **filters):
    path = f"/studies/{study.key}/answers/?{urlencode(filters)}"
    return table_of(client, path, table, sort=sort)


def test_the_answers_of_a_table_sort_by_every_column_and_download_whole(admin, study):
    plain = listed(admin, study)
    assert len(plain) == len(list(rows()))
    for sign, turned in (("", False), ("-", True)):
        ranks = [row["rank"] for row in listed(admin, study, sort=f"{sign}answers.rank")]
        known = [float(rank) for rank in ranks if rank]
        assert known == sorted(known, reverse=turned)
        assert ranks[len(known) :] == [""] * (len(ranks) - len(known)) != []
        for key in ("probe", "history", "kind"):
            values = [row[key] for row in listed(admin, study, sort=f"{sign}answers.{key}")]
            assert values == sorted(values, reverse=turned), key
        cells = [f"{row['cell']} {row['cell_title']}".casefold()
                 for row in listed(admin, study, sort=f"{sign}answers.cell")]  # fmt: skip
        assert cells == sorted(cells, reverse=turned)
    assert listed(admin, study, sort="answers.beauty") == plain
    assert listed(admin, study, sort="answers.verdict")[0]["verdict"] == "right"
    page = words_of(answers(admin, study, sort="-answers.verdict")).split("One by one")[1]
    assert "✗ wrong" in page
    assert "✓ right" not in page


def test_answers_that_were_never_scored_stay_last(admin, workspace):
    found = [row | ({"correct": ""} if row["probe"] == "p00" else {}) for row in rows()]
    upload = TableUpload(file=ContentFile(csv_of(found)), name="blank.csv")
    study = import_table(upload=upload, workspace=workspace, user=None)
    for sort in ("answers.verdict", "-answers.verdict"):
        verdicts = [row["verdict"] for row in listed(admin, study, sort=sort)]
        n = sum(row["probe"] == "p00" for row in found)
        assert verdicts[-n:] == [""] * n
        assert "" not in verdicts[:-n]
    assert {row["verdict_status"] for row in listed(admin, study)} == {"ok", "never scored"}


def test_the_histories_behind_a_number_sort(admin, study):
    right_ones = [int(row["right"]) for row in
                  listed(admin, study, "histories", "-histories.right", **INHERITED)]  # fmt: skip
    assert right_ones == sorted(right_ones, reverse=True)
    assert sum(right_ones) == sum(counts(answers(admin, study, **INHERITED)).values())


def test_an_address_means_the_same_for_a_table_as_for_a_run(admin, study):
    """Naming a format means what was not repaired; `any` widens; an index is all unless named."""

    def found(**filters):
        return {(row["cell"], row["cell_title"]) for row in listed(admin, study, **filters)}

    unrepaired = found(format="notes")
    assert not any("repair" in title or "fresh" in title for _, title in unrepaired)
    every = found(format="notes", repair="any")
    assert unrepaired < every
    both = found(format="notes", repair="notes_raw")
    assert {title.rpartition("rung ")[2] for _, title in both} == {"1)", "2)"}
    assert found(reader="Qwen") > {cell for cell in every if cell[1].startswith("Qwen")}
    assert {title.rpartition("index ")[2] for _, title in found(format="rag")} == {
        "old)", "mixed)", "full)"
    }  # fmt: skip
    assert found(format="rag", index="none") == set()
