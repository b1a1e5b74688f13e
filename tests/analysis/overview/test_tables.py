"""The first page: who was measured, how, and what came out."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from empathylab.analysis.overview import from_lab as collect
from empathylab.analysis.overview.tables import measured_sentences, overview_tables
from empathylab.report import LabOverview, render
from empathylab.situations.sources.released import Dimension
from empathylab.situations.sources.welivita import read_release
from empathylab.store import Lab
from empathylab.store.imports.releases import import_release
from empathylab.tables import read_table
from tests.helpers.labs import filled
from tests.helpers.welivita import write_release
from tests.report.lab_kinds import rated


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> LabOverview:
    folder = tmp_path_factory.mktemp("glance")
    write_release(folder / "r.csv", raters=12, per_rater=6)
    release = read_release(read_table(folder / "r.csv"), where="r.csv")
    with Lab.open(folder / "lab") as lab:
        import_release(lab, release, kind="welivita", source="r.csv", fingerprint="1")
        filled(lab, situations=1)
        return collect(lab)


def test_it_says_who_was_measured_and_how(data: LabOverview) -> None:
    said = dict(measured_sentences(data))
    assert said["Who"] == "2 respondents and people: scripted/person, gpt."
    assert said["Questionnaires"] == "PANAS, at baseline and after imagining 8 situations."
    assert said["Replies"] == "176 to 104 situations."
    assert said["Ratings"].startswith("144 by 24 people, between subjects")


def test_the_good_ratings_are_those_of_the_analysis(data: LabOverview) -> None:
    rated = overview_tables(data)[0]
    assert [row["respondent"] for row in rated.rows] == ["human", "gpt"]
    test = next(test for test in data.ratings[0].comparison.tests if test.kind == "all")
    row = rated.rows[1]
    assert row["rated good"] == f"{100 * test.good / test.n:.1f}% of 72"
    assert row["difference from people, points"].startswith(
        f"{100 * test.clustered.difference.estimate:+.1f}".replace("-", "−")
    )


def test_only_whoever_answered_stands_under_questionnaires(data: LabOverview) -> None:
    [asked] = [table for table in overview_tables(data) if table.title == "Questionnaires"]
    assert [row["respondent"] for row in asked.rows] == ["scripted/person"]
    assert "[" in asked.rows[0]["PANAS positive, change"]
    [report] = data.self_reports
    assert asked.rows[0]["self-report"] == report.validity.verdict


@pytest.mark.parametrize("order", [("usable", "meaningless", "doubtful"), ("doubtful", "usable")])
def test_a_respondent_is_shown_with_its_worst_verdict(
    data: LabOverview, order: tuple[str, ...]
) -> None:
    [report] = data.self_reports
    reports = tuple(
        dataclasses.replace(
            report,
            scale=f"scale-{number}",
            validity=dataclasses.replace(report.validity, verdict=verdict),
        )
        for number, verdict in enumerate(order)
    )
    mixed = dataclasses.replace(
        data, appraisal=dataclasses.replace(data.appraisal, self_reports=reports)
    )
    [asked] = [table for table in overview_tables(mixed) if table.title == "Questionnaires"]
    worst = "meaningless" if "meaningless" in order else "doubtful"
    assert asked.rows[0]["self-report"] == worst


def test_an_empty_lab_says_what_to_do(tmp_path: Path) -> None:
    with Lab.open(tmp_path) as lab:
        data = collect(lab)
    assert measured_sentences(data) == []
    assert overview_tables(data) == []
    assert "empathylab evaluate" in render(data)


def test_one_model_gets_a_result_each_and_no_table(tmp_path: Path) -> None:
    with Lab.open(tmp_path) as lab:
        filled(lab, situations=1)
        page = render(collect(lab))
    assert "How does scripted/person react" in page or "How does person react" in page
    assert "How people rated" not in page


def test_a_scale_of_degrees_has_means_and_their_differences(data: LabOverview) -> None:
    dimensions = (Dimension("warmth", (1.0, 2.0, 3.0, 4.0, 5.0)),)
    study = rated(1, dimensions)
    table = overview_tables(dataclasses.replace(data, ratings=(study,), respondents=study.arms))[0]
    assert table.note.startswith("Means and their differences")
    assert not any("rated good" in head for head in table.rows[0])
    [gap] = [gap for gap in study.means[0].differences if gap.kind == "all"]
    found = table.rows[1]["warmth, difference from people"]
    assert found.startswith(f"{gap.difference.estimate:+.2f}".replace("-", "−"))
