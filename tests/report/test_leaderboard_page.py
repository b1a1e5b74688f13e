"""The leaderboard's page: one file, readable on a phone and a desk, in light and dark."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from empathylab.judging.against_frames import study_ground
from empathylab.report.against_analysis import Leaderboard, leaderboard
from empathylab.report.leaderboard_page import render_leaderboard, write_leaderboard
from empathylab.report.leaderboard_rows import leaderboard_table
from empathylab.store import Lab
from empathylab.study.measuring import measured_study
from empathylab.tables import table_bytes
from tests.judging.measured import STUDY, add_replies, released_lab, situation_ids

STRANGE = "=cmd/<script>alert(1)</script>"


@pytest.fixture
def board(sqlite_lab: Lab, tmp_path: Path) -> Leaderboard:
    """Four respondents that people rated, and one, with a strange name, that nobody did."""
    released_lab(sqlite_lab, tmp_path)
    texts = {key: f"A kind word about {key}." for key in situation_ids(sqlite_lab)}
    add_replies(sqlite_lab, STRANGE, texts)
    ground = study_ground(sqlite_lab, STUDY)
    return leaderboard(sqlite_lab, ground, measured_study(sqlite_lab, STUDY))


def test_whoever_was_not_rated_is_estimated_by_the_style_judge(board: Leaderboard) -> None:
    new = next(one for one in board.entries if one.respondent == STRANGE)
    assert (new.found.basis, new.found.judge, new.replies) == ("judge", "style", 48)
    assert new.judged_first is not None


def test_names_are_text_on_the_page_and_no_formula_in_the_table(board: Leaderboard) -> None:
    page = render_leaderboard(board)
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    import polars as pl

    table = table_bytes(pl.DataFrame(leaderboard_table(board), infer_schema_length=None), "csv")
    assert b",=cmd" not in table


@pytest.mark.browser
def test_it_fits_a_phone_and_a_desk(board: Leaderboard, tmp_path: Path, browser: Browser) -> None:
    path = write_leaderboard(tmp_path / "board.html", board)
    for width, scheme in ((360, "dark"), (1280, "light")):
        context = browser.new_context(
            viewport={"width": width, "height": 800},
            color_scheme=scheme,  # type: ignore[arg-type]
        )
        page = context.new_page()
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator(".entry").count() == 5
        page.locator("summary").first.click()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        context.close()
