"""Take a picture of the running product for the README.

Example: python -m tools.screenshot "$(memport user link)" studies/demo/ docs/study.png
"""

import argparse
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import sync_playwright

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]


def main() -> None:
    """Sign in by a one-time link, open a page, keep what is seen."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("link", help="a one-time sign-in link, whole")
    parser.add_argument("page", help="the page's address below the site, such as studies/demo/")
    parser.add_argument("out", type=Path, help="the PNG to write")
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--height", type=int, default=1400)
    parser.add_argument("--dark", action="store_true")
    options = parser.parse_args()
    site = urlsplit(options.link)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        page = browser.new_page(
            viewport={"width": options.width, "height": options.height},
            color_scheme="dark" if options.dark else "light",
        )
        page.goto(options.link)
        page.get_by_role("main").get_by_role("button", name="Sign in").click()
        page.goto(f"{site.scheme}://{site.netloc}/{options.page.lstrip('/')}")
        page.wait_for_load_state("networkidle")
        page.screenshot(path=options.out)
        browser.close()
    print(f"Wrote {options.out}")


if __name__ == "__main__":
    main()
