"""What the platforms' links tell."""

from __future__ import annotations

import pytest
from starlette.datastructures import QueryParams

from empathylab.study.recruiting.invitations import new_token
from empathylab.study.web.recruitment import (
    BadLink,
    Preview,
    Visit,
    read_link,
    visit_token,
)

KEY = b"a key for the tests, 32 bytes it"
OTHER = b"another key for tests, 32 bytes!"
MTURK = {
    "assignmentId": "a",
    "hitId": "h",
    "workerId": "w",
    "turkSubmitTo": "https://www.mturk.com/",
}


def test_prolific_names_person_study_and_session() -> None:
    given = {"PROLIFIC_PID": "p", "STUDY_ID": "s", "SESSION_ID": "x"}
    assert read_link("prolific", given, KEY) == Visit("p", "person", "s", "x")


@pytest.mark.parametrize(
    "pid", ["", "   ", "x" * 201, "x" * 4096, "a\x00b", "a\nb", "a\u200bb", "\u202eab", "\ud800"]
)
def test_an_id_that_cannot_be_one_is_refused(pid: str) -> None:
    assert read_link("prolific", {"PROLIFIC_PID": pid}, KEY) == BadLink("incomplete")


@pytest.mark.parametrize("pid", ["żółć", "'; DROP TABLE x --", "<b>", "a b", "{{7*7}}"])
def test_odd_characters_in_an_id_are_kept_as_they_are(pid: str) -> None:
    assert read_link("prolific", {"PROLIFIC_PID": pid}, KEY) == Visit(pid)


@pytest.mark.parametrize("pid", ["{{%PROLIFIC_PID%}}", "%PROLIFIC_PID%"])
def test_a_placeholder_that_was_not_filled_in_is_nobody(pid: str) -> None:
    assert read_link("prolific", {"PROLIFIC_PID": pid}, KEY) == BadLink("incomplete")


@pytest.mark.parametrize(
    "query",
    [
        "PROLIFIC_PID=ann&PROLIFIC_PID=bob",
        "PROLIFIC_PID=ann&PROLIFIC_PID=",
        "PROLIFIC_PID=ann&SESSION_ID=1&SESSION_ID=2",
    ],
)
def test_a_link_that_names_two_people_names_nobody(query: str) -> None:
    assert read_link("prolific", QueryParams(query), KEY) == BadLink("incomplete")


def test_a_link_may_say_the_same_twice() -> None:
    query = QueryParams("PROLIFIC_PID=ann&PROLIFIC_PID=ann&source=a&source=b")
    assert read_link("prolific", query, KEY) == Visit("ann")


def test_a_trial_link_with_a_second_one_is_none() -> None:
    query = QueryParams([("visit", visit_token("test", KEY)), ("visit", "x")])
    assert read_link("open", query, KEY) == BadLink("incomplete")


def test_mturk_names_worker_hit_assignment_and_where_work_goes() -> None:
    visit = Visit("w", "person", "h", "a", "https://www.mturk.com")
    assert read_link("mturk", MTURK, KEY) == visit


def test_mturk_shows_a_preview_before_the_work_is_accepted() -> None:
    given = MTURK | {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE"}
    assert read_link("mturk", given, KEY) == Preview()


def test_work_is_handed_in_nowhere_but_at_mturk() -> None:
    given = MTURK | {"turkSubmitTo": "https://www.mturk.com.evil.test"}
    assert read_link("mturk", given, KEY) == BadLink("forged")


def test_mturk_without_a_worker_is_incomplete() -> None:
    given = {name: one for name, one in MTURK.items() if name != "workerId"}
    assert read_link("mturk", given, KEY) == BadLink("incomplete")


@pytest.mark.parametrize("name", ["survey_code", "id"])
def test_sona_names_the_person_by_its_survey_code(name: str) -> None:
    assert read_link("sona", {name: "77"}, KEY) == Visit("77")


def test_sonas_survey_code_counts_where_a_link_has_another_id_as_well() -> None:
    assert read_link("sona", {"id": "5", "survey_code": "77"}, KEY) == Visit("77")


def test_everybody_who_comes_by_an_open_link_is_someone_else() -> None:
    first, second = (read_link("open", {}, KEY) for _ in range(2))
    assert first != second


def test_an_invitation_lets_one_person_in_and_names_them_each_time() -> None:
    token = new_token(KEY)
    visit = read_link("invitation", {"invitation": token}, KEY)
    assert isinstance(visit, Visit)
    assert visit == read_link("invitation", {"invitation": token}, KEY)
    assert token != new_token(KEY)


@pytest.mark.parametrize(
    "token", ["x", "x.y", ".", "ä.ö", pytest.param(new_token(OTHER), id="of another study")]
)
def test_an_invitation_that_we_did_not_write_is_forged(token: str) -> None:
    assert read_link("invitation", {"invitation": token}, KEY) == BadLink("forged")


def test_a_link_without_its_invitation_is_incomplete() -> None:
    assert read_link("invitation", {}, KEY) == BadLink("incomplete")


@pytest.mark.parametrize("world", ["test", "simulated"])
def test_a_trial_needs_no_platform_and_stays_in_its_world(world: str) -> None:
    token = visit_token(world, KEY)  # type: ignore[arg-type]
    visit = read_link("prolific", {"visit": token}, KEY)
    assert isinstance(visit, Visit)
    assert visit.world == world


def test_nobody_becomes_a_counted_person_by_a_trial_link() -> None:
    assert read_link("open", {"visit": visit_token("person", KEY)}, KEY) == BadLink("forged")
    assert read_link("open", {"visit": visit_token("test", OTHER)}, KEY) == BadLink("forged")
