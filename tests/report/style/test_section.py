"""The style part of the report, and the charts as files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import jinja2
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from empathylab.analysis.style.estimates import Depth, StyleEstimates, estimate_style
from empathylab.analysis.style.result import StyleResult
from empathylab.report.style.figures import slug, style_figures, write_figures
from empathylab.report.style.section import StyleSection, style_section
from empathylab.report.vega import vega_bundle
from tests.report.style_frames import ratings, responses

ODD = "a|b <b>[/bold]</b> \x1b مساعد"
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>Style</title>
<style>{{ css | safe }}</style></head><body><main><h1>Style</h1>{% include "style.html.j2" %}</main>
<script>{{ vega | safe }}</script>
<script type="application/json" id="specs">{{ writing.specs | tojson }}</script>
<script>{{ script | safe }}</script></body></html>"""


@pytest.fixture(scope="module")
def analysis() -> StyleEstimates:
    frame = responses(ODD)
    return estimate_style(frame, ratings=ratings(frame), depth=Depth(permutations=99))


@pytest.fixture(scope="module")
def section(analysis: StyleEstimates) -> StyleSection:
    return style_section(StyleResult(analysis))


def test_without_an_analysis_the_section_is_empty() -> None:
    assert style_section(None) == StyleSection((), (), (), ())


def test_the_section_has_its_parts_in_order(section: StyleSection) -> None:
    assert [part.id for part in section.parts] == [
        "style-profile",
        "style-words",
        "style-authorship",
        "style-emoji",
        "style-tactics",
        "style-reuse",
        "style-ratings",
    ]


def test_every_figure_has_a_specification_of_its_own_and_a_table(section: StyleSection) -> None:
    placed = [figure.spec for part in section.parts for figure in part.figures]
    assert placed == list(range(len(section.specs)))
    for part in section.parts:
        assert not part.figures or part.tables


def test_every_table_has_a_cell_per_column(section: StyleSection) -> None:
    tables = [table for part in section.parts for table in (*part.tables, *part.open_tables)]
    assert tables
    for table in tables:
        assert table.rows
        assert {len(row) for row in table.rows} == {len(table.columns)} == {len(table.numeric)}


def test_specifications_are_plain_json(section: StyleSection) -> None:
    json.dumps(section.specs, allow_nan=False)


def test_one_respondent_has_a_profile_without_figures() -> None:
    found = style_section(StyleResult(estimate_style(responses().filter(respondent="dry"))))
    assert found.parts[0].title == "How it writes"
    assert "style-authorship" not in [part.id for part in found.parts]
    assert "nobody to compare with" in found.notes[0]


def test_a_respondent_without_emoji_keeps_their_colour(analysis: StyleEstimates) -> None:
    [emoji] = [one for one in style_figures(analysis) if one.kind == "emoji"]
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


def page(section: StyleSection, *, drawn: bool) -> str:
    def asset(name: str) -> str:
        return (files("empathylab.report") / "pages" / name).read_text(encoding="utf-8")

    environment = jinja2.Environment(
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        loader=jinja2.DictLoader({"page": PAGE, "style.html.j2": asset("style.html.j2")}),
    )
    return environment.get_template("page").render(
        writing=section,
        first_chart={"writing": 0},
        css=asset("report.css"),
        script=asset("report.js") if drawn else "",
        vega=vega_bundle() if drawn else "",
    )


def test_names_from_strangers_are_text_on_the_page(section: StyleSection) -> None:
    html = page(section, drawn=False).partition("<script")[0]
    assert "<b>[/bold]" not in html
    assert "&lt;b&gt;[/bold]&lt;/b&gt;" in html


def test_an_empty_section_leaves_no_trace() -> None:
    assert "<section" not in page(style_section(None), drawn=False)


@pytest.fixture(params=["desktop-light", "phone-dark"])
def visit(
    request: pytest.FixtureRequest, section: StyleSection, tmp_path: Path, browser: Browser
) -> Iterator[Page]:
    phone = request.param == "phone-dark"
    path = tmp_path / "style.html"
    path.write_text(page(section, drawn=True), encoding="utf-8")
    opened = browser.new_page(
        viewport={"width": 375, "height": 740} if phone else {"width": 1280, "height": 900},
        color_scheme="dark" if phone else "light",
    )
    opened.goto(path.as_uri())
    opened.wait_for_function(
        "[...document.querySelectorAll('.chart')].every(c => c.dataset.drawn === 'yes')"
    )
    yield opened
    opened.close()


@pytest.mark.browser
def test_the_section_is_accessible_and_fits_the_screen(visit: Page, section: StyleSection) -> None:
    assert visit.locator(".chart svg.marks").count() == len(section.specs)
    width: int = visit.evaluate("document.documentElement.scrollWidth")
    assert width <= visit.viewport_size["width"]  # type: ignore[index]
    visit.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    violations = Axe().run(visit).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"]) for one in violations] == []
