"""Nothing at the console tells which arm leads before the study is closed."""

from __future__ import annotations

import re

import pytest
from sqlalchemy import select, update

from empathylab.store import Lab, schema
from empathylab.study.session.service import StudyService
from tests.study.service_examples import Clock, rows_of
from tests.study.web.console.researchers import Researcher, at_console, busy

PAGES = (
    "/console",
    "/console/participants",
    "/console/participants?status=finished",
    "/console/participants?world=simulated",
    "/console/comments",
    "/console/manage",
    "/console/results",
    "/console/downloads",
    "/console/accounts",
)
FILES = ("participants.csv", "page-times.csv", "comments.csv", "ratings.csv")


def rate_all(lab: Lab, values: dict[str, int]) -> None:
    """Gives all ratings of an arm the same value, wherever a rating is kept."""
    places, pages = schema.slots, schema.page_answers
    arms, ratings = schema.arms, schema.ratings
    with lab.writing() as connection:
        for arm, value in values.items():
            own = select(places.c.id).where(places.c.arm == arm)
            rated = pages.c.place_id.in_(own) & pages.c.step.startswith("rate/")
            connection.execute(update(pages).where(rated).values(given={"empathy": value}))
            number = select(arms.c.id).where(arms.c.name == arm).scalar_subquery()
            label = {1: "Bad", 3: "Good"}[value]
            changed = update(ratings).where(ratings.c.arm_id == number)
            connection.execute(changed.values(value=float(value), label=label))


def everything(service: StudyService, clock: Clock, visitor: Researcher) -> dict[str, str]:
    """All that an owner can look at and download without overriding anything."""
    keys = [participant.person for participant in service.actions.participants()]
    paths = [*PAGES, *(f"/console/participant?key={key}" for key in keys)]
    start = clock.time
    seen = {}
    for path in paths:
        clock.time = start
        answer = visitor.ask("GET", path)
        assert answer.status_code == 200, path
        seen[path] = answer.text
    for name in FILES:
        ask = visitor.refused if name == "ratings.csv" else visitor.post
        answer = ask("/console/downloads", file=name)
        assert answer.status_code == 200
        seen[name] = answer.text
    clock.time = start
    return seen


@pytest.mark.parametrize("paused", [False, True])
def test_exchanging_the_arms_ratings_changes_no_byte(sqlite_lab: Lab, paused: bool) -> None:
    service, clock = busy(sqlite_lab)
    if paused:
        service.actions.pause()
    with at_console(service) as visitor:
        rate_all(sqlite_lab, {"one": 3, "two": 1})
        before = everything(service, clock, visitor)
        rate_all(sqlite_lab, {"one": 1, "two": 3})
        after = everything(service, clock, visitor)
        assert len(before) > 20
        assert before == after
        service.actions.close()
        closed = {page: visitor.get(page).text for page in PAGES}
    assert closed["/console/results"] != before["/console/results"]
    assert re.search(r"<th scope=\"row\">two</th>.*>4</td>", closed["/console/results"])


def test_no_list_or_file_names_an_arm_beside_a_person_before_the_end(sqlite_lab: Lab) -> None:
    service, clock = busy(sqlite_lab)
    with at_console(service) as visitor:
        seen = everything(service, clock, visitor)
        for path, text in seen.items():
            if path in FILES or path.startswith("/console/participant"):
                assert not re.search(r"\b(one|two)\b", text.replace("with it by one", "")), path
        service.actions.close()
        person = visitor.get("/console/participants").text
        table = visitor.post("/console/downloads", file="participants.csv").text
    assert "<td>one</td>" in person
    assert ",one," in table


def test_an_owner_sees_results_early_only_once_the_reason_is_on_record(sqlite_lab: Lab) -> None:
    service, _ = busy(sqlite_lab)
    reason = "The ethics board asks for it"
    with at_console(service) as visitor:
        for fields in (
            {},
            {"name": "small"},
            {"name": "small", "reason": "short"},
            {"name": "other", "reason": reason},
        ):
            for path in ("/console/peek", "/console/peek-download"):
                refused = visitor.refused(path, file="ratings.csv", **fields)
                assert "first/model" not in refused.text
                assert ",one," not in refused.text
        assert not [item for item in service.actions.audit() if item.action == "peek"]
        # What is typed into a refused form opens nothing.
        forged = visitor.shown("/console/peek", peeked_at=service.now().isoformat())
        assert "first/model" not in forged.text
        shown = visitor.shown("/console/peek", name="small", reason=reason)
        assert '<th scope="row">one</th>' not in visitor.get("/console/results").text
        table = visitor.post(
            "/console/peek-download", name="small", reason=reason, file="ratings.csv"
        )
        again = visitor.get("/console/results")
    assert "before the study is closed" in shown.text
    assert re.search(r"<th scope=\"row\">one</th>", shown.text)
    assert ",one," in table.text
    assert '<th scope="row">one</th>' not in again.text
    looks = [item for item in service.actions.audit() if item.action == "peek"]
    assert [look.who for look in looks] == ["some owner"] * 2
    assert {look.details["reason"] for look in looks} == {reason}


def test_results_are_not_shown_where_the_reason_cannot_be_written_down(
    sqlite_lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    from empathylab.errors import LabError
    from empathylab.study.web.console.context import Console

    def full(*_: object, **__: object) -> None:
        raise LabError("the disk is full", remedy="Make room.")

    service, _ = busy(sqlite_lab)
    with at_console(service) as visitor:
        monkeypatch.setattr(Console, "note", full)
        reason = "The ethics board asks for it"
        answers = [
            visitor.post("/console/peek", name="small", reason=reason),
            visitor.post("/console/peek-download", name="small", reason=reason, file="ratings.csv"),
            visitor.post("/console/identities", sure="yes", reason=reason),
            visitor.post("/console/downloads", file="participants.csv"),
        ]
    assert [answer.status_code for answer in answers] == [503] * 4
    assert not any("one" in re.findall(r"\b\w+\b", answer.text) for answer in answers[:2])


def test_what_was_asked_after_the_replies_is_hidden_as_ratings_are(sqlite_lab: Lab) -> None:
    from empathylab.study.admin.embargo import hidden_blocks
    from empathylab.study.admin.monitoring import asked_before
    from tests.study.examples import appraisal, between

    assert hidden_blocks(between()) == {"rate"}
    assert [item.id for item in asked_before(between())] == ["scale"]
    assert hidden_blocks(appraisal()) == {"imagine", "after"}
    assert [item.id for item in asked_before(appraisal())] == ["before"]


def test_an_open_studys_ratings_are_in_the_lab_all_the_same(sqlite_lab: Lab) -> None:
    busy(sqlite_lab)
    assert rows_of(sqlite_lab, schema.ratings)
