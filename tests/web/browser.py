"""A real Chromium for tests, driven by Playwright; it notes every request that it makes."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

# A busy machine draws slowly; what never comes still fails.
PATIENCE_MS = 60_000
expect.set_options(timeout=PATIENCE_MS)

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
LOCAL_HOSTS = ("localhost", "127.0.0.1")
LOCAL_SCHEMES = ("data", "blob", "about")


@dataclass
class Watched:
    """A page, and everything that it said and asked for."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    @property
    def left_the_machine(self) -> list[str]:
        """The addresses asked for that are not of this machine."""
        return [
            url
            for url in self.requests
            if urlsplit(url).scheme not in LOCAL_SCHEMES
            and urlsplit(url).hostname not in LOCAL_HOSTS
        ]


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start the browser; where there is none, the test fails and names the package."""
    if not CHROMIUM.exists():
        pytest.fail(f"{CHROMIUM} is missing: `sudo apt-get install chromium` (or `make test`).")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def watched_page(browser: Browser, *, base_url: str, **context: object) -> Iterator[Watched]:
    """Open a page and listen to its console, its errors and its requests."""
    opened = browser.new_context(base_url=base_url, **context)  # type: ignore[arg-type]
    watched = Watched(opened.new_page())
    watched.page.set_default_timeout(PATIENCE_MS)
    watched.page.on("console", lambda message: _note(watched, message.type, message.text))
    watched.page.on("pageerror", lambda error: watched.complaints.append(str(error)))
    watched.page.on("request", lambda request: watched.requests.append(request.url))
    try:
        yield watched
    finally:
        opened.close()


def _note(watched: Watched, kind: str, text: str) -> None:
    if kind in ("error", "warning"):
        watched.complaints.append(f"{kind}: {text}")


def overflow_px(page: Page) -> int:
    """By how much the page is wider than its window."""
    width = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    return int(page.evaluate(width))
