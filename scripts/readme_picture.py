"""Takes the README's pictures: the first screen of a real report, and charts of it, in a browser.

Usage: python scripts/readme_picture.py lab/reports/report.html

The second, docs/images/report-charts.png, is the section on ratings. Both show figures and names
alone, no texts of situations or replies.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

IMAGES = Path(__file__).parents[1] / "docs" / "images"


def main() -> None:
    report = Path(sys.argv[1]).resolve()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--no-sandbox", "--disable-background-networking"],
        )
        page = browser.new_page(viewport={"width": 1280, "height": 800}, color_scheme="light")
        page.goto(report.as_uri())
        page.wait_for_function(
            "[...document.querySelectorAll('.chart')]"
            ".filter((chart) => !chart.closest('details:not([open])'))"
            ".every((chart) => chart.dataset.drawn === 'yes')"
        )
        page.screenshot(path=IMAGES / "report.png")
        if page.locator("#ratings").count():
            page.evaluate("document.querySelector('.contents').style.position = 'absolute'")
            page.locator("#ratings").screenshot(path=IMAGES / "report-charts.png")
        browser.close()


if __name__ == "__main__":
    main()
