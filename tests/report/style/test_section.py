"""The style part of the report, and the charts as files."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from empathylab.analysis.style import from_table
from empathylab.analysis.style.estimates import Depth, StyleEstimates
from empathylab.analysis.style.result import StyleResult
from empathylab.report import collect, write_report
from empathylab.report.blocks import Fold, Section, Table, Text, slug
from empathylab.report.style.figures import figures, write_figures
from empathylab.report.style.section import style_section
from empathylab.store import Lab
from tests.helpers.visits import WAYS, opened
from tests.report.style_frames import ratings, responses

ODD = "a|b <b>[/bold]</b> \x1b مساعد"


@pytest.fixture(scope="module")
def analysis() -> StyleEstimates:
    frame = responses(ODD)
    return from_table(frame, ratings=ratings(frame), depth=Depth(permutations=99)).estimates


@pytest.fixture(scope="module")
def section(analysis: StyleEstimates) -> Section:
    return style_section(StyleResult(analysis), ())


def test_without_an_analysis_the_section_is_empty() -> None:
    assert not style_section(None, ()).blocks


def test_it_opens_with_the_profile_and_folds_the_rest(section: Section) -> None:
    assert section.figures()[0].name == "profile"
    assert [block.id for block in section.blocks if isinstance(block, Fold)] == [
        "style-profile",
        "style-words",
        "style-authorship",
        "style-emoji",
        "style-tactics",
        "style-reuse",
        "style-ratings",
    ]


def test_every_fold_with_charts_has_the_tables_behind_them(section: Section) -> None:
    for fold in section.blocks:
        if isinstance(fold, Fold):
            assert any(isinstance(block, Table) and block.rows for block in fold.blocks)


def test_every_table_has_a_cell_per_column(section: Section) -> None:
    for table in section.tables():
        assert {tuple(row) for row in table.rows} == {tuple(table.rows[0])}


def test_specifications_are_plain_json(section: Section) -> None:
    json.dumps([figure.spec for figure in section.figures()], allow_nan=False)


def test_one_respondent_has_a_profile_without_figures() -> None:
    alone = from_table(responses().filter(respondent="dry")).estimates
    found = style_section(StyleResult(alone), ())
    assert "style-authorship" not in [b.id for b in found.blocks if isinstance(b, Fold)]
    notes = [one for b in found.blocks if isinstance(b, Text) for one in b.sentences]
    assert any("there is no comparison" in note for note in notes)


def test_a_respondent_without_emoji_keeps_their_colour(analysis: StyleEstimates) -> None:
    [emoji] = [figure for figure in figures(analysis) if figure.name == "emoji"]
    domain = emoji.spec["layer"][0]["encoding"]["color"]["scale"]["domain"]
    assert domain[:2] == ["warm", "dry"]
    assert len(domain) == 3


@pytest.mark.slow
def test_figures_are_written_as_pictures_and_data(analysis: StyleEstimates, tmp_path: Path) -> None:
    written = write_figures(analysis, tmp_path / "new" / "figures")
    assert {path.suffix for path in written} == {".json", ".svg", ".png"}
    assert len({path.name for path in written}) == len(written)
    assert all(path.stat().st_size > 100 for path in written)
    assert (tmp_path / "new" / "figures" / "profile.png").read_bytes().startswith(b"\x89PNG")


def test_file_names_hold_letters_and_digits_only() -> None:
    assert slug("openai/gpt-4o: mini") == "openai-gpt-4o-mini"
    assert slug("مساعد") == "respondent"


@pytest.fixture(scope="module")
def report(analysis: StyleEstimates, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("style")
    with Lab.open(folder / "lab") as lab:
        data = dataclasses.replace(collect(lab), style=StyleResult(analysis))
    return write_report(data, folder)


def test_names_from_strangers_are_text_on_the_page(report: Path) -> None:
    html = report.read_text("utf-8").partition("<script")[0]
    assert "<b>[/bold]" not in html
    assert "&lt;b&gt;[/bold]&lt;/b&gt;" in html


@pytest.mark.browser
@pytest.mark.parametrize("way", WAYS)
def test_the_section_is_accessible_and_fits_the_screen(
    report: Path, browser: Browser, section: Section, way: str
) -> None:
    with opened(browser, report, way) as visit:
        assert visit.serious_violations() == []
        assert visit.page.locator(".chart svg.marks").count() >= len(section.figures())
        width: int = visit.page.evaluate("document.documentElement.scrollWidth")
        assert width <= visit.page.viewport_size["width"]  # type: ignore[index]
        assert visit.troubles == []
