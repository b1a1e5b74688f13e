"""The report, opened in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

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
    visit.open_all()
    drawn = visit.page.locator(".chart svg.marks").count()
    assert drawn == visit.page.locator(".chart").count() > 10
    # A dot per evoked administration: 16 of one respondent, 8 of the other.
    levels = visit.page.locator("#scales-levels figure").first
    assert levels.locator(".mark-symbol path").count() >= 24
    assert visit.troubles == []


def test_contents_lead_to_every_section(visit: Visit) -> None:
    page = visit.page
    menu = page.get_by_role("button", name="Contents")
    names = page.locator("main > section").evaluate_all("all => all.map((one) => one.id)")
    links = page.locator(".contents li a")
    hrefs = links.evaluate_all("all => all.map((one) => one.hash.slice(1))")
    assert hrefs == names == ["overview", "scales", "style", "replies", "methods", "data"]
    if menu.is_visible():
        assert not links.first.is_visible()
        menu.click()
    links.nth(3).click()
    expect(page.locator("#replies-title")).to_be_in_viewport()
    assert menu.is_visible() != links.first.is_visible()


def test_a_link_opens_the_part_that_it_points_to(visit: Visit) -> None:
    page = visit.page
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = false; })")
    page.evaluate("location.hash = 'scales-numbers-1'")
    expect(page.locator("#scales-numbers-1 table")).to_be_visible()


def test_a_table_wider_than_its_frame_says_so(visit: Visit) -> None:
    visit.open_all()
    clipped = visit.page.evaluate(
        """() => [...document.querySelectorAll(".scroll")]
          .filter((frame) => frame.checkVisibility() && frame.scrollWidth > frame.clientWidth + 2)
          .filter((frame) => getComputedStyle(frame.parentElement, "::after").content === "none")
          .map((frame) => frame.getAttribute("aria-label"))"""
    )
    assert clipped == []


WIDER_TABLES = """[...document.querySelectorAll(".scroll")]
  .filter((frame) => frame.checkVisibility() && frame.scrollWidth > frame.clientWidth + 2)
  .map((frame) => frame.textContent.trim().slice(0, 80))"""
DARK_INK = """[...document.querySelectorAll(".chart svg.marks text")]
  .filter((text) => text.getAttribute("fill")?.toLowerCase() === "#e7e9ec").length"""


def test_printing_opens_what_matters(visit: Visit) -> None:
    page = visit.page
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = false; })")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    opened = page.locator("details[open]").evaluate_all("all => all.map((one) => one.id)")
    assert {"caveats", "respondents", "scales-validity"} <= set(opened)
    assert "data-settings" not in opened
    # A sheet of A4 is so wide; where anything is wider, browsers shrink all pages.
    screen = page.viewport_size
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 718, "height": 1047})
    assert page.evaluate("document.documentElement.scrollWidth") <= 718
    assert page.evaluate(WIDER_TABLES) == []
    # Paper is white, however dark the screen is.
    paper = page.locator("figure").first
    expect(paper).to_have_css("background-color", "rgb(255, 255, 255)")
    assert page.evaluate(DARK_INK) == 0
    page.emulate_media(media="screen")
    page.set_viewport_size(screen)  # type: ignore[arg-type]
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator("details[open]").count() == 0
    is_dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    assert (page.evaluate(DARK_INK) > 0) == is_dark


def test_nothing_is_wider_than_the_screen(visit: Visit) -> None:
    width: int = visit.page.evaluate("document.documentElement.scrollWidth")
    assert width <= visit.page.viewport_size["width"]  # type: ignore[index]


def at_once(page: Page) -> int:
    """How many situations a page of replies shows: fewer on a phone."""
    return 5 if page.evaluate("innerWidth") > 640 else 3


def test_replies_can_be_browsed_by_emotion_and_searched(visit: Visit) -> None:
    page = visit.page
    shown, count = page.locator(".situation:visible"), page.locator(".filters output")
    assert shown.count() == at_once(page)
    page.locator("select[name=group]").select_option("guilty")
    expect(shown).to_have_count(1)
    assert shown.locator(".tag").text_content() == "guilty"
    page.locator("select[name=group]").select_option("")
    page.locator("input[name=text]").fill("harbor")
    expect(count).not_to_have_text("32 of 32 situations")
    assert 1 <= shown.count() <= at_once(page)
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
    shown = at_once(page)
    expect(page.locator(".pager .place")).to_have_text(f"{shown + 1} to {2 * shown} of 32")
    assert page.locator(".situation:visible").count() == shown
    page.get_by_role("button", name="Back").press("Enter")
    expect(page.locator(".pager .place")).to_have_text(f"1 to {shown} of 32")


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
    assert page.locator(".situation:visible").count() == 10
    assert page.locator(".contents li a:visible").count() == 6
    assert page.locator(".filters:visible").count() == 0
    assert page.locator(".caveat").is_visible()
    context.close()
