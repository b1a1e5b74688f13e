"""The report of a rated study, opened in a real browser."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, expect

from empathylab.report import collect, write_report
from empathylab.situations.sources.welivita import read_release
from empathylab.store import Lab
from empathylab.store.imports.releases import import_release
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
        return write_report(collect(lab), lab.reports)


@pytest.fixture(params=WAYS, scope="module")
def visit(request: pytest.FixtureRequest, report: Path, browser: Browser) -> Iterator[Visit]:
    with opened(browser, report, request.param) as seen:
        yield seen


def test_ratings_are_drawn_without_errors_or_network(visit: Visit) -> None:
    visit.open_all()
    page = visit.page
    drawn = [text.strip() for text in page.locator("#ratings figcaption").all_inner_texts()]
    assert drawn == [
        "Replies rated Good",
        "How the ratings are distributed",
        "Good ratings by emotion",
        "Mixed models: coefficients",
        "Means from the mixed model",
        "Power of a study like this",
    ]
    raters = [text.strip() for text in page.locator("#raters figcaption").all_inner_texts()]
    assert raters == [
        "Raters: total of the Toronto Empathy Questionnaire",
        "Raters: age",
        "Raters: minutes taken",
        "Raters: contradictions in the questionnaire",
        "Raters: sex",
        "Raters: country of residence",
    ]
    for section, figures in (("#ratings", drawn), ("#raters", raters)):
        assert page.locator(f"{section} .chart svg.marks").count() == len(figures)
    assert visit.troubles == []


def emotions(visit: Visit) -> Locator:
    visit.open_all()
    return visit.page.locator("figure", has_text="Good ratings by emotion")


def test_an_arm_can_be_switched_off_and_on(visit: Visit) -> None:
    figure = emotions(visit)
    points = figure.locator(".mark-symbol path")
    everybody = points.count()
    switch = figure.get_by_role("button", name="llama", exact=True)
    switch.press("Enter")
    expect(points).to_have_count(everybody * 2 // 3)
    assert switch.get_attribute("aria-pressed") == "false"
    switch.click()
    expect(points).to_have_count(everybody)


def test_the_numbers_behind_a_chart_open_and_close(visit: Visit) -> None:
    figure = emotions(visit)
    button = figure.get_by_role("button", name="Numbers of the chart")
    button.click()
    # Three arms and six emotions.
    assert figure.locator("tbody tr").count() == 18
    assert figure.locator("thead th").first.inner_text() == "arm"
    button.click()
    assert figure.locator("table").count() == 0


def test_a_chart_is_saved_as_svg_png_and_csv(visit: Visit, tmp_path: Path) -> None:
    figure = emotions(visit)
    starts = {"SVG": b"<svg", "PNG": b"\x89PNG", "CSV": b"arm,emotion,good,95% from,to"}
    for name, start in starts.items():
        with visit.page.expect_download() as download:
            figure.get_by_text(name, exact=True).click()
        path = tmp_path / name
        download.value.save_as(path)
        assert download.value.suggested_filename == f"Good-ratings-by-emotion.{name.lower()}"
        assert path.read_bytes().startswith(start)
    rows = read_csv(tmp_path / "CSV")
    assert len(rows) == 18
    assert {row["arm"] for row in rows} == {"people", ODD, "llama"}
    assert visit.troubles == []


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_name_with_markup_is_shown_as_text(visit: Visit) -> None:
    assert visit.page.locator("main b", has_text="gpt").count() == 0
    # In tables of closed parts, too.
    assert visit.page.locator("th, td").filter(has_text=ODD).count() > 0


def test_nothing_is_wider_than_the_screen(visit: Visit) -> None:
    width: int = visit.page.evaluate("document.documentElement.scrollWidth")
    assert width <= visit.page.viewport_size["width"]  # type: ignore[index]


def test_replies_can_be_narrowed_to_one_respondent(visit: Visit) -> None:
    page = visit.page
    replies = page.locator(".reply:visible")
    at_once = 5 if page.evaluate("innerWidth") > 640 else 3
    assert replies.count() == 3 * at_once
    page.locator("select[name=respondent]").select_option(label="people")
    expect(replies).to_have_count(at_once)
    assert set(page.locator(".reply .who").all_inner_texts()) == {"people"}
    assert "72 of 72" in page.locator(".filters output").inner_text()
    page.locator("select[name=respondent]").select_option("")


def test_the_accessibility_audit_finds_nothing_serious(visit: Visit) -> None:
    assert visit.serious_violations() == []


def test_no_two_labels_of_an_axis_overlap(visit: Visit) -> None:
    overlapping = visit.page.evaluate(
        """() => [...document.querySelectorAll(".chart .role-axis-label")].flatMap((axis) => {
          const boxes = [...axis.querySelectorAll("text")]
            .filter((one) => one.textContent && getComputedStyle(one).opacity !== "0"
                             && !(one.getAttribute("transform") ?? "").includes("rotate"))
            .map((one) => [one.getBoundingClientRect(), one.textContent]);
          return boxes.flatMap(([a, name], place) => boxes.slice(place + 1)
            .filter(([b]) => a.left < b.right - 1 && b.left < a.right - 1
                          && a.top < b.bottom - 4 && b.top < a.bottom - 4)
            .map(([, other]) => `${name} and ${other}`));
        })"""
    )
    assert overlapping == []


def test_switches_name_only_who_is_in_the_chart(visit: Visit) -> None:
    words = visit.page.locator("figure", has_text="People, compared with the others")
    assert words.count() == 1
    assert words.locator(".switches button").count() == 0
    assert emotions(visit).locator(".switches button").count() == 3


def test_words_stand_left_and_numbers_right(visit: Visit) -> None:
    counts = visit.page.get_by_role("region", name="Counts of ratings")
    row = counts.locator("tbody tr").first.locator("td")
    aligned = row.evaluate_all("cells => cells.map((one) => getComputedStyle(one).textAlign)")
    assert aligned == ["left", "right", "right", "right", "right"]
