"""Paired comparisons from a study's pages to the report."""

from __future__ import annotations

import pytest

from empathylab.analysis import overview
from empathylab.analysis.overview.first_screen import first_screen
from empathylab.analysis.overview.tables import measured_sentences, overview_tables
from empathylab.analysis.text.names import name_of
from empathylab.report import render
from empathylab.report.preferences.figures import figures
from empathylab.report.preferences.section import preferences_section
from empathylab.report.sections import report_sections
from empathylab.store import Lab
from empathylab.study import parse_study
from tests.report.lab_kinds import preferred
from tests.study.paired import PAIRS, WITHOUT_DIMENSIONS, compared
from tests.study.question_examples import EVERY_QUESTION
from tests.study.service_examples import opened


@pytest.mark.parametrize("text", [PAIRS, WITHOUT_DIMENSIONS])
def test_a_closed_study_of_comparisons_alone_is_reported(sqlite_lab: Lab, text: str) -> None:
    compared(sqlite_lab, text).actions.close()
    data = overview.from_lab(sqlite_lab)
    [result] = data.preferences
    assert (result.study, result.fitted.n) == ("pairs", 6)
    assert (data.ratings, data.unrated) == ((), ())
    assert data.design["preferences"] == ["pairs"]
    first = first_screen(data)
    assert first.question == "Whose replies do people prefer: one or two?"
    assert first.shown[0].section == "preferences"
    assert first.chart is not None
    assert (first.chart.guide, [row.n for row in first.chart.rows]) == (0.5, [6, 6])
    assert ("study", "6 comparisons by 3 raters") in {
        (source.kind, source.count) for source in data.sources
    }
    measured = dict(measured_sentences(data))
    assert measured["Comparisons"] == "6 of two replies, by 3 people (Which reply is better)."
    table = overview_tables(data)[0]
    assert table.title == result.proportions_title
    [row, _] = table.rows
    assert (row["respondent"], row["preferred"], row["not preferred"]) == ("first/model", "4", "2")
    page = render(data)
    assert page.count("Bradley–Terry with ties (Davidson) and an order effect") == 1
    assert "Replies of one are not clearly preferred to those of two: raters choose" in page


def test_an_open_study_shows_no_preferences(sqlite_lab: Lab) -> None:
    compared(sqlite_lab)
    data = overview.from_lab(sqlite_lab)
    assert data.preferences == ()
    [caveat] = data.unrated
    assert caveat == (
        "The study pairs (Which reply is better) is still open: 3 of 3 slots are finished. "
        "Results are shown once it is closed."
    )
    assert "preferences" not in [section.id for section in report_sections(data)]


def test_a_study_with_ratings_and_comparisons_shows_both(sqlite_lab: Lab) -> None:
    compared(sqlite_lab, EVERY_QUESTION, people=2).actions.close()
    data = overview.from_lab(sqlite_lab)
    assert [len(data.ratings), len(data.preferences)] == [1, 1]
    sections = [section.id for section in report_sections(data)]
    assert sections[1:3] == ["ratings", "preferences"]
    assert first_screen(data).question.startswith("How empathetic are")


def test_a_closed_study_without_ratings_is_named_once(sqlite_lab: Lab) -> None:
    service, _ = opened(sqlite_lab, parse_study(PAIRS))
    service.actions.close()
    [caveat] = overview.from_lab(sqlite_lab).unrated
    assert caveat == (
        "The ratings of the study pairs are not analysed: the study has no ratings by people. The "
        "study is closed: import ratings, or launch a new version of it; simulated raters do not "
        "count."
    )


@pytest.mark.parametrize(("arms", "names"), [(2, ["chosen"]), (6, ["chosen", "pairs"])])
def test_pairs_have_a_chart_where_there_are_several(arms: int, names: list[str]) -> None:
    result = preferred(arms)
    section = preferences_section((result,), ())
    assert [figure.name for figure in section.figures()] == names
    assert [len(table.rows) for table in section.tables()] == [arms * (arms - 1) // 2, arms]
    assert result.plot("chosen").to_dict()["title"] == result.proportions_title


def test_each_pair_is_drawn_with_the_stronger_arm_over_the_weaker() -> None:
    result = preferred(3)
    [_, figure] = figures(result)
    strength = {name_of(item.respondent): item.estimate for item in result.fitted.strengths}
    spec = result.plot(figure.name).to_dict()
    rows = [row for data in spec["datasets"].values() for row in data if "pair" in row]
    drawn = {(row["arm"], row["pair"].removeprefix("over ")): row["estimate"] for row in rows}
    assert len(drawn) == 3
    for (stronger, weaker), chosen in drawn.items():
        assert strength[stronger] > strength[weaker]
        assert chosen > 0.5
    # The weakest arm comes first: all others are drawn over it.
    assert rows[0]["pair"] == f"over {min(strength, key=lambda arm: strength[arm])}"
