"""The judges' part of the report."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from empathylab.analysis.judges.analysis import analyse_judged
from empathylab.analysis.judges.calibration import CalibrationPlan
from empathylab.analysis.judges.frames import judged_from_table
from empathylab.analysis.judges.result import JudgesResult
from empathylab.report import collect, write_report
from empathylab.report.blocks import Figure, Fold, Section, Table, Text
from empathylab.report.judges.charts import bias_chart, confusion_chart, curve_chart, map_chart
from empathylab.report.judges.section import judges_section
from empathylab.store import Lab
from tests.helpers.visits import opened
from tests.judging.judged_examples import Replies, table

ODD = "kin/<b>judge</b>"


@pytest.fixture(scope="module")
def analysis() -> JudgesResult:
    replies = Replies(11, situations=90)
    people = replies.people(raters=6)
    judges = (replies.judge(ODD, length=0.7), replies.judge("plain"), replies.pairs("plain"))
    judged = judged_from_table(table(people, *judges), where="made up")
    return analyse_judged(judged, plan=CalibrationPlan(resamples=200))


@pytest.fixture(scope="module")
def section(analysis: JudgesResult) -> Section:
    return judges_section([analysis], ())


def cards(section: Section) -> list[Fold]:
    return [block for block in section.blocks if isinstance(block, Fold)]


def test_without_judges_the_section_is_empty() -> None:
    assert not judges_section([], ()).blocks


def test_it_opens_with_agreement_and_a_row_for_each_judge(section: Section) -> None:
    assert section.figures()[0].name == "agreement"
    rows = section.tables()[0].rows
    assert [row["judge"] for row in rows] == [ODD, "plain"]
    assert rows[0]["biases"] == "length"


def test_every_card_has_charts_and_the_tables_behind_them(section: Section) -> None:
    assert [card.title.partition(": ")[0] for card in cards(section)] == [ODD, "plain"]
    for card in cards(section):
        tables = [block.title for block in card.blocks if isinstance(block, Table)]
        assert [title.rpartition(", ")[2] for title in tables] == [
            "people by judge",
            "biases",
            "calibration",
        ]
        assert any(isinstance(block, Figure) for block in card.blocks)


def test_points_are_called_as_the_study_calls_them(analysis: JudgesResult) -> None:
    words = {1.0: "Cold", 5.0: "Warm"}
    named = dataclasses.replace(analysis, labels={analysis.cards[0].dimension: words})
    drawn = {figure.name: figure.spec for figure in judges_section([named], ()).figures()}
    [confusion] = [spec for name, spec in drawn.items() if name.startswith("confusion-1")]
    assert {row["people"] for row in rows_of(confusion)} == {"Cold", "2", "3", "4", "Warm"}
    [mapped] = [spec for name, spec in drawn.items() if name.startswith("map-1")]
    assert {row["people"] for row in rows_of(mapped)} == {"Cold", "2", "3", "4", "Warm"}


def test_the_charts_hold_the_cards_figures(analysis: JudgesResult) -> None:
    card = analysis.cards[0]
    confusion, curve, shares = confusion_chart(card, {}), curve_chart(card), map_chart(card, {})
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
    own = spec.get("data", {}).get("values", [])
    return [*own, *(row for rows in spec.get("datasets", {}).values() for row in rows)]


def test_more_cards_than_a_page_takes_have_numbers_only(analysis: JudgesResult) -> None:
    many = JudgesResult("", analysis.cards * 7, ())
    section = judges_section([many], ())
    drawn = [any(isinstance(block, Figure) for block in card.blocks) for card in cards(section)]
    assert drawn == [True] * 12 + [False] * 2
    notes = [block.sentences for block in section.blocks if isinstance(block, Text)]
    assert ["The last 2 cards have no charts here, only numbers."] in notes


@pytest.fixture(scope="module")
def report(analysis: JudgesResult, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("judges")
    with Lab.open(folder / "lab") as lab:
        return write_report(dataclasses.replace(collect(lab), judges=(analysis,)), folder)


def test_names_are_text_and_never_markup(report: Path) -> None:
    page = report.read_text("utf-8")
    assert "kin/&lt;b&gt;judge&lt;/b&gt;" in page
    assert "<b>judge" not in page


@pytest.mark.browser
def test_the_cards_fit_on_a_phone_and_are_accessible(
    report: Path, browser: Browser, section: Section
) -> None:
    with opened(browser, report, "phone-dark") as visit:
        assert visit.serious_violations() == []
        assert visit.page.evaluate("document.documentElement.scrollWidth") == 390
        assert visit.page.locator("svg.marks").count() == len(section.figures())
        assert visit.troubles == []


def test_of_a_few_ratings_no_calibration_is_drawn_and_no_clearance_given() -> None:
    replies = Replies(5, situations=4)
    judged = judged_from_table(
        table(replies.people(raters=6), replies.judge("plain")), where="made up"
    )
    small = analyse_judged(judged, plan=CalibrationPlan(resamples=0), style=False)
    section = judges_section([small], ())
    assert small.cards[0].n_ratings == 24
    assert not any("Calibration" in figure.title for figure in section.figures())
    said = [one for block in section.walk() if isinstance(block, Text) for one in block.sentences]
    assert any("No calibration is drawn from 24 human ratings" in item for item in said)
    assert any("length (not testable: too few replies" in item for item in said)


def test_labels_of_the_biases_fit_the_side_of_a_chart(section: Section) -> None:
    shown = [figure.spec for figure in section.figures() if "bias" in figure.name]
    names = {row["bias"] for spec in shown for row in rows_of(spec) if "bias" in row}
    assert "place" in names
    assert all(len(name) <= 14 for name in names)
