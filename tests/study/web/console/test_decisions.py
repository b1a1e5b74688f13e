"""Decisions on several participants: confirmed first, on record, and undone."""

from __future__ import annotations

import pytest
from sqlalchemy import update

from empathylab.store import Lab, schema
from empathylab.store.ratings import ratings_frame
from empathylab.study.session.service import Finished, StudyService
from tests.study.service_examples import opened, rows_of, someone, walk
from tests.study.test_signals import declaring
from tests.study.web.console.researchers import Researcher, at_console, busy, join


def finished(service: StudyService) -> list[str]:
    people = service.actions.participants()
    return [
        person.person
        for person in people
        if person.outcome == "completed" and person.world == "person"
    ]


def picked(keys: list[str], **fields: str) -> dict[str, str]:
    return {**{f"pick-{key}": "yes" for key in keys}, **fields}


def confirmed(visitor: Researcher, keys: list[str], **fields: str) -> str:
    """The page after a confirmed decision."""
    answer = visitor.post("/console/review", **picked(keys, confirmed="yes", **fields))
    assert answer.status_code == 303, answer.text
    return visitor.get(answer.headers["location"]).text


def status_of(service: StudyService) -> dict[str, str]:
    people = service.actions.participants()
    return {person.person: person.status for person in people if person.world == "person"}


def test_nothing_is_decided_before_it_is_confirmed(sqlite_lab: Lab) -> None:
    service, _ = busy(sqlite_lab, people=2)
    keys = finished(service)[:2]
    before = rows_of(sqlite_lab, schema.slots)
    with at_console(service, "researcher") as visitor:
        for act in ("approve", "reject", "exclude", "include"):
            page = visitor.post("/console/review", **picked(keys, act=act))
            assert page.status_code == 200
            assert "2 participants?" in page.text
            assert all(f"pick-{key}" in page.text for key in keys)
        for act in ("reject", "exclude"):
            page = visitor.post("/console/review", **picked(keys, act=act, confirmed="yes"))
            assert page.status_code == 422  # without a reason
        assert visitor.post("/console/review", **picked(keys, act="pay")).status_code == 400
        assert visitor.post("/console/review", act="approve").status_code == 303
    assert rows_of(sqlite_lab, schema.slots) == before


def test_decisions_on_several_participants_are_done_and_on_record(lab: Lab) -> None:
    service, _ = busy(lab, people=3)
    keys = finished(service)[:3]
    (live,) = [key for key, status in status_of(service).items() if status == "live"]
    with at_console(service, "researcher") as visitor:
        page = confirmed(visitor, [*keys[:2], live], act="approve")
        assert "2 approved. 1 were skipped." in page
        assert "1 rejected." in confirmed(visitor, keys[2:], act="reject", reason="Too fast")
        assert "2 excluded." in confirmed(visitor, keys[:2], act="exclude", reason="A bot")
    reviews = {row["person"]: row["review"] for row in rows_of(lab, schema.slots)}
    assert [reviews[key] for key in keys] == ["approved", "approved", "rejected"]
    assert [status_of(service)[key] for key in keys] == ["excluded", "excluded", "finished"]
    acts = [(item.who, item.action) for item in service.actions.audit()]
    for action, count in (("approve", 2), ("reject", 1), ("exclude", 2)):
        assert acts.count(("some researcher", action)) == count


def test_an_exclusion_is_undone(lab: Lab) -> None:
    service, _ = busy(lab, people=2)
    key = finished(service)[0]
    (live,) = [one for one, status in status_of(service).items() if status == "live"]
    ratings = len(ratings_frame(lab, "small"))
    with at_console(service, "researcher") as visitor:
        confirmed(visitor, [key, live], act="exclude", reason="A mistake")
        assert len(ratings_frame(lab, "small")) == ratings - 2
        assert "2 exclusions undone." in confirmed(visitor, [key, live], act="include")
        assert "1 were skipped" in confirmed(visitor, [key], act="include")
    assert status_of(service)[key] == "finished"
    assert len(ratings_frame(lab, "small")) == ratings
    assert isinstance(walk(service, live), Finished)  # resumes where they were
    assert [item.action for item in service.actions.audit()].count("undo exclusion") == 2


