"""Takes the README's pictures: the first screen of a real report, and charts of it, in a browser.

Usage: python scripts/readme_picture.py lab/reports/report.html

The second, docs/report-charts.png, is taken where the report shows how people rated replies. Both
show figures and names alone: nobody's sentences.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

DOCS = Path(__file__).parents[1] / "docs"


def main() -> None:
    report = Path(sys.argv[1]).resolve()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--no-sandbox", "--disable-background-networking"],
        )
        page = browser.new_page(viewport={"width": 1180, "height": 1640}, color_scheme="light")
        page.goto(report.as_uri())
        page.wait_for_function(
            "[...document.querySelectorAll('.chart')].every(c => c.dataset.drawn === 'yes')"
        )
        page.screenshot(path=DOCS / "report.png")
        if page.locator("#ratings-1").count():
            _charts(page, DOCS / "report-charts.png")
        browser.close()


def _charts(page: Page, path: Path) -> None:
    """How people rated: from the heading to the end of the chart by emotion."""
    top = page.locator("#ratings-1").bounding_box()
    end = page.locator(".charts.emotions").first.bounding_box()
    if top is None or end is None:
        return
    room = 24
    page.screenshot(
        path=path,
        full_page=True,
        clip={
            "x": top["x"] - room,
            "y": top["y"] - room,
            "width": end["width"] + 2 * room,
            "height": end["y"] + end["height"] - top["y"] + 2 * room,
        },
    )


if __name__ == "__main__":
    main()
