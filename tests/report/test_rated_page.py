"""The report of a rated study, opened in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from empathylab.report import write_report
from empathylab.situations.welivita import read_release
from empathylab.store import Lab
from empathylab.store.releases import import_release
from empathylab.tables import read_table
from tests.helpers.visits import WAYS, Visit, opened
from tests.helpers.welivita import write_people, write_release

pytestmark = pytest.mark.browser

ODD = '<b>gpt</b> "4" 🙂/x'


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rated")
    write_release(folder / "r.csv", arms=("human", "gpt", "llama"), raters=12, per_rater=6)
    write_people(folder / "people.csv", "human", 12)
    release = read_release(
        read_table(folder / "r.csv"),
        where="r.csv",
        people=[("people.csv", read_table(folder / "people.csv"))],
        respondents={"gpt": ODD},
    )
    with Lab.open(folder / "lab") as lab:
        import_release(lab, release, kind="welivita", source="r.csv", fingerprint="1")
        return write_report(lab)


@pytest.fixture(params=WAYS)
def visit(request: pytest.FixtureRequest, report: Path, browser: Browser) -> Iterator[Visit]:
    with opened(browser, report, request.param) as seen:
        yield seen


def test_ratings_are_drawn_without_errors_or_network(visit: Visit) -> None:
    ratings = visit.page.locator("section", has=visit.page.locator("#ratings-1"))
    # All situations, two valences, and every emotion.
    assert ratings.locator(".chart svg.marks").count() == 4
    assert visit.troubles == []


def test_a_name_with_markup_is_shown_as_text(visit: Visit) -> None:
    assert visit.page.locator("main b", has_text="gpt").count() == 0
    assert (
        visit.page.get_by_role("cell", name=ODD)
        .or_(visit.page.get_by_role("rowheader", name=ODD))
        .count()
        > 0
    )


def test_nothing_is_wider_than_the_screen(visit: Visit) -> None:
    width: int = visit.page.evaluate("document.documentElement.scrollWidth")
    assert width <= visit.page.viewport_size["width"]  # type: ignore[index]


def test_replies_can_be_narrowed_to_one_respondent(visit: Visit) -> None:
    page = visit.page
    assert page.locator(".reply:visible").count() == 216
    page.locator("select[name=respondent]").select_option("human")
    assert page.locator(".reply:visible").count() == 72
    assert "72 of 72" in page.locator("output").inner_text()


def test_the_accessibility_audit_finds_nothing_serious(visit: Visit) -> None:
    assert visit.serious_violations() == []