def test_an_exclusion_with_a_second_reason_is_undone_as_a_whole(lab: Lab) -> None:
    service, _ = opened(lab)
    person = someone(service, "ann")
    walk(service, person)
    for reason in ("A mistake", "Another reason"):
        assert service.actions.exclude(person, reason)
    assert service.actions.include(person)
    assert status_of(service)[person] == "finished"
    assert not service.actions.include(person)


def test_undoing_never_shows_who_shares_an_arm(lab: Lab) -> None:
    """It works whether or not somebody else has the slot by now."""
    service, _ = opened(lab)
    first = someone(service, "first")
    walk(service, first)
    service.actions.exclude(first, "A mistake")
    others = [someone(service, f"rater {number}") for number in range(3)]
    for person in others:
        walk(service, person)
    slots = {row["person"]: (row["arm"], row["slot"]) for row in rows_of(lab, schema.slots)}
    assert slots[first] in [slots[person] for person in others]
    assert service.actions.include(first)
    assert isinstance(service.view(first), Finished)
    assert sum(arm.finished for arm in service.actions.status().arms) == 4
    with at_console(service, "researcher") as visitor:
        assert visitor.get(f"/console/participant?key={first}").status_code == 200
    for number in range(9):  # the slots of all arms are given out all the same
        walk(service, someone(service, f"later {number}"))
    held = [row["slot"] for row in rows_of(lab, schema.slots) if row["status"] == "finished"]
    assert len(held) == 13
    assert held.count(None) == 1


def test_a_participant_is_found_by_their_platform_id(sqlite_lab: Lab) -> None:
    service, _ = opened(sqlite_lab)
    key = someone(service, "id-on-the-platform")
    with at_console(service, "researcher") as visitor:
        found = visitor.post("/console/find", platform_id="id-on-the-platform")
        assert found.headers["location"] == f"/console/participant?key={key}"
        missing = visitor.post("/console/find", platform_id="nobody")
        listed = visitor.get(missing.headers["location"]).text
        assert "No participant has this platform ID" in listed
        assert "id-on-the-platform" not in visitor.get("/console/audit").text
    searches = [item for item in service.actions.audit() if item.action == "search platform ID"]
    assert [search.details["found"] for search in searches] == [1, 0]
    with at_console(service, None) as visitor:
        join(service, visitor, "viewer")
        answer = visitor.post("/console/find", platform_id="id-on-the-platform")
        assert answer.status_code == 403


@pytest.mark.parametrize("closed", [False, True])
def test_the_list_shows_time_attention_and_signals(sqlite_lab: Lab, closed: bool) -> None:
    service, clock = opened(sqlite_lab, declaring())
    person = someone(service, "ann")
    walk(service, person, until="attention")
    clock.skip(minutes=9)
    service.submit(person, "attention", {"question": "1"}, {})  # wrong
    table = schema.page_answers
    timing = {"seconds": 0.4, "away": 61.0, "losses": 3, "reported": None}
    signals = {"pastes": 2, "pasted": 300, "keys": 40, "interval": 100.0, "spread": 2.0, "trap": 1}
    with sqlite_lab.writing() as connection:
        change = update(table).where(table.c.step == "consent")
        connection.execute(change.values(timing={**timing, "signals": signals}))
    if closed:
        service.actions.close()
    with at_console(service, "viewer") as visitor:
        text = visitor.get("/console/participants").text
        page = visitor.get(f"/console/participant?key={person}").text
    assert ">passed 0 of 1<" in text
    for sign in (
        "paste",
        "even typing",
        "hidden field",
        "1 page under 1 s",
        "left the page 3 times",
    ):
        assert sign in text, sign
    assert ("10 min" in text) != closed
    assert "Characters pasted</dt><dd>300" in page
