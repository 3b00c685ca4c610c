"""A person's way through the product, in a real browser."""

import re

import pytest
from playwright.sync_api import expect

from experiments.models import Run
from memport_site.accounts.services import make_sign_in_link
from stores.workload.generator import generate
from tests.factories import a_study, a_user, a_workspace
from tests.web.browser import overflow_px, watched_page
from tests.web.pages import all_pages

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def study(live_server):
    return a_study(a_workspace(), n_histories=3)


@pytest.fixture
def link(study):
    return make_sign_in_link(a_user(study.workspace, name="ada"))


@pytest.fixture
def watched(browser, live_server):
    with watched_page(browser, base_url=live_server.url) as opened:
        yield opened


def sign_in(page, link):
    page.goto(link)
    page.get_by_role("main").get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Studies")).to_be_visible()


def test_from_the_link_to_the_probe_and_its_prompt(watched, study, link):
    page = watched.page
    sign_in(page, link)
    page.get_by_role("link", name=study.title).click()
    expect(page.locator(".chart .main-svg").first).to_be_visible()
    expect(page.locator(".chart[data-figure]")).to_have_count(2)

    swap_table = page.get_by_role("region", name="Swap delta and retained performance")
    swap_table.locator("tbody").get_by_role("row").first.get_by_role("link").last.click()
    expect(page).to_have_url(re.compile(r"answers/\?.*format=notes&reader=new.*writer=old"))
    histories = page.get_by_role("region", name="Right answers by history").locator("tbody")
    histories.get_by_role("link").first.click()
    expect(page.locator("th.chosen")).to_have_count(1)

    page.locator("td.chosen a").first.click()
    expect(page).to_have_url(re.compile(r"/probes/\d+/\?study=swap#cell-\d+"))
    cell = page.locator("article.cell:target")
    expect(cell).to_contain_text("new reads what old wrote")
    cell.get_by_role("link", name="Exact prompt and reply").click()
    expect(cell).to_contain_text("✓ exact")
    expect(cell).to_contain_text("You answer questions from a memory")

    assert watched.complaints == []
    assert watched.left_the_machine == []
    assert len(watched.requests) > 10


def test_no_page_complains_overflows_or_calls_out_at_360_px(browser, live_server, study, link):
    screen = {"width": 360, "height": 740}
    for scheme in ("light", "dark"):
        with watched_page(
            browser, base_url=live_server.url, viewport=screen, color_scheme=scheme
        ) as watched:
            sign_in(watched.page, make_sign_in_link(study.workspace.memberships.get().user))
            pages = [path for path in all_pages(study) if not re.search(r"\.(json|csv)$", path)]
            for path in pages:
                watched.page.goto(path)
                assert overflow_px(watched.page) <= 0, path
            assert watched.complaints == []
            assert watched.left_the_machine == []


def test_the_keyboard_reaches_the_content_the_navigation_and_the_study(watched, study, link):
    page = watched.page
    sign_in(page, link)
    page.goto("/")
    seen = []
    for _ in range(12):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.textContent.trim()"))
    assert seen[0] == "Skip to the content"
    for name in ("Studies", "Histories", "Stores", "Sign out", study.title):
        assert name in seen
    page.goto("/")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_the_colours_can_be_switched_and_stay_so(watched, study, link):
    page = watched.page
    sign_in(page, link)
    page.goto(f"/studies/{study.key}/")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.get_by_role("button", name="Dark colours").click()
    dark = page.evaluate(ground)
    assert light != dark
    expect(page.locator(".chart .main-svg").first).to_be_visible()
    page.reload()
    assert page.evaluate(ground) == dark
    assert watched.complaints == []


def test_every_page_works_without_javascript(browser, live_server, study, link):
    with watched_page(browser, base_url=live_server.url, java_script_enabled=False) as watched:
        page = watched.page
        sign_in(page, link)
        page.goto(f"/studies/{study.key}/")
        expect(page.locator(".chart").first).to_contain_text("The picture needs JavaScript")
        expect(page.get_by_role("region", name="Service change", exact=True)).to_be_visible()
        page.goto(all_pages(study)[-2])
        page.get_by_role("link", name="Exact prompt and reply").first.click()
        expect(page.get_by_role("heading", name="Exact prompt and reply")).to_be_visible()


def test_a_running_page_follows_the_run_and_stops_asking_when_it_ends(watched, live_server):
    values = generate("tiny", seed=7)[:3]
    study = a_study(a_workspace(), values=values, answered=0.5, state=Run.State.RUNNING)
    page = watched.page
    sign_in(page, make_sign_in_link(a_user(study.workspace, name="ada")))
    run = study.runs.get()
    page.goto(f"/runs/{run.pk}/")
    expect(page.get_by_text("● running")).to_be_visible()
    run.evaluations.update(state="complete")
    Run.objects.filter(pk=run.pk).update(state=Run.State.COMPLETE)
    expect(page.locator("#live")).to_contain_text("36 of 36", timeout=10_000)
    expect(page.locator("#live[hx-get]")).to_have_count(0)
    asked = len(watched.requests)
    page.wait_for_timeout(2_500)
    assert len(watched.requests) == asked
    assert watched.complaints == []


def test_a_chart_can_be_downloaded_as_a_picture(watched, study, link):
    page = watched.page
    sign_in(page, link)
    page.goto(f"/studies/{study.key}/")
    page.locator(".chart .main-svg").first.hover()
    for kind in ("PNG", "SVG"):
        with page.expect_download() as started:
            page.locator(f".modebar-btn[data-title='Download as {kind}']").first.click()
        assert started.value.suggested_filename == f"memport-swap-delta.{kind.lower()}"
    assert watched.complaints == []
    assert watched.left_the_machine == []
