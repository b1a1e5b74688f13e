"""A follow-up: questionnaires days later, linked to the first study by the platform id."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from empathylab.analysis import recipients
from empathylab.errors import UserError
from empathylab.store import Lab, schema
from empathylab.study import parse_study
from empathylab.study.design.checks import check_study
from empathylab.study.exports.folders import export_study
from empathylab.study.recruiting.invitations import invite
from empathylab.study.session.service import Finished, Page, PlatformIds, StudyService, launch
from empathylab.study.web import visit_token
from tests.study.service_examples import Clock, rows_of
from tests.study.web.raters import visiting

FIRST = """\
name: heard
version: 1
title: Being heard
languages: [en]
seed: 7
recruitment: {platform: invitation}
help: Call 123.
live:
  authors: {one: {text: I hear you.}, two: {text: Cheer up.}}
  people_per_condition: 5
  delay: {minimum: 0, maximum: 0}
blocks:
  - {block: consent, text: "Take part?"}
  - {block: tell, text: Tell us., minimum_words: 2}
  - {block: reply}
  - {block: feel}
  - {block: debrief, text: Thank you.}
"""
LATER = """\
name: heard-later
version: 1
title: A week later
languages: [en]
seed: 7
follow_up: {study: heard, people: 20}
recruitment: {platform: invitation}
blocks:
  - {block: consent, text: "Take part again?"}
  - {block: feel, phase: later}
  - block: questions
    fields: [{name: better, label: Better now, kind: choice, options: ["yes", "no"]}]
  - {block: debrief, text: Thank you.}
"""


def opened(lab: Lab, text: str, clock: Clock) -> StudyService:
    study = parse_study(text)
    launch(lab, study, now=clock())
    return StudyService(lab, study.name, clock=clock)


def answered(service: StudyService, person: str, point: int) -> None:
    """Goes through the pages; all items of questionnaires get the same answer."""
    while isinstance(page := service.view(person), Page):
        items = [item for ask in page.content.asks for item in ask.one_by_one()]
        values = {item.name: item.options[0].value for item in items if item.options}
        values |= {name: str(point) for name in values if name.startswith("item-")}
        values |= {"story": "My dog died."} if page.step == "tell" else {}
        service.submit(person, page.step, values)
    assert isinstance(page, Finished)
    assert page.outcome == "completed"


def both_parts(lab: Lab, clock: Clock) -> tuple[StudyService, StudyService]:
    first = opened(lab, FIRST, clock)
    tickets = [made.token.partition(".")[0] for made in invite(first, 5)]
    for number, ticket in enumerate(tickets[:4]):
        answered(first, first.arrive(PlatformIds("invitation", ticket)), 3 + number % 2)
    clock.skip(days=7)
    later = opened(lab, LATER, clock)
    for number, ticket in enumerate(tickets[:4]):
        answered(later, later.arrive(PlatformIds("invitation", ticket)), 5 + number % 2)
    with pytest.raises(UserError, match="has not completed the first study"):
        later.arrive(PlatformIds("invitation", tickets[4]))
    return first, later


def test_a_follow_up_is_linked_to_the_first_study_and_exported_with_it(
    lab: Lab, tmp_path: Path
) -> None:
    clock = Clock()
    first, later = both_parts(lab, clock)
    people = {row["person"]: row["arm"] for row in rows_of(lab, schema.slots) if row["arm"]}
    later.actions.close()
    export_study(lab, "heard-later", tmp_path / "early")
    with (tmp_path / "early" / "raters.csv").open() as file:
        assert "first_author" not in next(iter(csv.DictReader(file)))  # the first is still open
    first.actions.close()
    export_study(lab, "heard-later", tmp_path / "out")
    with (tmp_path / "out" / "raters.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["recipient_heard_later"] for row in rows] == ["5.0", "6.0", "5.0", "6.0"]
    assert [row["first_recipient_heard_after"] for row in rows] == ["3.0", "4.0", "3.0", "4.0"]
    assert all(people[row["first_participant"]] == row["first_author"] for row in rows)
    assert {round(float(row["days_after"])) for row in rows} == {7}
    result = recipients.from_lab(lab, "heard")
    means = {
        (cell["outcome"], cell["n"]): cell["mean"]
        for cell in result.tables["cells"].iter_rows(named=True)
    }
    assert {key[0] for key in means} >= {"recipient heard", "recipient heard later"}


def test_participants_come_by_the_link_of_the_first_study(sqlite_lab: Lab) -> None:
    clock = Clock()
    first = opened(sqlite_lab, FIRST, clock)
    (made,) = invite(first, 1)
    answered(first, first.arrive(PlatformIds("invitation", made.token.partition(".")[0])), 4)
    later = opened(sqlite_lab, LATER, clock)
    with pytest.raises(UserError, match="does not need its own invitations"):
        invite(later, 1)
    with visiting(later) as visitor:
        assert "Take part again?" in visitor.get(made.link("/")).text
    for token in ("guessed.token", ""):
        with visiting(later) as visitor:
            assert "Take part again?" not in visitor.get(f"/?invitation={token}").text
    with visiting(later) as visitor:  # test links need no first part
        token = visit_token("test", later.secret)
        assert "Take part again?" in visitor.get(f"/?visit={token}").text


def test_a_later_visit_is_linked_though_the_first_was_deleted(sqlite_lab: Lab) -> None:
    clock = Clock()
    first = opened(sqlite_lab, FIRST.replace("invitation}", "invitation, once: false}"), clock)
    (made,) = invite(first, 1)
    came = PlatformIds("invitation", made.token.partition(".")[0])
    once = first.arrive(came)
    answered(first, once, 4)
    answered(first, first.arrive(came), 4)
    first.actions.forget(once)
    later = opened(sqlite_lab, LATER, clock)
    assert isinstance(later.view(later.arrive(came)), Page)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{block: feel, phase: later}", "{block: tell, text: Tell us.}", "questionnaires only"),
        ("follow_up: {study: heard, people: 20}\n", "", "Keep one of the three"),
    ],
)
def test_a_follow_up_has_questionnaires_only(old: str, new: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        parse_study(LATER.replace(old, new))


def test_the_check_says_why_people_could_not_be_recognised(sqlite_lab: Lab) -> None:
    clock = Clock()
    unknown = check_study(parse_study(LATER), sqlite_lab)
    assert any("launched study" in problem for problem in unknown.plan.problems)
    opened(sqlite_lab, FIRST, clock)
    assert check_study(parse_study(LATER), sqlite_lab).plan.ready
    for platform in ("open", "sona"):
        study = parse_study(LATER.replace("platform: invitation", f"platform: {platform}"))
        assert not check_study(study, sqlite_lab).plan.ready, platform
