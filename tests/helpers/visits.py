"""A report opened in a browser, on a desk or on a phone, with all that goes wrong in it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

WAYS = ("desktop-light", "phone-dark")
DRAWN = """[...document.querySelectorAll('.chart')]
    .filter((chart) => !chart.closest('details:not([open])'))
    .every((chart) => chart.dataset.drawn === 'yes')"""


class Visit:
    """A page with all that went wrong in it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.troubles: list[str] = []
        page.on("console", lambda message: self._note(message.type, message.text))
        page.on("pageerror", lambda error: self._note("error", str(error)))
        page.on("request", lambda request: self._note_request(request.url))

    def _note(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.troubles.append(text)

    def _note_request(self, url: str) -> None:
        if not url.startswith(("file:", "data:", "blob:")):
            self.troubles.append(f"asked the network for {url}")

    def open_all(self) -> None:
        """Opens every fold of the page, and waits for the charts in them."""
        self.page.evaluate(
            "for (const one of document.querySelectorAll('details.more')) one.open = true"
        )
        self.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        self.wait_for_charts()
        self.page.evaluate("window.dispatchEvent(new Event('afterprint'))")

    def wait_for_charts(self) -> None:
        """Waits until every chart outside closed folds is drawn."""
        self.page.wait_for_function(DRAWN)

    def serious_violations(self, *, folds: bool = True) -> list[tuple[str, str]]:
        """What the accessibility audit calls serious, with every fold of the page open.

        Without `folds` they stay closed: a page with very many rows takes a minute otherwise.
        """
        if folds:
            self.open_all()
        results: Any = Axe().run(self.page)
        return [
            (found["id"], found["nodes"][0]["html"][:120])
            for found in results.response["violations"]
            if found["impact"] in ("serious", "critical")
        ]


@contextlib.contextmanager
def opened(browser: Browser, report: Path, way: str) -> Iterator[Visit]:
    """The report, once all charts that can be seen are drawn."""
    phone = way == "phone-dark"
    page = browser.new_page(
        viewport={"width": 390, "height": 844} if phone else {"width": 1280, "height": 800},
        color_scheme="dark" if phone else "light",
    )
    seen = Visit(page)
    page.goto(report.as_uri())
    seen.wait_for_charts()
    yield seen
    page.close()
