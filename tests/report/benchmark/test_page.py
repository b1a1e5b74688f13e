"""The leaderboard's page: one file, readable on a phone and a desk, in light and dark."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from empathylab.analysis.benchmark.frames import reference_ratings
from empathylab.analysis.benchmark.leaderboard import (
    LeaderboardResult,
    leaderboard,
    leaderboard_table,
    report_leaderboard,
)
from empathylab.report.benchmark.page import render_leaderboard, write_leaderboard
from empathylab.report.benchmark.section import leaderboard_section
from empathylab.situations.sources.rating_tables import ratings_from
from empathylab.situations.sources.reply_tables import replies_from
from empathylab.store import Lab
from empathylab.store.imports.releases import import_release
from empathylab.store.judged_responses import JudgedStudy
from empathylab.study.added_arms.instruments import measured_study
from empathylab.tables import parse_csv, table_bytes
from tests.judging.measured import STUDY, add_replies, released_lab, situation_ids

STRANGE = "=cmd/<script>alert(1)</script>"


@pytest.fixture
def board(sqlite_lab: Lab, tmp_path: Path) -> LeaderboardResult:
    """Four respondents that people rated, and one, with a strange name, that nobody did."""
    released_lab(sqlite_lab, tmp_path)
    texts = {key: f"A kind word about {key}." for key in situation_ids(sqlite_lab)}
    add_replies(sqlite_lab, STRANGE, texts)
    reference = reference_ratings(sqlite_lab, STUDY)
    return leaderboard(sqlite_lab, reference, measured_study(sqlite_lab, STUDY))


def test_whoever_was_not_rated_is_estimated_by_the_style_judge(board: LeaderboardResult) -> None:
    new = next(entry for entry in board.entries if entry.respondent == STRANGE)
    assert (new.measurement.basis, new.measurement.judge, new.replies) == ("judge", "style", 48)
    assert new.judged_first is not None


def test_names_are_text_on_the_page_and_no_formula_in_the_table(board: LeaderboardResult) -> None:
    page = render_leaderboard(board)
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    import polars as pl

    table = table_bytes(pl.DataFrame(leaderboard_table(board), infer_schema_length=None), "csv")
    assert b",=cmd" not in table


def all_alike(lab: Lab) -> None:
    """A study in degrees, in which every rating is the same."""
    rows = [
        f"s{number},{who},Reply {number}.,Text {number}.,p{number % 5},person,2"
        for number in range(12)
        for who in ("human", "gpt", "llama")
    ]
    head = "situation,respondent,text,situation_text,rater,rater_kind,rating"
    table = parse_csv("\n".join([head, *rows]).encode(), where="m.csv")
    brought = replies_from(table, where="m.csv", situation_set=None, set_id="m", title="m")
    study = ratings_from(table, where="m.csv", name="alike", title="Alike")
    release = dataclasses.replace(brought, study=study)
    import_release(lab, release, kind="ratings", source="m.csv", fingerprint="1")


def test_where_all_ratings_are_the_same_a_page_is_made_and_the_report_has_none(
    sqlite_lab: Lab,
) -> None:
    all_alike(sqlite_lab)
    reference = reference_ratings(sqlite_lab, "alike")
    assert reference.top == reference.lowest
    board = leaderboard(sqlite_lab, reference, measured_study(sqlite_lab, "alike"))
    assert [line.at for line in leaderboard_section(board).lines] == [50.0] * 3
    assert "Compared on alike" in render_leaderboard(board)
    assert report_leaderboard(sqlite_lab, "alike") is None


def test_the_boards_of_two_versions_of_a_study_are_told_apart(board: LeaderboardResult) -> None:
    older = JudgedStudy(7, "my study@1", 1, {})
    other = dataclasses.replace(board, reference=dataclasses.replace(board.reference, study=older))
    sections = [leaderboard_section(value) for value in (board, other)]
    assert sections[0].id != sections[1].id == "leaderboard-7"
    page = render_leaderboard(other)
    assert '<h2 id="leaderboard-7">Compared on my study@1: ' in page
    document = other.to_dict()
    assert (document["study"], document["version"]) == ("my study@1", 1)
    assert {item["study"] for item in leaderboard_table(other)} == {"my study@1"}


@pytest.mark.browser
def test_it_fits_a_phone_and_a_desk(
    board: LeaderboardResult, tmp_path: Path, browser: Browser
) -> None:
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
