"""Charts of results, as a notebook draws them."""

from __future__ import annotations

from pathlib import Path

import altair as alt
import pytest

from empathylab.analysis import benchmark, overview
from empathylab.errors import InputError
from empathylab.report import LabOverview
from empathylab.report.figures import plot, result_figures
from empathylab.report.sections import report_colours, report_sections
from empathylab.situations.sources.welivita import read_release
from empathylab.store import Lab
from empathylab.store.imports.releases import import_release
from empathylab.tables import read_table
from tests.helpers.labs import filled
from tests.helpers.welivita import write_people, write_release


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> LabOverview:
    folder: Path = tmp_path_factory.mktemp("plots")
    write_release(folder / "r.csv", arms=("human", "gpt"), raters=12, per_rater=6)
    write_people(folder / "human.csv", "human", 12)
    people = [("human.csv", read_table(folder / "human.csv"))]
    release = read_release(read_table(folder / "r.csv"), where="r.csv", people=people)
    with Lab.open(folder / "lab") as lab:
        import_release(lab, release, kind="welivita", source="r.csv", fingerprint="1")
        filled(lab, situations=1)
        return overview.from_lab(lab)


def test_every_chart_of_the_report_is_drawn_from_a_result(data: LabOverview) -> None:
    results = [data, *data.ratings, data.appraisal, data.style]
    drawable = {figure.title for result in results for figure in result_figures(result)}
    shown = {figure.title for section in report_sections(data) for figure in section.figures()}
    assert shown
    assert shown <= drawable


def test_a_result_draws_its_charts_by_name(data: LabOverview) -> None:
    chart = data.ratings[0].plot("emotions")
    assert isinstance(chart, alt.TopLevelMixin)
    spec = chart.to_dict()
    assert spec["title"] == "Good ratings by emotion"
    assert spec["layer"][0]["encoding"]["color"]["scale"]["domain"] == ["people", "gpt"]
    assert isinstance(data.plot("main"), alt.TopLevelMixin)
    assert isinstance(data.appraisal.plot("changes-panas").to_dict(), dict)


def test_an_unknown_chart_lists_those_there_are(data: LabOverview) -> None:
    with pytest.raises(InputError, match="Use ratings, answers, emotions, models"):
        data.ratings[0].plot("emotion")


def test_a_leaderboard_and_a_benchmark_are_drawn(
    data: LabOverview, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with Lab.open(tmp_path_factory.getbasetemp() / "plots0" / "lab", create=False) as lab:
        board = benchmark.leaderboard_from_lab(lab)
        compared = benchmark.from_lab(lab, "gpt", judge="style")
    assert "proportion rated Good" in str(plot(board).to_dict())
    [figure] = result_figures(compared)
    assert (figure.name, figure.title) == ("differences", "gpt minus each respondent")
    assert "difference in percentage points" in str(plot(compared).to_dict())


def test_a_result_without_charts_says_so(data: LabOverview) -> None:
    with pytest.raises(InputError, match="nothing to draw"):
        plot(data.ratings[0].comparison, "any")


def test_a_respondent_has_one_colour_in_all_charts(data: LabOverview) -> None:
    colours = report_colours(data)
    found: dict[str, set[str]] = {}
    for section in report_sections(data):
        for figure in section.figures():
            for name, colour in _coloured(colours.applied(figure.spec)):
                found.setdefault(name, set()).add(colour)
    assert {"people", "gpt", "scripted/person"} <= set(found)
    assert all(len(used) == 1 for used in found.values())
    assert len({colour for used in found.values() for colour in used}) == len(found)


def _coloured(value: object) -> list[tuple[str, str]]:
    """Every name with its colour, wherever a chart colours respondents or arms."""
    if isinstance(value, list):
        return [pair for part in value for pair in _coloured(part)]
    if not isinstance(value, dict):
        return []
    pairs = [pair for part in value.values() for pair in _coloured(part)]
    color = value.get("color")
    if isinstance(color, dict) and color.get("field") in ("arm", "respondent"):
        scale = color["scale"]
        pairs += zip(scale["domain"], scale["range"], strict=True)
    return pairs
