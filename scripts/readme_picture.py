"""Takes the README's picture: the first screen of a real report, in a real browser.

Usage: python scripts/readme_picture.py lab/reports/report.html
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

TARGET = Path(__file__).parents[1] / "docs" / "report.png"


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
        page.screenshot(path=TARGET)
        browser.close()


if __name__ == "__main__":
    main()
