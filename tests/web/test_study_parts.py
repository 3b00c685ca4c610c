"""The further pages of a study: their numbers, their order, their downloads."""

import csv
import io
import re

import pytest
from django.core.files.base import ContentFile

from analysis.gates_view import consequence
from analysis.results import kept_report
from analysis.study_parts import PARTS, offered
from analysis.table_import import TableUpload, import_table
from experiments.plan.gates import GatePolicy
from tests.factories import a_study
from tests.web.conftest import text_of
from tests.web.tables import csv_of, rows
from tests.web.test_study_page import words_of

SLUGS = [part.slug for part in PARTS]


@pytest.fixture
def table(workspace):
    upload = TableUpload(file=ContentFile(csv_of()), name="answers.csv", title="Ours")
    return import_table(upload=upload, workspace=workspace, user=None)


def page_of(client, study, part):
    response = client.get(f"/studies/{study.key}/{part}")
    assert response.status_code == 200
    return text_of(response)


def table_of(client, study, part, name):
    text = page_of(client, study, f"{part}{'&' if '?' in part else '?'}csv={name}")
    return list(csv.DictReader(io.StringIO(text)))


def swap(study, old, new, form):
    report = kept_report(study)
    direction = next(d for d in report["directions"] if (d["old"], d["new"]) == (old, new))
    return next(entry for entry in direction["formats"] if entry["format"] == form)


@pytest.mark.parametrize("slug", SLUGS)
def test_every_page_opens_for_a_run_and_for_a_table(admin, study, table, slug):
    for one in (study, table):
        page = page_of(admin, one, f"{slug}/")
        words = words_of(page)
        assert "nan" not in words.lower().replace("nant", "")
        assert "None" not in words


def test_the_study_page_leads_to_its_further_pages(admin, table):
    page = page_of(admin, table, "")
    for part in offered(kept_report(table)):
        assert f'href="/studies/ours/{part.slug}/"' in page
    assert 'aria-current="page">Repair' in page_of(admin, table, "repair/")


def test_a_download_holds_all_digits_of_the_report(admin, table):
    row = next(
        row
        for row in table_of(admin, table, "swap/", "deltas")
        if row["direction"] == "Llama → Qwen" and row["format"] == "Notes"
    )
    entry = swap(table, "Llama", "Qwen", "notes")
    assert float(row["delta"]) == entry["swap_delta_pp"]["value"]
    assert float(row["delta_low"]) == entry["verdict"]["interval"]["low"]
    assert int(row["delta_n_histories"]) == 5


def test_a_table_sorts_by_its_address_and_undefined_stays_last(admin, table):
    down = table_of(admin, table, "swap/?sort=-deltas.delta", "deltas")
    values = [float(row["delta"]) for row in down if row["delta"]]
    assert values == sorted(values, reverse=True)
    assert not down[-1]["delta"]
    page = page_of(admin, table, "swap/?sort=deltas.delta")
    assert 'aria-sort="ascending"' in page
    assert "sort=-deltas.delta" in page


def test_the_tables_of_the_first_page_sort_and_download_as_well(admin, study, table):
    for one in (study, table):
        report = kept_report(one)
        direction = report["directions"][0]
        rows = table_of(admin, one, "?sort=-service.change", "service")
        changes = [float(row["change"]) for row in rows]
        assert changes == sorted(changes, reverse=True)
        known = [
            e["service_change_pp"]["value"] for d in report["directions"] for e in d["formats"]
        ]
        assert changes == sorted(known, reverse=True)
        own = {row["own"] for row in table_of(admin, one, "", "swap")}
        assert {repr(entry["own"]["value"]) for entry in direction["formats"]} <= own
        page = page_of(admin, one, "")
        tables = re.findall(r"csv=([^\"&]+)", page)
        assert page.count("<table") == len(tables)
        assert {"swap", "service", "kinds", "gates"} <= set(tables)
        for name in tables:
            assert table_of(admin, one, "", name)


def test_an_order_that_makes_no_sense_changes_nothing(admin, table):
    plain = table_of(admin, table, "swap/", "deltas")
    assert table_of(admin, table, "swap/?sort=-deltas.beauty", "deltas") == plain


def test_a_table_that_there_is_not_is_not_found(admin, table):
    assert admin.get(f"/studies/{table.key}/swap/?csv=beauty").status_code == 404


