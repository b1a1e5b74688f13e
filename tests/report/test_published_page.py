"""The report of the published files, opened in a real browser."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from empathylab.report import collect, write_report
from empathylab.store import Lab
from tests.helpers.visits import WAYS, Visit, opened

pytestmark = [pytest.mark.browser, pytest.mark.shared_data, pytest.mark.slow]


@pytest.fixture(scope="module")
def report(published_lab: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = shutil.copytree(published_lab, tmp_path_factory.mktemp("published") / "lab")
    with Lab.open(folder) as lab:
        return write_report(collect(lab), lab.reports)


@pytest.fixture(params=WAYS, scope="module")
def visit(request: pytest.FixtureRequest, report: Path, browser: Browser) -> Iterator[Visit]:
    with opened(browser, report, request.param) as seen:
        yield seen


def test_the_file_can_be_sent(report: Path) -> None:
    assert report.stat().st_size < 12_000_000


def test_the_first_screen_says_what_was_found(visit: Visit) -> None:
    first = visit.page.locator(".first")
    assert "64.8% rated Good, people's 49.3%" in first.inner_text()
    assert "difference +15.4 points, 95% CI +11.7 to +19.2" in first.inner_text()
    assert "davinci-003's farthest, 1.33 SD" in first.inner_text()
    assert visit.troubles == []


def test_the_page_is_short_before_anything_is_opened(visit: Visit) -> None:
    limit = 12_000 if visit.page.viewport_size["width"] == 1280 else 16_000  # type: ignore[index]
    assert visit.page.evaluate("document.documentElement.scrollHeight") <= limit


def test_nothing_is_wider_than_the_screen(visit: Visit) -> None:
    width: int = visit.page.evaluate("document.documentElement.scrollWidth")
    assert width <= visit.page.viewport_size["width"]  # type: ignore[index]


def test_all_replies_can_be_searched_and_narrowed(visit: Visit) -> None:
    page, count = visit.page, visit.page.locator(".filters output")
    assert count.inner_text() == "2,000 of 2,000 situations"
    page.locator("select[name=group]").select_option("apprehensive")
    expect(count).not_to_have_text("2,000 of 2,000 situations")
    page.locator("input[name=text]").fill("job")
    expect(page.locator(".situation mark").first).to_have_text("job", ignore_case=True)
    page.locator("select[name=respondent]").select_option(label="people")
    assert set(page.locator(".reply .who").all_inner_texts()) == {"people"}
    # One card per situation, with a page of them at most.
    assert 1 <= page.locator(".situation").count() <= 5


def test_the_accessibility_audit_finds_nothing_serious(visit: Visit) -> None:
    assert visit.serious_violations(folds=False) == []
