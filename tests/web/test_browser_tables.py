"""Tables that no server sorts: a report in a file, and a page that was posted, in a browser."""

import csv
import io

import pytest
from playwright.sync_api import expect

from analysis.compare import compare_reports
from analysis.html_comparison import html_comparison
from analysis.html_report import html_report
from analysis.table_report import table_report
from memport_site.accounts.services import make_sign_in_link
from tests.factories import a_study, a_user, a_workspace
from tests.web.browser import overflow_px, watched_page
from tests.web.tables import csv_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def report(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_bytes(csv_of())
    return table_report(path)


@pytest.fixture
def file(report, tmp_path):
    """The page of `memport analyze --html`, as it lies on somebody's disk."""
    page = tmp_path / "report.html"
    page.write_text(html_report(report), encoding="utf-8")
    return page


def opened(browser, file, **context):
    return watched_page(browser, base_url="http://localhost", accept_downloads=True, **context)


def table_named(page, name):
    return page.get_by_role("region", name=name).first.locator("table")


def values(table, column: int) -> list[str]:
    """The sort keys of a column: full numbers, None where there is none."""
    return table.locator(f"tbody tr > :nth-child({column})").evaluate_all(
        "cells => cells.map(one => one.hasAttribute('data-none') ? null"
        " : one.dataset.number ?? one.textContent)"
    )


def downloaded(page, name) -> list[dict[str, str]]:
    head = page.locator(".table-head").filter(has=page.get_by_role("heading", name=name))
    with page.expect_download() as started:
        head.first.get_by_role("link", name="CSV, all digits").click()
    text = started.value.path().read_text(encoding="utf-8")
    assert started.value.suggested_filename.startswith("memport-")
    return list(csv.DictReader(io.StringIO(text)))


def test_a_report_in_a_file_sorts_its_tables_by_mouse_and_by_keyboard(browser, file):
    name = "Swap delta and retained performance"
    with opened(browser, file) as watched:
        page = watched.page
        page.goto(file.as_uri())
        table = table_named(page, name)
        head = table.get_by_role("columnheader", name="Swap delta, pp")
        column = head.evaluate("one => one.cellIndex") + 1
        before = values(table, column)
        assert None in before
        head.get_by_role("button").click()
        expect(head).to_have_attribute("aria-sort", "ascending")
        known = [float(one) for one in before if one is not None]
        up = values(table, column)
        assert [float(one) for one in up if one is not None] == sorted(known)
        head.get_by_role("button").press("Enter")
        expect(head).to_have_attribute("aria-sort", "descending")
        down = values(table, column)
        assert [float(one) for one in down if one is not None] == sorted(known, reverse=True)
        for order in (up, down):
            assert order[len(known) :] == [None] * (len(order) - len(known))
        other = table.get_by_role("columnheader", name="Direction")
        other.get_by_role("button").press("Space")
        expect(head).not_to_have_attribute("aria-sort", "descending")
        expect(other).to_have_attribute("aria-sort", "ascending")
        texts = [one.casefold() for one in values(table, 1)]
        assert texts == sorted(texts)
        assert watched.complaints == []
        assert [url for url in watched.requests if not url.startswith("file:")] == []


def test_every_table_of_the_file_downloads_all_digits(browser, file, report):
    with opened(browser, file) as watched:
        page = watched.page
        page.goto(file.as_uri())
        rows = downloaded(page, "Swap delta and retained performance")
        known = [e["swap_delta_pp"]["value"] for d in report["directions"] for e in d["formats"]
                 if e["written"]]  # fmt: skip
        assert [float(row["delta"]) for row in rows if row["delta"]] == known
        assert page.locator("table").count() == page.locator("a[download]").count() > 5
        ids = page.locator("[id]").evaluate_all("all => all.map(one => one.id)")
        assert len(ids) == len(set(ids))


def test_without_script_the_file_reads_well_and_still_downloads(browser, file):
    with opened(browser, file, java_script_enabled=False) as watched:
        page = watched.page
        page.goto(file.as_uri())
        table = table_named(page, "Swap delta and retained performance")
        expect(table.locator("thead button")).to_have_count(0)
        expect(table.get_by_role("columnheader", name="Swap delta, pp")).to_be_visible()
        assert downloaded(page, "Swap delta and retained performance")


@pytest.mark.parametrize("width", [360, 1440])
def test_the_file_fits_its_window(browser, file, width):
    with opened(browser, file, viewport={"width": width, "height": 800}) as watched:
        watched.page.goto(file.as_uri())
        assert overflow_px(watched.page) <= 0


def test_two_reports_side_by_side_sort_and_download(browser, report, tmp_path):
    other = {**report, "study": {**report["study"], "title": "Other"}}
    page_file = tmp_path / "both.html"
    page_file.write_text(html_comparison(compare_reports(report, other)), encoding="utf-8")
    with opened(browser, page_file) as watched:
        page = watched.page
        page.goto(page_file.as_uri())
        table = table_named(page, "Writer swap")
        table.get_by_role("button", name="Format").click()
        formats = values(table, 2)
        assert formats == sorted(formats)
        rows = downloaded(page, "Writer swap")
        assert len(rows) == len(formats)
        own = [e["own"]["value"] for d in report["directions"] for e in d["formats"]]
        assert sorted(row["first_own"] for row in rows) == sorted(repr(value) for value in own)
        assert watched.complaints == []


def test_a_forecast_of_a_plan_that_was_only_checked_sorts_and_downloads(browser, live_server):
    with watched_page(browser, base_url=live_server.url, accept_downloads=True) as watched:
        page = watched.page
        study = a_study(a_workspace(), n_histories=1)
        link = make_sign_in_link(a_user(study.workspace, name="ada"))
        page.goto(link)
        page.get_by_role("main").get_by_role("button", name="Sign in").click()
        page.goto("/studies/new/")
        page.get_by_label("or paste it").fill(PLAN)
        page.get_by_role("button", name="Check and forecast").last.click()
        expect(page.get_by_role("heading", name="What it will take")).to_be_visible()
        table = table_named(page, "Forecast of writer swap")
        calls = table.get_by_role("columnheader", name="Calls")
        calls.get_by_role("button").click()
        numbers = [float(one) for one in values(table, 3)]
        assert numbers == sorted(numbers)
        with page.expect_download() as started:
            page.get_by_role("link", name="CSV, all digits").last.click()
        assert started.value.path().read_text().startswith("role,model,calls,")
        assert watched.complaints == []
        assert watched.left_the_machine == []


PLAN = """
key: checked
title: Only checked
histories: {keys: [tiny-s7-01]}
formats: [notes, rag]
models: [{key: old, engine: scripted}, {key: new, engine: scripted}]
embedders: [{key: bag, engine: scripted}]
tests: {writer_swap: {}}
"""
