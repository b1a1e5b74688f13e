"""The judges' part of the report."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import jinja2
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from empathylab.analysis.judges.analysis import analyse_judged
from empathylab.analysis.judges.calibration import CalibrationPlan
from empathylab.analysis.judges.frames import judged_from_table
from empathylab.analysis.judges.result import JudgesResult
from empathylab.report.judges.charts import bias_chart, confusion_chart, curve_chart, map_chart
from empathylab.report.judges.section import JudgeSection, judge_section
from empathylab.report.page import number_columns
from empathylab.report.vega import vega_bundle
from tests.judging.judged_examples import Replies, table

PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>Judges</title>
<style>{{ css | safe }}</style></head><body><main><h1>Judges</h1>
{% include "judges.html.j2" %}</main>
<script>{{ vega | safe }}</script>
<script type="application/json" id="specs">{{ judges.specs | tojson }}</script>
<script>{{ script | safe }}</script></body></html>"""
ODD = "kin/<b>judge</b>"


@pytest.fixture(scope="module")
def analysis() -> JudgesResult:
    replies = Replies(11, situations=90)
    people = replies.people(raters=6)
    judges = (replies.judge(ODD, length=0.7), replies.judge("plain"), replies.pairs("plain"))
    judged = judged_from_table(table(people, *judges), where="made up")
    return analyse_judged(judged, plan=CalibrationPlan(resamples=200))


@pytest.fixture(scope="module")
def section(analysis: JudgesResult) -> JudgeSection:
    return judge_section([analysis])


def test_without_judges_the_section_is_empty() -> None:
    assert judge_section([]) == JudgeSection((), ())


def test_every_figure_has_a_specification_of_its_own_and_a_table(section: JudgeSection) -> None:
    [study] = section.studies
    placed = [figure.spec for card in study.cards for figure in card.figures]
    assert placed == list(range(len(section.specs)))
    for card in study.cards:
        assert {title for title, _ in card.tables} == {"people by judge", "biases", "calibration"}


def test_the_overview_has_a_row_for_each_card(section: JudgeSection) -> None:
    [study] = section.studies
    assert [row["judge"] for row in study.overview] == [ODD, "plain"]
    assert study.overview[0]["biases"] == "length"


def test_the_charts_hold_the_cards_figures(analysis: JudgesResult) -> None:
    card = analysis.cards[0]
    confusion, curve, shares = confusion_chart(card), curve_chart(card), map_chart(card)
    assert confusion is not None
    assert curve is not None
    assert shares is not None
    assert sum(row["count"] for row in rows_of(confusion)) == card.n_ratings
    assert [row["n"] for row in rows_of(curve) if "n" in row] == [
        point.n for point in (card.curve.points if card.curve else ())
    ]
    at = len(card.map.at) if card.map else 0
    assert len(rows_of(shares)) == at * 5
    biases = bias_chart(card.biases)
    assert biases is not None
    told = {row["bias"]: row["found"] for row in rows_of(biases) if "bias" in row}
    assert told["length"] == "found"
    assert told["valence"] == "not found"


def rows_of(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """Everything the chart draws."""
    return [row for rows in spec.get("datasets", {}).values() for row in rows] or list(
        spec["data"]["values"]
    )


def test_more_cards_than_a_page_takes_have_numbers_only(analysis: JudgesResult) -> None:
    many = JudgesResult("", analysis.cards * 7, ())
    [study] = judge_section([many]).studies
    assert [bool(card.figures) for card in study.cards] == [True] * 12 + [False] * 2
    assert study.notes == ("The last 2 cards have no figures here, only numbers.",)


def rendered(section: JudgeSection) -> str:
    pages = files("empathylab.report") / "pages"
    parts = {"judges.html.j2": (pages / "judges.html.j2").read_text(encoding="utf-8"), "p": PAGE}
    environment = jinja2.Environment(
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        loader=jinja2.DictLoader(parts),
    )
    environment.filters["number_columns"] = number_columns
    return environment.get_template("p").render(
        judges=section,
        first_chart={"judges": 0},
        css=(pages / "report.css").read_text(encoding="utf-8"),
        script=(pages / "report.js").read_text(encoding="utf-8"),
        vega=vega_bundle(),
    )


def test_names_are_text_and_never_markup(section: JudgeSection) -> None:
    page = rendered(section)
    assert "kin/&lt;b&gt;judge&lt;/b&gt;" in page
    assert "<b>judge" not in page


@pytest.fixture(scope="module")
def page(
    section: JudgeSection, browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Page]:
    path: Path = tmp_path_factory.mktemp("judges") / "page.html"
    path.write_text(rendered(section), encoding="utf-8")
    opened = browser.new_page(viewport={"width": 360, "height": 740})
    opened.goto(path.as_uri())
    drawn = "[...document.querySelectorAll('.chart')].every(c => c.dataset.drawn === 'yes')"
    opened.wait_for_function(drawn)
    yield opened
    opened.close()


@pytest.mark.browser
@pytest.mark.slow
def test_the_cards_fit_on_a_phone(page: Page, section: JudgeSection) -> None:
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert page.locator("svg.marks").count() == len(section.specs)


@pytest.mark.browser
@pytest.mark.slow
def test_the_accessibility_audit_finds_nothing(page: Page) -> None:
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def test_of_a_few_ratings_no_calibration_is_drawn_and_no_clearance_given() -> None:
    replies = Replies(5, situations=4)
    judged = judged_from_table(
        table(replies.people(raters=6), replies.judge("plain")), where="made up"
    )
    small = analyse_judged(judged, plan=CalibrationPlan(resamples=0), style=False)
    [study] = judge_section([small]).studies
    [card] = study.cards
    assert small.cards[0].n_ratings == 24
    assert not any(figure.title.startswith("Calibration") for figure in card.figures)
    assert any("No calibration is drawn from 24 human ratings" in one for one in card.reasons)
    assert any("length (not testable: too few replies" in one for one in card.reasons)


def test_labels_of_the_biases_fit_the_side_of_a_chart(section: JudgeSection) -> None:
    shown = [spec for spec in section.specs if "found" in str(spec)]
    names = {row["bias"] for spec in shown for row in rows_of(spec) if "bias" in row}
    assert "place" in names
    assert all(len(name) <= 14 for name in names)
