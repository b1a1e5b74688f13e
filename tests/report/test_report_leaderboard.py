"""The leaderboard as a part of the report, where it says more than the ratings do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser
from sqlalchemy import delete, select

from empathylab.analysis.benchmark import frames as benchmark_frames
from empathylab.analysis.benchmark.frames import (
    every_measured_reply,
    measured_replies,
    reference_ratings,
)
from empathylab.analysis.benchmark.leaderboard import leaderboard, report_leaderboard
from empathylab.analysis.overview import from_lab as collect
from empathylab.judging.asking import Asking
from empathylab.judging.instruments import study_instrument
from empathylab.judging.pairs import Comparing, plan_comparing
from empathylab.judging.single import Judging, plan_judging
from empathylab.models import Message, Parameters, ScriptedModel
from empathylab.report.benchmark.section import leaderboard_section
from empathylab.report.page import render, write_report
from empathylab.runs import Job, run
from empathylab.store import Lab, schema
from empathylab.store.judged_responses import (
    JudgedResponse,
    judged_study,
    responses_to_judge,
    study_responses,
)
from empathylab.study.added_arms.instruments import measured_study
from tests.judging.measured import PROMPT, STUDY, add_replies, released_lab, situation_ids

NEW = "new/model"


def kind(messages: tuple[Message, ...], _parameters: Parameters) -> str:
    """A judge that likes gpt, and the newcomer more than anybody."""
    text = messages[-1].content
    said = "Good" if "A kind word" in text else "Okay" if "The gpt reply" in text else "Bad"
    return json.dumps({"empathy": said})


def judged_lab(lab: Lab, folder: Path, arms: tuple[str, ...]) -> None:
    """A study, and someone later whom only a judge has rated."""
    released_lab(lab, folder, arms=arms)
    add_replies(lab, NEW, {key: f"A kind word about {key}." for key in situation_ids(lab)})
    study = judged_study(lab, STUDY)
    replies = responses_to_judge(lab, study, [*arms, NEW])
    judging = Judging(study_instrument(study), replies, f"study {study.name}", study.row)
    run(lab, [Job(ScriptedModel(kind, name="a/judge"), [plan_judging(judging)])])


@pytest.fixture
def judged(sqlite_lab: Lab, tmp_path: Path) -> Lab:
    judged_lab(sqlite_lab, tmp_path, ("human", "gpt", "llama", "mixtral"))
    return sqlite_lab


def test_two_whom_people_rated_need_no_leaderboard(sqlite_lab: Lab, tmp_path: Path) -> None:
    released_lab(sqlite_lab, tmp_path, arms=("human", "gpt"))
    assert report_leaderboard(sqlite_lab, STUDY) is None
    data = collect(sqlite_lab)
    assert data.leaderboards == ()
    assert 'class="leaderboard"' not in render(data)


def test_three_whom_people_rated_have_one(sqlite_lab: Lab, tmp_path: Path) -> None:
    released_lab(sqlite_lab, tmp_path, arms=("human", "gpt", "llama"))
    board = report_leaderboard(sqlite_lab, STUDY)
    assert board is not None
    assert {entry.respondent for entry in board.entries} == {"human", "gpt", "llama"}


def test_one_whom_a_judge_rated_stands_beside_those_whom_people_did(judged: Lab) -> None:
    board = report_leaderboard(judged, STUDY)
    assert board is not None
    how = {entry.respondent: entry.measurement.basis for entry in board.entries}
    assert how == dict.fromkeys(("human", "gpt", "llama", "mixtral"), "people") | {NEW: "judge"}
    beyond = {line.respondent: line.beyond for line in leaderboard_section(board).lines}
    assert beyond[NEW]
    assert not any(beyond[name] for name in how if name != NEW)


def half_rated(lab: Lab, folder: Path) -> None:
    """A study with a respondent of whose replies people rated a half."""
    released_lab(lab, folder)
    rows, names = schema.responses, schema.respondents
    mine = (
        select(rows.c.id)
        .join(names, names.c.id == rows.c.respondent_id)
        .where(names.c.name == "gpt")
        .order_by(rows.c.id)
    )
    with lab.writing() as connection:
        known = connection.execute(mine).scalars().all()
        half = known[len(known) // 2 :]
        connection.execute(delete(schema.ratings).where(schema.ratings.c.response_id.in_(half)))
    add_replies(lab, "gpt", {key: f"The gpt reply to {key}." for key in situation_ids(lab)})


def judge_replies(
    lab: Lab, replies: tuple[JudgedResponse, ...], asking: Asking | None = None
) -> None:
    study = judged_study(lab, STUDY)
    judging = Judging(
        study_instrument(study), replies, f"study {study.name}", study.row, asking or Asking()
    )
    run(lab, [Job(ScriptedModel(kind, name="a/judge"), [plan_judging(judging)])])


def test_a_judge_of_nothing_but_what_people_rated_is_not_named(
    sqlite_lab: Lab, tmp_path: Path
) -> None:
    half_rated(sqlite_lab, tmp_path)
    judge_replies(sqlite_lab, study_responses(sqlite_lab, judged_study(sqlite_lab, STUDY).row))
    board = report_leaderboard(sqlite_lab, STUDY)
    assert board is not None
    line = next(entry for entry in board.entries if entry.respondent == "gpt")
    assert (line.measurement.basis, line.measurement.judge) == ("people", None)
    assert line.judged_first is None


def test_a_judge_that_sharpens_people_is_said_to_have_been_asked_in_several_ways(
    sqlite_lab: Lab, tmp_path: Path
) -> None:
    half_rated(sqlite_lab, tmp_path)
    reference = reference_ratings(sqlite_lab, STUDY)
    row = judged_study(sqlite_lab, STUDY).row
    mine = measured_replies(sqlite_lab, reference, "gpt", PROMPT)
    judge_replies(sqlite_lab, (*study_responses(sqlite_lab, row), *mine))
    judge_replies(sqlite_lab, mine[:5], Asking(seed=9))
    board = report_leaderboard(sqlite_lab, STUDY)
    assert board is not None
    line = next(entry for entry in board.entries if entry.respondent == "gpt")
    assert (line.measurement.basis, line.measurement.judge) == ("people and judge", "a/judge")
    assert line.judged_first is not None
    assert sum("a/judge was asked with 2 setups" in note for note in board.notes) == 1


def test_replies_read_once_are_those_read_one_by_one(sqlite_lab: Lab, tmp_path: Path) -> None:
    half_rated(sqlite_lab, tmp_path)
    add_replies(sqlite_lab, NEW, dict.fromkeys(situation_ids(sqlite_lab), "I see."))
    reference = reference_ratings(sqlite_lab, STUDY)
    names = [*reference.respondents, NEW, "nobody"]
    found = every_measured_reply(sqlite_lab, reference, PROMPT, names)
    for name in names:
        assert set(found[name]) == set(measured_replies(sqlite_lab, reference, name, PROMPT))
    assert (len(found["gpt"]), len(found[NEW]), found["nobody"]) == (48, 48, ())


def test_a_board_reads_judgements_and_replies_once_however_many_there_are(
    judged: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_replies(judged, "other/model", dict.fromkeys(situation_ids(judged), "I see."))
    reference, study = reference_ratings(judged, STUDY), measured_study(judged, STUDY)
    read: list[str] = []
    for name in ("all_judgements", "study_responses", "responses_to_prompt"):
        true = getattr(benchmark_frames, name)

        def counted(*given: object, name: str = name, true: Any = true) -> object:
            read.append(name)
            return true(*given)

        monkeypatch.setattr(benchmark_frames, name, counted)
    board = leaderboard(judged, reference, study, style=False)
    assert len(board.entries) == 5
    assert sorted(read) == ["all_judgements", "responses_to_prompt", "study_responses"]


def test_a_judge_that_only_chose_between_replies_has_a_card(
    sqlite_lab: Lab, tmp_path: Path
) -> None:
    released_lab(sqlite_lab, tmp_path, arms=("human", "gpt"))
    study = judged_study(sqlite_lab, STUDY)
    replies = study_responses(sqlite_lab, study.row)
    comparing = Comparing(study_instrument(study), replies, "study", study.row)
    first = ScriptedModel(lambda *_: json.dumps({"empathy": "first"}), name="a/judge")
    run(sqlite_lab, [Job(first, [plan_comparing(comparing)])])
    data = collect(sqlite_lab)
    [analysis] = data.judges
    card = next(card for card in analysis.cards if card.judge == "a/judge")
    assert (card.n, card.decision) == (0, "cannot tell")
    assert "a/judge: empathy" in render(data)


def test_a_report_trains_no_judge(sqlite_lab: Lab, tmp_path: Path) -> None:
    released_lab(sqlite_lab, tmp_path)
    add_replies(sqlite_lab, NEW, dict.fromkeys(situation_ids(sqlite_lab), "I see."))
    board = report_leaderboard(sqlite_lab, STUDY)
    assert board is not None
    assert NEW not in {entry.respondent for entry in board.entries}
    assert any(NEW in note for note in board.notes)


def test_pairs_that_people_rated_are_paired_and_those_of_a_judge_are_not(judged: Lab) -> None:
    board = leaderboard(judged, reference_ratings(judged, STUDY), measured_study(judged, STUDY))
    assert len(board.pairs) == 10
    for pair in board.pairs:
        assert pair.paired == (NEW not in (pair.upper, pair.lower))
        assert (pair.shared > 0) == pair.paired


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("board")
    with Lab.open(folder / "lab") as lab:
        judged_lab(lab, folder, ("human", "gpt", "llama", "mixtral"))
        return write_report(collect(lab), lab.reports)


@pytest.mark.browser
def test_the_report_shows_it_on_a_phone_and_a_desk(report: Path, browser: Browser) -> None:
    for width, scheme in ((360, "dark"), (1280, "light")):
        context = browser.new_context(
            viewport={"width": width, "height": 800},
            color_scheme=scheme,  # type: ignore[arg-type]
        )
        page = context.new_page()
        page.goto(report.as_uri())
        assert page.locator(".leaderboard").count() == 1
        page.locator("details", has=page.locator(".leaderboard")).last.locator(
            "summary"
        ).first.click()
        assert page.locator(".leaderboard .entry").count() == 5
        assert page.locator(".leaderboard .tag", has_text="beyond what").count() == 1
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        found = Axe().run(page, context=".leaderboard")
        assert found.violations_count == 0, found.generate_report()
        context.close()
