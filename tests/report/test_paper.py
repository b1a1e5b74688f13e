"""Figures, tables and paragraphs as files."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from empathylab.analysis.overview import from_lab as collect
from empathylab.analysis.ratings.rows import count_table
from empathylab.errors import InputError, LabError, UnknownName
from empathylab.report import LabOverview
from empathylab.report.paper import (
    PaperFigure,
    report_figures,
    report_paragraphs,
    report_tables,
    write_figures,
    write_tables,
)
from empathylab.report.pictures import printed
from empathylab.situations.sources.welivita import read_release
from empathylab.store import Lab
from empathylab.store.imports.releases import import_release
from empathylab.tables import read_table
from tests.helpers.labs import filled
from tests.helpers.welivita import write_people, write_release

ODD = '../<b>gpt</b> "4" 🙂\\x'


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> LabOverview:
    folder = tmp_path_factory.mktemp("paper")
    write_release(folder / "r.csv", arms=("human", "gpt"), raters=12, per_rater=6)
    for arm in ("human", "gpt"):
        write_people(folder / f"{arm}.csv", arm, 12)
    people = [(f"{arm}.csv", read_table(folder / f"{arm}.csv")) for arm in ("human", "gpt")]
    release = read_release(
        read_table(folder / "r.csv"), where="r.csv", people=people, respondents={"gpt": ODD}
    )
    with Lab.open(folder / "lab") as lab:
        import_release(lab, release, kind="welivita", source="r.csv", fingerprint="1")
        filled(lab, situations=1)
        return collect(lab)


@pytest.fixture(scope="module")
def figures(data: LabOverview) -> list[PaperFigure]:
    return report_figures(data)


def test_the_published_figures_are_all_there(figures: list[PaperFigure]) -> None:
    titles = [figure.title for figure in figures]
    for title in (
        "PANAS: change from baseline",
        "PANAS: Positive affect of scripted/person",
        "Replies rated Good",
        "How the ratings are distributed",
        "Good ratings by emotion",
        "Mixed models: coefficients",
        "Means from the mixed model",
        "Power of a study like this",
        "Raters: age",
        "Raters: minutes taken",
        "Raters: total of the Toronto Empathy Questionnaire",
        "Raters: contradictions in the questionnaire",
        "Raters: country of residence",
    ):
        assert title in titles


def test_file_names_are_safe_and_different(figures: list[PaperFigure]) -> None:
    names = [figure.name for figure in figures]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"\d\d-[a-z0-9-]+", name) for name in names)
    assert any("gpt" in name for name in names)


def test_every_figure_is_drawn_and_listed_with_its_caption(
    figures: list[PaperFigure], tmp_path: Path
) -> None:
    written = write_figures(figures, tmp_path / "new" / "folder", style="svg", width_mm=84)
    listed = json.loads((tmp_path / "new" / "folder" / "figures.json").read_text("utf-8"))
    assert [item["file"] for item in listed] == [path.name for path in written[:-1]]
    assert all(path.read_text("utf-8").startswith("<svg") for path in written[:-1])
    captions = {item["title"]: item["caption"] for item in listed}
    assert "Wilson" in captions["Good ratings by emotion"]


def chosen(figures: list[PaperFigure], title: str) -> PaperFigure:
    return next(figure for figure in figures if figure.title == title)


def test_a_figure_is_as_wide_as_asked_for(figures: list[PaperFigure]) -> None:
    spec = chosen(figures, "Good ratings by emotion").spec
    svg = printed(spec, style="svg", width_mm=84).decode()
    width = re.search(r'width="([\d.]+)mm"', svg)
    assert width is not None
    assert float(width[1]) == pytest.approx(84, abs=1)
    pdf = printed(spec, style="pdf", width_mm=84)
    box = re.search(rb"MediaBox *\[0 0 ([\d.]+)", pdf)
    assert box is not None
    assert float(box[1]) / 72 * 25.4 == pytest.approx(84, abs=1)
    png = printed(spec, style="png", width_mm=84)
    assert int.from_bytes(png[16:20], "big") / 300 * 25.4 == pytest.approx(84, abs=1)


def test_a_pdf_carries_its_fonts(figures: list[PaperFigure]) -> None:
    pdf = printed(chosen(figures, "How the ratings are distributed").spec, style="pdf", width_mm=84)
    assert pdf.startswith(b"%PDF")
    assert b"FontFile" in pdf


def test_a_width_that_no_page_has_is_refused(figures: list[PaperFigure], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="between 40 and 600 mm"):
        write_figures(figures, tmp_path / "none", style="svg", width_mm=5)
    assert not (tmp_path / "none").exists()


def test_an_unknown_format_is_refused(figures: list[PaperFigure]) -> None:
    with pytest.raises(UnknownName, match="figure format"):
        printed(figures[0].spec, style="gif", width_mm=84)


def test_a_file_in_the_place_of_the_folder_is_said(tmp_path: Path) -> None:
    (tmp_path / "here").write_text("a file")
    with pytest.raises(LabError, match="cannot be written"):
        write_figures([], tmp_path / "here", style="svg")


def test_tables_hold_the_same_numbers_in_markdown_and_latex(
    data: LabOverview, tmp_path: Path
) -> None:
    written = write_tables(report_tables(data), report_paragraphs(data), tmp_path)
    [markdown] = [item for item in written if item.name.endswith("counts-of-ratings.md")]
    latex = markdown.with_suffix(".tex").read_text("utf-8")
    [first, *_] = count_table(data.ratings[0].comparison)
    for cell in first.values():
        assert cell in markdown.read_text("utf-8")
        assert cell.replace("%", r"\%") in latex
    listed = json.loads((tmp_path / "tables.json").read_text("utf-8"))
    assert {name for item in listed for name in item["files"]} <= {path.name for path in written}


def test_paragraphs_are_markdown_in_which_names_are_text(data: LabOverview) -> None:
    said = report_paragraphs(data)
    assert said.startswith("## Ratings: ")
    assert "<b>" not in said


def test_an_empty_lab_has_no_figure_and_no_table(tmp_path: Path) -> None:
    with Lab.open(tmp_path / "lab") as lab:
        data = collect(lab)
    assert report_figures(data) == []
    assert report_tables(data) == []
    assert report_paragraphs(data) == ""
    assert [figure.name for figure in write_figures([], tmp_path / "f", style="pdf")] == [
        "figures.json"
    ]