def test_a_study_of_one_history_is_compared_probe_by_probe(admin, workspace, table):
    one = a_study(workspace, key="one", n_histories=1)
    rows = table_of(admin, one, "swap/", "this_store")
    assert [(row["format"], row["probes"]) for row in rows] == [
        ("knowledge graph", "5"), ("notes", "5"),
    ] * 2  # fmt: skip
    for row in rows:
        gained, lost = int(row["gained"]), int(row["lost"])
        assert float(row["difference"]) == pytest.approx(100 * (gained - lost) / 5)
    words = words_of(page_of(admin, one, "swap/"))
    assert "One history says nothing about other histories" in words
    assert "This store only" not in words_of(page_of(admin, table, "swap/"))


def test_directions_are_averaged_only_on_request_and_with_a_warning(admin, table):
    assert "Average over the directions" not in page_of(admin, table, "swap/")
    words = words_of(page_of(admin, table, "swap/?average=1"))
    assert "Two directions that cancel average to nearly nothing" in words


def test_one_direction_and_format_shows_every_history(admin, table):
    found = table_of(admin, table, "swap/?direction=Llama..Qwen&format=notes", "histories")
    values = {row["history"]: float(row["delta"]) for row in found}
    per_history = swap(table, "Llama", "Qwen", "notes")["swap_delta_pp"]["per_history"]
    assert values == {one["history"]: one["value"] for one in per_history}


def test_every_contrast_has_its_raw_and_adjusted_p_and_its_decision(admin, table):
    words = words_of(page_of(admin, table, "tests/"))
    rows = {row["contrast"]: row for row in table_of(admin, table, "tests/", "tests")}
    for contrast in kept_report(table)["planned_tests"]["contrasts"]:
        row = rows[contrast["key"]]
        assert row["decision"] == contrast["decision"]
        if contrast["p"]["value"] is not None:
            assert float(row["p"]) == contrast["p"]["value"]
            assert float(row["p_holm"]) == contrast["p_holm"]["value"]
    assert "Equivalence, unplanned" in words


def test_a_median_cost_stands_beside_its_n_and_infinity_is_shown(admin, table):
    words = words_of(page_of(admin, table, "repair/"))
    assert "median of 5 of 5" in words
    assert "∞" in words
    assert "none: as inherited" in words


def test_repair_is_followed_by_rung(admin, table):
    rungs = table_of(admin, table, "repair/", "rungs")
    shares = {(row["method"], row["rung"]): float(row["recovered"]) for row in rungs}
    rebuilt = "notes, rebuilt from the history"
    assert shares[rebuilt, "2"] == 1.0
    assert shares[rebuilt, "1"] < 1
    assert ("none: as inherited", "0") in shares


def test_the_cost_of_every_history_is_shown_on_demand(admin, table):
    asked = "repair/?direction=Llama..Qwen&method=notes_raw"
    assert len(table_of(admin, table, asked, "ctr")) == 5
    assert admin.get(f"/studies/{table.key}/repair/?csv=ctr").status_code == 404


def test_screening_shows_three_schemes_and_says_what_it_cannot_decide(admin, table):
    words = words_of(page_of(admin, table, "screening/"))
    for scheme in ("an unseen history", "an unseen model pair", "an unseen format"):
        assert scheme in words
    assert "It cannot approve a migration" in words
    points = table_of(admin, table, "screening/?scheme=pair", "points")
    assert len(points) == len(kept_report(table)["screening"]["points"])


def test_the_planner_reproduces_the_published_sizes(admin, table):
    page = words_of(page_of(admin, table, "planner/?effect=10&margin=5&sd=28&power=80"))
    assert "248 histories" in page
    page = words_of(page_of(admin, table, "planner/?effect=10&margin=5&sd=12.1&power=80"))
    assert "48 histories" in page


def test_the_planner_says_that_no_size_finds_an_effect_of_the_margin(admin, table):
    words = words_of(page_of(admin, table, "planner/?effect=5&margin=5"))
    assert "No number of histories can be named" in words


@pytest.mark.parametrize("value", ["abc", "-1", "nan", "inf", "1e9"])
def test_the_planner_says_which_number_it_cannot_take(admin, table, value):
    words = words_of(page_of(admin, table, f"planner/?sd={value}"))
    assert "is no number between" in words


def test_the_planner_plans_from_a_spread_of_the_study(admin, table):
    page = page_of(admin, table, "planner/")
    links = re.findall(r'href="(\?from=[^"]+)"', page)
    assert links
    address = links[0].replace("&amp;", "&")
    assert admin.get(f"/studies/{table.key}/planner/{address}").status_code == 200


