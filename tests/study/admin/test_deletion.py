"""Forgetting someone takes what they gave, and nothing that others gave."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Engine, event

from empathylab.errors import InputError
from empathylab.judging.asking import Asking
from empathylab.judging.single import Judging, plan_judging
from empathylab.models import ScriptedModel
from empathylab.runs import Job, run
from empathylab.store import Lab, schema
from empathylab.store.judged_responses import set_responses
from empathylab.study import parse_study
from empathylab.study.added_arms.joining import add_arm
from empathylab.study.admin.deletion import earlier_exports, forget_imported
from empathylab.study.archives import pack_study, unpack_study
from empathylab.study.design.definition import Arm
from empathylab.study.exports.folders import export_study
from empathylab.study.session.service import Finished, Page, StudyService, launch
from tests.judging.judged import ONE
from tests.study.archived import finished
from tests.study.examples import between
from tests.study.service_examples import Clock, careful, furnish, opened, rows_of, someone, walk
from tests.study.test_service_privacy import everything
from tests.study.test_service_results import WRITE

WORDS = "Oh no, says Quentin in his own way"


def writing(lab: Lab, writers: int = 1) -> tuple[StudyService, Clock, list[str]]:
    """A study in which so many people have written one reply to each of six situations."""
    text = WRITE.replace("count: 2}", "count: 6}").replace("batch_size: 2", "batch_size: 6")
    text = text.replace("seed: 5", "seed: 7")  # as the other study, which draws the same six then
    service, clock = opened(lab, parse_study(text))
    people = []
    for number in range(writers):
        person = someone(service, f"writer {number}")
        while isinstance(page := service.view(person), Page):
            values = careful(service.study, page)
            if page.content.page == "write":
                values["reply"] = f"{WORDS}, {number}"
            service.submit(person, page.step, values, {})
        people.append(person)
    return service, clock, people


def showing(lab: Lab, clock: Clock) -> StudyService:
    """A study that lets raters see the replies of people, beside those of a model."""
    furnish(lab, "first/model")
    study = between(
        name="showing",
        arms={"one": Arm(respondent="first/model"), "human": Arm(respondent="human")},
    )
    launch(lab, study, now=clock())
    return StudyService(lab, "showing", clock=clock)


def in_arm(service: StudyService, arm: str, until: str = "rate") -> str:
    """The first of those who come and get into the arm, at their first page of that kind."""
    for number in range(20):
        person = someone(service, f"{arm} {until} {number}")
        walk(service, person, until=until)
        if service.actions.participants()[-1].arm == arm:
            return person
    raise AssertionError(arm)


def test_other_peoples_ratings_of_a_forgotten_writers_replies_are_kept(lab: Lab) -> None:
    writers, clock, (writer,) = writing(lab)
    raters = showing(lab, clock)
    for number in range(4):
        walk(raters, someone(raters, f"rater {number}"))
    before = raters.actions.status().ratings
    shown = len(rows_of(lab, schema.shown_responses))
    assert writers.actions.forget(writer) == 1
    assert WORDS not in everything(lab)
    assert raters.actions.status().ratings == before == 8
    assert len(rows_of(lab, schema.shown_responses)) == shown
    emptied = [row for row in rows_of(lab, schema.responses) if row["outcome"] == "withdrawn"]
    assert {item["text"] for item in emptied} == {""}
    assert len(emptied) == 6


def test_replies_that_nobody_used_are_deleted_altogether(lab: Lab) -> None:
    writers, _, (writer,) = writing(lab)
    writers.leave(writer, delete=True)
    assert rows_of(lab, schema.responses) == []


def test_a_study_that_shows_a_forgotten_writers_replies_is_told_and_goes_on(lab: Lab) -> None:
    writers, clock, (writer,) = writing(lab)
    raters = showing(lab, clock)
    half = in_arm(raters, "human")
    writers.leave(writer, delete=True)
    page = raters.view(half)
    assert isinstance(page, Page)
    replies = [part.text for part in page.content.parts if part.role == "reply"]
    assert replies == [
        "This reply is no longer available. Please choose any answer; it will not be counted."
    ]
    rated = len(rows_of(lab, schema.ratings))
    assert isinstance(walk(raters, half), Finished)
    assert len(rows_of(lab, schema.ratings)) == rated
    told = [(item.who, item.action, item.details) for item in raters.actions.audit()][-1]
    assert told == ("participant", "reply deleted", {"replies": 6})


def test_nobody_new_is_given_a_batch_with_a_reply_that_is_gone(lab: Lab) -> None:
    writers, clock, (first, _) = writing(lab, writers=2)
    # Of the first writer's replies only one is shown: the others are those of someone else.
    with lab.writing() as connection:
        table = schema.responses
        own = [row for row in rows_of(lab, table) if (row["details"] or {}).get("rater") == first]
        for item in own[1:]:
            connection.execute(
                table.update()
                .where(table.c.id == item["id"])
                .values(details={**item["details"], "rater": "somebody"})
            )
    raters = showing(lab, clock)
    batches = len(raters.launched.slots["human"])
    writers.actions.forget(first)
    again = StudyService(lab, "showing", clock=clock)
    shut = {slot for arm, slot in again.launched.shut if arm == "human"}
    assert 0 < len(shut) < batches
    for number in range(2 * batches):
        person = someone(again, f"rater {number}")
        again.submit(person, "consent", {"agree": "yes"}, {})
        if isinstance(again.view(person), Page):
            walk(again, person)
    held = {row["slot"] for row in rows_of(lab, schema.slots) if row["arm"] == "human"}
    assert held == set(range(batches)) - shut


def test_what_a_judge_was_asked_about_a_forgotten_writers_reply_is_emptied(lab: Lab) -> None:
    writers, _, (writer,) = writing(lab)
    furnish(lab, "a/model")
    replies = [
        response for response in set_responses(lab, "dialogues") if response.respondent == "human"
    ][:2]
    asked: list[str] = []

    def answer(messages: object, _: object) -> str:
        asked.append(str(messages))
        # The first answer cannot be used, so the same is asked once more.
        return f"{WORDS}?" if len(asked) == 1 else '{"empathy": "Good"}'

    judging = Judging(ONE, tuple(replies), "x", None, Asking(retries=1, temperature=1.0))
    run(lab, [Job(ScriptedModel(answer, name="the/judge"), [plan_judging(judging)])])
    assert sum(WORDS in item for item in asked) == len(asked) == 3
    writers.actions.forget(writer)
    assert "Quentin" not in everything(lab)
    assert [row["value"] for row in rows_of(lab, schema.judgements)] == [3.0, 3.0]


def test_an_excluded_writers_replies_are_not_valid_and_say_so_in_exports(
    lab: Lab, tmp_path: Path
) -> None:
    writers, _, (first, second) = writing(lab, writers=2)
    writers.actions.exclude(first, "nonsense")
    outcomes = {
        (row["details"]["rater"], row["outcome"], row["reason"])
        for row in rows_of(lab, schema.responses)
    }
    assert outcomes == {(first, "excluded", "nonsense"), (second, "valid", None)}
    writers.actions.close()
    export_study(lab, "writers", tmp_path / "out")
    table = (tmp_path / "out" / "written_replies.csv").read_text().splitlines()
    assert table[0].endswith(",text,excluded")
    assert sum(line.endswith(",nonsense") for line in table) == 6


def test_a_simulated_rater_cannot_be_excluded(lab: Lab) -> None:
    service, _ = opened(lab)
    bot = someone(service, "bot", world="simulated")
    walk(service, bot)
    with pytest.raises(InputError, match="only people can be excluded"):
        service.actions.exclude(bot, "spam")
    assert rows_of(lab, schema.raters)[0]["details"]["marks"] == {"world": "simulated"}


def test_a_rater_of_an_imported_study_can_be_forgotten(lab: Lab, tmp_path: Path) -> None:
    with Lab.open(tmp_path / "origin") as origin:
        _, clock = finished(origin)
        archive = pack_study(origin, "small")
    unpack_study(lab, archive)
    gone, other = (row["name"] for row in rows_of(lab, schema.raters)[:2])
    assert forget_imported(lab, "small", gone, who="eva", at=clock()) == 1
    assert gone not in everything(lab)
    assert len(rows_of(lab, schema.ratings)) == 6
    furnish(lab, "third/model")
    add_arm(lab, "small", "third/model", now=clock())
    here = StudyService(lab, "small", clock=clock)
    assert here.actions.forget(other) == 1
    assert len(rows_of(lab, schema.ratings)) == 4
    assert here.actions.forget(other) == 0


def test_what_was_exported_before_is_named(lab: Lab, tmp_path: Path) -> None:
    _, clock = finished(lab)
    assert earlier_exports(lab, "small") == ()
    export_study(lab, "small", tmp_path / "out", identities=True, now=clock(), who="eva")
    launch(lab, between(version=2), now=clock())
    assert [(export.who, export.action) for export in earlier_exports(lab, "small")] == [
        ("eva", "export identities"),
        ("eva", "export"),
    ]


@pytest.mark.parametrize("way", ["forget", "leave"])
def test_the_words_of_a_forgotten_person_are_in_no_file_while_the_lab_is_open(
    tmp_path: Path, way: str
) -> None:
    def not_by_itself(connection: object, _record: object) -> None:
        connection.execute("PRAGMA secure_delete = OFF")  # type: ignore[attr-defined]

    # As in builds of SQLite that leave deleted words in the file.
    event.listen(Engine, "connect", not_by_itself)
    try:
        with Lab.open(tmp_path / "lab") as lab:
            service, _ = opened(lab)
            person = someone(service, "ann-from-the-platform")
            page = walk(service, person, until="comment")
            assert isinstance(page, Page)
            service.save_draft(person, page.step, {"comment": f"{WORDS}, begun"})
            service.submit(person, page.step, {"comment": WORDS}, {})
            assert any(WORDS.encode() in held for held in _files(lab))
            if way == "forget":
                service.actions.forget(person)
            else:
                service.leave(person, delete=True)
            for trace in (person, "ann-from-the-platform", WORDS):
                assert not any(trace.encode() in held for held in _files(lab))
    finally:
        event.remove(Engine, "connect", not_by_itself)


def _files(lab: Lab) -> list[bytes]:
    return [path.read_bytes() for path in lab.folder.glob("lab.sqlite*")]
