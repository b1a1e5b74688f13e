"""The report, opened in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from empathylab.report import collect, write_report
from empathylab.store import Lab
from tests.helpers.labs import filled
from tests.helpers.visits import WAYS, Visit, opened

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with Lab.open(tmp_path_factory.mktemp("lab")) as lab:
        filled(lab)
        filled(lab, name="scripted/other", situations=1)
        return write_report(collect(lab), lab.reports)


@pytest.fixture(params=WAYS, scope="module")
def visit(request: pytest.FixtureRequest, report: Path, browser: Browser) -> Iterator[Visit]:
    with opened(browser, report, request.param) as seen:
        yield seen


def test_every_chart_is_drawn_without_errors_or_network(visit: Visit) -> None:
    affect = visit.page.locator("section[aria-labelledby=affect]")
    # Two subscales: levels, changes side by side, and factors.
    assert affect.locator(".chart svg.marks").count() == 6
    drawn = visit.page.locator(".chart svg.marks").count()
    assert drawn == visit.page.locator(".chart").count() > 6
    # A dot per evoked administration and subscale: 16 of one respondent, 8 of the other.
    assert visit.page.locator(".chart").first.locator(".mark-symbol path").count() >= 24
    assert visit.troubles == []


def test_nothing_is_wider_than_the_screen(visit: Visit) -> None:
    width: int = visit.page.evaluate("document.documentElement.scrollWidth")
    assert width <= visit.page.viewport_size["width"]  # type: ignore[index]


def test_replies_can_be_browsed_by_emotion_and_searched(visit: Visit) -> None:
    page = visit.page
    shown, count = page.locator(".situation:visible"), page.locator(".filters output")
    assert shown.count() == 25
    page.locator("select[name=group]").select_option("guilty")
    expect(shown).to_have_count(1)
    assert shown.locator(".tag").text_content() == "guilty"
    page.locator("select[name=group]").select_option("")
    page.locator("input[name=text]").fill("harbor")
    expect(count).not_to_have_text("32 of 32 situations")
    assert 1 <= shown.count() < 25
    assert page.locator(".situation mark").first.inner_text().lower() == "harbor"
    page.locator("input[name=text]").fill("")
    expect(count).to_have_text("32 of 32 situations")


def test_pages_and_replies_are_reached_with_the_keyboard(visit: Visit) -> None:
    page = visit.page
    first = page.locator(".situation").first.inner_text()
    page.locator("input[name=text]").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.previousElementSibling?.innerText") == first
    page.keyboard.press("ArrowRight")
    expect(page.locator(".pager .place")).to_have_text("26 to 32 of 32")
    assert page.locator(".situation:visible").count() == 7
    page.get_by_role("button", name="Back").press("Enter")
    expect(page.locator(".pager .place")).to_have_text("1 to 25 of 32")


def test_every_chart_has_its_numbers_and_files_to_save(visit: Visit) -> None:
    figures = visit.page.locator("figure")
    for name in ("Numbers", "SVG", "PNG", "CSV"):
        assert figures.get_by_text(name, exact=True).count() == figures.count()


def test_the_accessibility_audit_finds_nothing_serious(visit: Visit) -> None:
    assert visit.serious_violations() == []


def test_it_reads_without_scripts(report: Path, browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(report.as_uri())
    assert page.locator(".situation:visible").count() == 32
    assert page.locator(".filters:visible").count() == 0
    assert page.get_by_text("Caveats").is_visible()
    context.close()
