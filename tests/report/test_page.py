"""The report, opened in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from empathylab.report import write_report
from empathylab.store import Lab
from tests.helpers.labs import filled

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with Lab.open(tmp_path_factory.mktemp("lab")) as lab:
        filled(lab)
        filled(lab, name="scripted/other", situations=1)
        return write_report(lab)


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


@pytest.fixture(params=["desktop-light", "phone-dark"])
def visit(request: pytest.FixtureRequest, report: Path, browser: Browser) -> Iterator[Visit]:
    phone = request.param == "phone-dark"
    page = browser.new_page(
        viewport={"width": 375, "height": 740} if phone else {"width": 1280, "height": 900},
        color_scheme="dark" if phone else "light",
    )
    seen = Visit(page)
    page.goto(report.as_uri())
    page.wait_for_function(
        "[...document.querySelectorAll('.chart')].every(c => c.dataset.drawn === 'yes')"
    )
    yield seen
    page.close()


def test_every_chart_is_drawn_without_errors_or_network(visit: Visit) -> None:
    charts = visit.page.locator(".chart svg.marks")
    # Two subscales: levels, changes side by side, and factors.
    assert charts.count() == 6
    # A dot per evoked administration and subscale: 16 of one respondent, 8 of the other.
    assert visit.page.locator(".chart").first.locator(".mark-symbol path").count() >= 24
    assert visit.troubles == []


def test_nothing_is_wider_than_the_screen(visit: Visit) -> None:
    width: int = visit.page.evaluate("document.documentElement.scrollWidth")
    assert width <= visit.page.viewport_size["width"]  # type: ignore[index]


def test_replies_can_be_browsed_by_emotion_and_searched(visit: Visit) -> None:
    page = visit.page
    shown = page.locator(".situation:visible")
    assert shown.count() == 32
    page.locator("select[name=group]").select_option("guilty")
    assert shown.count() == 1
    assert shown.locator(".tag").inner_text() == "guilty"
    page.locator("select[name=group]").select_option("")
    page.locator("input[name=text]").fill("harbor")
    assert 1 <= shown.count() < 32
    assert f"{shown.count()} of 32" in page.locator("output").inner_text()


def test_the_accessibility_audit_finds_nothing_serious(visit: Visit) -> None:
    for summary in visit.page.locator("details.more > summary").all():
        summary.click()
    results: Any = Axe().run(visit.page)
    serious = [
        (found["id"], found["nodes"][0]["html"][:120])
        for found in results.response["violations"]
        if found["impact"] in ("serious", "critical")
    ]
    assert serious == []


def test_it_reads_without_scripts(report: Path, browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(report.as_uri())
    assert page.locator(".situation:visible").count() == 32
    assert page.locator(".filters:visible").count() == 0
    assert page.get_by_text("Read with care").is_visible()
    context.close()