@pytest.mark.parametrize(("name", "words"), [("dose", "marked beside"), ("floor", "withholds")])
def test_a_failed_gate_has_the_consequence_that_the_plan_gives_to_it(name, words):
    policy = {"floor": "stop", "dose": "mark"}
    assert consequence({"gate": name, "status": "failed", "writer": ""}, policy).startswith(words)


def test_every_gate_has_its_consequence(admin, study):
    rows = table_of(admin, study, "gates/", "gates")
    report = kept_report(study)
    assert len(rows) == len(report["gates"]["each"])
    assert all(row["consequence"] for row in rows)


@pytest.mark.parametrize(
    ("gate", "writer", "said"),
    [
        ("floor", "", "withholds the verdicts of this reader"),
        ("range", "", "marked beside the verdicts of this reader"),
        ("coverage", "old", "withholds the verdicts that rest on this writer’s notes"),
    ],
)
def test_what_a_failed_gate_does_is_what_the_plan_says_of_this_gate(gate, writer, said):
    policy = GatePolicy(range="mark").model_dump()
    failed = {"gate": gate, "status": "failed", "writer": writer}
    assert consequence(failed, policy) == said


def test_the_paper_stands_beside_the_study_with_its_own_contradictions(admin, table):
    words = words_of(page_of(admin, table, "paper/"))
    assert "Table 3: writer swap" in words
    assert "do not fit each other" in words
    assert "47.19 %" in words


def test_other_models_than_the_papers_are_named_as_such(admin, study):
    assert "no agreement is expected" in words_of(page_of(admin, study, "paper/"))


def test_a_formula_in_a_name_is_no_formula_in_the_download(admin, workspace):
    data = csv_of().replace(b"Qwen", b"=1+1")
    upload = TableUpload(file=ContentFile(data), name="answers.csv", title="Odd")
    study = import_table(upload=upload, workspace=workspace, user=None)
    for row in table_of(admin, study, "tests/", "parts"):
        assert not row["part"].startswith("=")


def test_hostile_names_are_shown_and_not_run(admin, workspace):
    data = csv_of().replace(b"Qwen", b"<script>alert(1)</script>")
    upload = TableUpload(file=ContentFile(data), name="answers.csv", title="Hostile")
    study = import_table(upload=upload, workspace=workspace, user=None)
    for slug in ("", *(f"{slug}/" for slug in SLUGS)):
        assert "<script>alert" not in page_of(admin, study, slug)


def test_a_table_without_a_direction_says_what_it_lacks(admin, workspace):
    one_reader = [row for row in rows() if row["format"] == "lc_raw" and row["reader"] == "Qwen"]
    upload = TableUpload(file=ContentFile(csv_of(one_reader)), name="half.csv", title="Half")
    study = import_table(upload=upload, workspace=workspace, user=None)
    words = words_of(page_of(admin, study, ""))
    assert "the table holds no such pair" in words
    assert "Nothing was launched" not in words
    assert "memport study run" not in words


def test_what_holds_for_a_run_alone_is_left_out_for_a_table(admin, table):
    words = words_of(page_of(admin, table, ""))
    assert "What counts" not in words
    assert "Plan ," not in words
    assert "table answers.csv" in words_of(text_of(admin.get("/")))


def test_one_history_is_one_history_and_not_one_histories(admin, workspace):
    upload = TableUpload(file=ContentFile(csv_of(rows(n_histories=1))), name="one.csv", title="One")
    study = import_table(upload=upload, workspace=workspace, user=None)
    for slug in SLUGS:
        words = words_of(page_of(admin, study, f"{slug}/"))
        assert not re.search(r"\b1 (histories|answers|stores)\b", words), slug


def test_cells_that_no_writer_or_store_belongs_to_are_named_in_words(admin, workspace):
    cells = [{**row, "format": "*", "writer": "*", "condition": "raw_evidence"}
             for row in rows() if row["format"] == "lc_raw"]  # fmt: skip
    upload = TableUpload(file=ContentFile(csv_of([*rows(), *cells])), name="raw.csv", title="Raw")
    study = import_table(upload=upload, workspace=workspace, user=None)
    words = words_of(page_of(admin, study, "answers/?condition=raw_evidence"))
    assert "Without a store Llama reads (raw evidence)" in words
    assert "*" not in words
