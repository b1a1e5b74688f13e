"""Leaderboards while another study shows the same replies to people."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import delete, select, update

from empathylab.analysis.benchmark.leaderboard import report_leaderboard, without_embargoed
from empathylab.analysis.benchmark.result import from_lab
from empathylab.analysis.overview import from_lab as collect
from empathylab.errors import InputError
from empathylab.store import Lab, schema
from empathylab.study.design.definition import Arm, Situations
from empathylab.study.session.service import StudyService, launch
from tests.helpers.command_line import empathylab
from tests.judging.measured import STUDY
from tests.report.test_report_leaderboard import NEW, judged_lab
from tests.study.examples import between
from tests.study.service_examples import START, furnish


def shown_elsewhere(lab: Lab, *respondents: str) -> StudyService:
    """A second study, which takes people, of these respondents' replies to the same situations."""
    furnish(lab)
    arms = {f"arm-{number}": Arm(respondent=name) for number, name in enumerate(respondents)}
    launch(lab, between(arms=arms, situations=Situations(set=STUDY, count=6)), now=START)
    return StudyService(lab, "small")


@pytest.fixture
def judged(sqlite_lab: Lab, tmp_path: Path) -> Lab:
    judged_lab(sqlite_lab, tmp_path, ("human", "gpt", "llama"))
    return sqlite_lab


def test_a_newcomer_whom_an_open_study_shows_is_not_ranked_by_a_judge(judged: Lab) -> None:
    whole = report_leaderboard(judged, STUDY)
    assert whole is not None
    assert NEW in {entry.respondent for entry in whole.entries}
    service = shown_elsewhere(judged, NEW, "gpt")
    [board] = collect(judged).leaderboards
    assert {entry.respondent for entry in board.entries} == {"human", "gpt", "llama"}
    assert {(entry.rank_low, entry.rank_high) for entry in board.entries} <= {
        (low, high) for low in range(1, 4) for high in range(low, 4)
    }
    assert all(NEW not in (pair.upper, pair.lower) for pair in board.pairs)
    assert any(note.endswith(f"shows these replies: {NEW}.") for note in board.notes)
    service.actions.close()
    [board] = collect(judged).leaderboards
    assert NEW in {entry.respondent for entry in board.entries}


def test_a_model_that_an_open_study_shows_is_measured_by_a_judge_for_a_reason_only(
    judged: Lab,
) -> None:
    service = shown_elsewhere(judged, NEW, "gpt")
    measured = {"judge": "a/judge", "study": STUDY}
    with pytest.raises(InputError, match="study small: the study is still open"):
        from_lab(judged, NEW, **measured)
    peeked = from_lab(judged, NEW, **measured, peek="The board asks")
    service.actions.close()
    assert peeked == from_lab(judged, NEW, **measured)


def test_evaluate_refuses_such_a_model_before_it_asks_anything(judged: Lab) -> None:
    shown_elsewhere(judged, NEW, "gpt")
    lab = ("--lab", judged.folder)
    done = empathylab("evaluate", NEW, "--against", STUDY, "--judge", "a/judge", *lab)
    assert done.exit_code == 2
    assert "study small: the study is still open" in done.stderr


def test_a_board_is_as_it_was_where_no_open_study_shows_its_newcomers(judged: Lab) -> None:
    board = report_leaderboard(judged, STUDY)
    assert board is not None
    assert without_embargoed(judged, board) is board
    shown_elsewhere(judged, "human", "gpt")
    assert without_embargoed(judged, board) is board


def test_whom_people_rated_stays_by_their_ratings_alone(judged: Lab) -> None:
    # Some of gpt's replies have no rating, so that a judge helps with them.
    replies, ratings = schema.responses, schema.ratings
    writer = select(schema.respondents.c.id).where(schema.respondents.c.name == "gpt")
    own = replies.c.respondent_id == writer.scalar_subquery()
    with judged.writing() as connection:
        some = list(connection.execute(select(replies.c.id).where(own).limit(20)).scalars())
        connection.execute(delete(ratings).where(ratings.c.response_id.in_(some)))
        connection.execute(update(replies).where(own).values(prompt="empathic-listener@1"))
    board = report_leaderboard(judged, STUDY)
    assert board is not None
    how = {entry.respondent: entry.measurement.basis for entry in board.entries}
    assert how["gpt"] == "people and judge"
    shown_elsewhere(judged, "gpt", "human")
    predicted = without_embargoed(judged, board).entries
    [gpt] = [item for item in predicted if item.respondent == "gpt"]
    assert (gpt.measurement.basis, gpt.measurement.judge) == ("people", None)
    assert gpt.judged_first is None
    assert gpt.replies == 28


def test_two_whom_people_rated_and_a_hidden_newcomer_need_no_board(
    sqlite_lab: Lab, tmp_path: Path
) -> None:
    judged_lab(sqlite_lab, tmp_path, ("human", "gpt"))
    assert len(collect(sqlite_lab).leaderboards) == 1
    shown_elsewhere(sqlite_lab, NEW, "gpt")
    assert collect(sqlite_lab).leaderboards == ()


def test_a_leaderboard_that_cannot_be_shown_is_said_in_the_report(judged: Lab) -> None:
    with judged.writing() as connection:
        predicted = {"template": "empathic-listener", "fingerprint": "of other words"}
        protocol = connection.execute(select(schema.studies.c.protocol)).scalar_one()
        connection.execute(
            update(schema.studies).values(protocol={**protocol, "replies": predicted})
        )
    data = collect(judged)
    assert data.leaderboards == ()
    assert any(
        item.startswith(f"The leaderboard of the study {STUDY} is not shown: ")
        for item in data.unrated
    )
