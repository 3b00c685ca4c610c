"""A person brings a table in, reads the verdict, and goes down to the probes, in a browser."""

import re

import pytest
from playwright.sync_api import expect

from memport_site.accounts.services import make_sign_in_link
from tests.factories import a_user, a_workspace
from tests.web.browser import overflow_px, watched_page
from tests.web.tables import csv_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PARTS = ("swap", "indexes", "tests", "repair", "screening", "gates", "planner", "paper")


def signed_in(page, live_server):
    link = make_sign_in_link(a_user(a_workspace(), name="ada"))
    page.goto(f"{live_server.url}{link[link.index('/sign-in/') :]}")
    page.get_by_role("main").get_by_role("button", name="Sign in").click()


def bring_in(page, tmp_path, data):
    file = tmp_path / "answers.csv"
    file.write_bytes(data)
    page.get_by_role("link", name="Bring a table in").click()
    page.get_by_label("Answers (").set_input_files(file)
    page.get_by_label("Title").fill("Ours")
    page.get_by_role("button", name="Check and import").click()


def test_from_a_table_to_the_verdict_to_a_probe(browser, live_server, tmp_path):
    with watched_page(browser, base_url=live_server.url, accept_downloads=True) as watched:
        page = watched.page
        signed_in(page, live_server)
        bring_in(page, tmp_path, csv_of())
        expect(page.get_by_role("heading", name="Llama → Qwen")).to_be_visible()
        expect(page.get_by_text("Loses: Qwen on Llama's notes")).to_be_visible()
        page.get_by_role("navigation", name="Pages of this study").get_by_role(
            "link", name="Swap deltas"
        ).click()
        expect(page.locator(".chart .main-svg").first).to_be_visible()
        page.get_by_role("link", name="Swap delta, pp").first.click()
        expect(page).to_have_url(re.compile(r"sort=deltas\.delta"))
        page.locator("select[name=direction]").select_option(label="Llama → Qwen")
        page.locator("select[name=format]").select_option(label="Notes")
        page.get_by_role("button", name="Filter").click()
        with page.expect_download() as download:
            page.get_by_role("link", name="CSV, all digits").last.click()
        assert download.value.suggested_filename == "ours-histories.csv"
        page.get_by_role("region", name="Swap delta of every history").get_by_role(
            "link", name="h1"
        ).click()
        expect(page.get_by_role("heading", name="One by one")).to_be_visible()
        page.get_by_role("link", name="p03").click()
        expect(page.get_by_text("Qwen reads what Llama wrote").first).to_be_visible()
        assert not watched.complaints
        assert not watched.left_the_machine


def test_a_faulty_table_is_refused_with_its_line(browser, live_server, tmp_path):
    with watched_page(browser, base_url=live_server.url) as watched:
        signed_in(watched.page, live_server)
        lines = csv_of().split(b"\n")
        parts = lines[4].split(b",")
        parts[13] = b"maybe"
        lines[4] = b",".join(parts)
        bring_in(watched.page, tmp_path, b"\n".join(lines))
        expect(watched.page.get_by_role("alert")).to_contain_text("line 5")
        expect(watched.page.get_by_role("alert")).to_contain_text("nothing was kept")


@pytest.mark.parametrize("width", [390, 1440])
def test_every_page_fits_its_window_and_works_without_script(browser, live_server, tmp_path, width):
    window = {"width": width, "height": 900}
    with watched_page(
        browser, base_url=live_server.url, viewport=window, java_script_enabled=False
    ) as watched:
        page = watched.page
        signed_in(page, live_server)
        bring_in(page, tmp_path, csv_of())
        for part in PARTS:
            page.goto(f"{live_server.url}/studies/ours/{part}/")
            assert overflow_px(page) == 0, part
            expect(page.locator("table").first).to_be_visible()
        page.goto(f"{live_server.url}/studies/ours/swap/")
        page.get_by_role("link", name="Verdict").last.click()
        expect(page.locator("th[aria-sort=ascending]")).to_have_count(1)
        assert not watched.left_the_machine
