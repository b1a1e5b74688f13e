"""Chats: several turns with a fixed text or another participant, and what becomes of them."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from empathylab.errors import UserError
from empathylab.store import Lab, schema
from empathylab.study import parse_study
from empathylab.study.exports.folders import export_study
from empathylab.study.session.service import (
    Finished,
    Moved,
    Page,
    Refused,
    Saved,
    StudyService,
    launch,
)
from tests.study.service_examples import Clock, rows_of, someone
from tests.study.web.console.researchers import at_console

CHAT = """\
name: talk
version: 1
title: A talk
languages: [en]
seed: 7
recruitment: {platform: open, codes: {completed: DONE, interrupted: SORRY, safety: CARE}}
help: Call 123.
live:
  authors:
    fixed: {text: Tell me more., written_by: person}
  people_per_condition: 20
  delay: {minimum: 5, maximum: 9}
blocks:
  - {block: consent, text: "Take part?"}
  - block: chat
    text: Talk.
    turns: 3
    every: 2
    questions: [{name: heard, label: Heard, kind: choice, options: ["1", "2", "3"]}]
  - {block: feel, scale: recipient}
  - {block: debrief, text: Thank you.}
"""
PARTNER, TELL = (
    "partner: {person: participant}",
    "  - {block: tell, text: Tell us., minimum_words: 2}",
)
PEER = (
    CHAT.replace("fixed: {text: Tell me more., written_by: person}", PARTNER)
    .replace("  delay:", "  people: {wait: {minimum: 0, maximum: 60}, reply_within: 120}\n  delay:")
    .replace("    turns: 3\n    every: 2\n", "    opens_with: tell\n    turns: 2\n")
    .replace("  - block: chat", f"{TELL}\n  - block: chat")
)


def opened(lab: Lab, text: str) -> tuple[StudyService, Clock]:
    clock, study = Clock(), parse_study(text)
    launch(lab, study, now=clock())
    return StudyService(lab, study.name, clock=clock), clock


def page_of(service: StudyService, person: str) -> Page:
    page = service.view(person)
    assert isinstance(page, Page), page
    return page


def send(service: StudyService, person: str, **values: str) -> Any:
    return service.submit(person, page_of(service, person).step, values)


def turns_on(page: Page) -> list[tuple[str, str]]:
    return [turn for part in page.content.parts if part.reply for turn in part.reply.chat]


def waits(page: Page) -> bool:
    return page.content.live is not None and page.content.live.waiting


def test_a_chat_is_a_page_for_each_message_and_waits_for_each_reply(lab: Lab) -> None:
    service, clock = opened(lab, CHAT)
    ann = someone(service, "ann")
    send(service, ann, agree="yes")
    assert page_of(service, ann).step == "chat/1"
    assert isinstance(send(service, ann, message=""), Refused)
    assert isinstance(send(service, ann, message="Hello"), Saved)
    page = page_of(service, ann)
    assert (page.step, waits(page), turns_on(page)) == ("chat/2", True, [("you", "Hello")])
    assert isinstance(send(service, ann, message="Too soon"), Moved)
    clock.skip(seconds=10)
    page = page_of(service, ann)
    assert turns_on(page) == [("you", "Hello"), ("other", "Tell me more.")]
    assert [ask.name for ask in page.content.asks] == ["message"]
    assert service.submit(ann, "chat/1", {"message": "Hello"}) == Saved("chat/1")
    send(service, ann, message="Again")
    clock.skip(seconds=10)
    page = page_of(service, ann)
    assert [ask.name for ask in page.content.asks] == ["heard", "message"]
    assert page.content.live is not None
    assert page.content.live.can_end
    send(service, ann, heard="3", end="yes")
    assert page_of(service, ann).step == "feel"
    (conversation,) = rows_of(lab, schema.live_conversations)
    assert (conversation["state"], conversation["reason"]) == ("ended", "participant")
    turns = rows_of(lab, schema.live_turns)
    assert [(turn["position"], turn["text"]) for turn in turns] == [
        (1, "Hello"),
        (2, "Tell me more."),
        (3, "Again"),
        (4, "Tell me more."),
    ]
    assert all(turn["shown_at"] >= turn["due_at"] for turn in turns)


def test_the_turn_limit_ends_a_chat_after_the_last_reply(sqlite_lab: Lab) -> None:
    service, clock = opened(sqlite_lab, CHAT)
    ann = someone(service, "ann")
    send(service, ann, agree="yes")
    for number in range(3):
        send(service, ann, message=f"Message {number}", heard="2")
        clock.skip(seconds=10)
    page = page_of(service, ann)
    assert (page.step, page.content.asks) == ("chat/4", ())
    assert len(turns_on(page)) == 6
    send(service, ann)
    assert rows_of(sqlite_lab, schema.live_conversations)[0]["reason"] == "limit"


def test_a_forged_form_does_not_end_a_chat_before_enough_messages_are_answered(
    sqlite_lab: Lab,
) -> None:
    service, clock = opened(sqlite_lab, CHAT.replace("turns: 3", "turns: 3\n    minimum_turns: 2"))
    ann = someone(service, "ann")
    send(service, ann, agree="yes")
    for number in (1, 2):
        assert isinstance(send(service, ann, end="yes"), Refused)
        assert isinstance(send(service, ann, message="Hello", end="yes"), Saved)
        clock.skip(seconds=10)
        assert page_of(service, ann).step == f"chat/{number + 1}"
    assert isinstance(send(service, ann, end="yes"), Saved)
    assert rows_of(sqlite_lab, schema.live_conversations)[0]["reason"] == "participant"


def test_crisis_words_end_a_chat_with_help(sqlite_lab: Lab) -> None:
    service, _ = opened(sqlite_lab, CHAT)
    ann = someone(service, "ann")
    send(service, ann, agree="yes")
    send(service, ann, message="I want to kill myself")
    end = service.view(ann)
    assert isinstance(end, Finished)
    assert (end.outcome, end.completion.code) == ("safety", "CARE")
    (conversation,) = rows_of(sqlite_lab, schema.live_conversations)
    assert conversation["reason"] == "safety"
    assert rows_of(sqlite_lab, schema.live_turns) == []


def told(service: StudyService, name: str) -> str:
    """A participant who has told a story and stands in the waiting room."""
    person = someone(service, name)
    send(service, person, agree="yes")
    send(service, person, story=f"The story of {name}")
    assert page_of(service, person).step == "chat/room"
    return person


def a_pair(service: StudyService) -> tuple[str, str]:
    """Two participants who have told their stories and been brought together."""
    ann, bob = told(service, "ann"), told(service, "bob")
    for person in (ann, bob):
        page_of(service, person)
        send(service, person)
    return ann, bob


def test_two_participants_tell_and_reply_and_then_swap(lab: Lab) -> None:
    service, clock = opened(lab, PEER)
    ann = told(service, "ann")
    assert waits(page_of(service, ann))
    bob, cy = told(service, "bob"), told(service, "cy")
    assert not waits(page_of(service, ann))
    assert not waits(page_of(service, bob))
    assert waits(page_of(service, cy))
    for person in (ann, bob):
        assert isinstance(send(service, person), Saved)

    assert waits(page_of(service, ann))
    page = page_of(service, bob)
    assert (page.step, turns_on(page)) == ("chat/reply/1", [("other", "The story of ann")])
    send(service, bob, message="That is hard, ann")
    assert waits(page_of(service, bob))
    clock.skip(seconds=10)
    page = page_of(service, ann)
    assert turns_on(page)[-1] == ("other", "That is hard, ann")
    send(service, ann, message="Thank you", heard="3")
    send(service, bob, message="Any time")
    clock.skip(seconds=10)
    send(service, ann, heard="3")

    assert page_of(service, bob).step == "chat/1"
    page = page_of(service, ann)
    assert (page.step, turns_on(page)) == ("chat/reply/1", [("other", "The story of bob")])
    send(service, ann, message="I see, bob")
    clock.skip(seconds=10)
    assert turns_on(page_of(service, bob))[-1] == ("other", "I see, bob")
    first, second, third = rows_of(lab, schema.live_conversations)
    assert (first["partner_id"], second["partner_id"]) == (second["id"], first["id"])
    assert (third["partner_id"], third["state"]) == (None, "waiting")


def test_an_open_study_lists_no_pages_that_tell_who_replies(
    sqlite_lab: Lab, tmp_path: Path
) -> None:
    """Those with a partner have pages to reply to them, and more of them."""
    text = PEER.replace(PARTNER, f"fixed: {{text: Tell me more.}}\n    {PARTNER}")
    text = text.replace("wait: {minimum: 0, maximum: 60}", "wait: {minimum: 0, maximum: 1}")
    service, clock = opened(sqlite_lab, text)
    people = [told(service, f"p{number}") for number in range(4)]
    clock.skip(seconds=10)
    for person in people:
        page_of(service, person)
        clock.skip(seconds=2)
        send(service, person)
    for person in people:
        if page_of(service, person).step == "chat/reply/1":
            send(service, person, message="I see")
    pages = {row["step"] for row in rows_of(sqlite_lab, schema.page_answers)}
    assert "chat/reply/1" in pages
    arms = {row["person"]: row["arm"] for row in rows_of(sqlite_lab, schema.slots)}
    assert set(arms.values()) == {"fixed", "partner"}
    with at_console(service) as visitor:
        files = [
            visitor.post("/console/downloads", file=name).text
            for name in ("page-times.csv", "participants.csv")
        ]
        shown = [visitor.get(f"/console/participant?key={person}").text for person in people]
        export_study(sqlite_lab, "talk", tmp_path / "open")
        service.actions.close()
        closed = visitor.post("/console/downloads", file="page-times.csv").text
    for seen in (*files, *shown, (tmp_path / "open" / "pages.csv").read_text()):
        assert "chat/" not in seen
    rows = csv.DictReader(io.StringIO(files[1]))
    assert {row["answered"] for row in rows} == {"2"}
    assert "chat/reply/1" in closed


def test_a_reply_that_would_hurt_is_not_passed_on_and_a_second_tab_changes_nothing(
    sqlite_lab: Lab,
) -> None:
    service, clock = opened(sqlite_lab, PEER)
    ann, bob = a_pair(service)
    page_of(service, ann)
    refused = send(service, bob, message="You are pathetic, ann")
    assert isinstance(refused, Refused)
    assert refused.problems["message"].code == "hurtful"
    assert send(service, bob, message="That is hard") == Saved("chat/reply/1")
    service.submit(bob, "chat/reply/1", {"message": "From another tab"})
    clock.skip(seconds=10)
    assert turns_on(page_of(service, ann))[-1] == ("other", "That is hard")
    # Those who tell may say what was said to them.
    assert isinstance(send(service, ann, message="He said: you are pathetic", heard="1"), Saved)
    service.submit(ann, "chat/1", {"message": "Other words", "heard": "3"})
    kept = [turn["text"] for turn in rows_of(sqlite_lab, schema.live_turns)]
    assert kept == ["The story of ann", "That is hard", "He said: you are pathetic", None]


def test_a_partner_who_leaves_ends_the_conversation_for_the_other(lab: Lab) -> None:
    service, clock = opened(lab, PEER)
    ann, _bob = a_pair(service)
    assert waits(page_of(service, ann))
    clock.skip(seconds=130)
    page = page_of(service, ann)
    assert page.content.live is not None
    assert page.content.live.ended == "left"
    send(service, ann, end="yes")
    page = page_of(service, ann)
    assert page.content.live is not None
    assert (page.step, page.content.live.ended) == ("chat/reply/1", "left")
    send(service, ann, end="yes")
    assert page_of(service, ann).step == "feel"


def test_a_partner_in_crisis_ends_the_conversation_for_the_other_without_saying_why(
    sqlite_lab: Lab,
) -> None:
    service, clock = opened(sqlite_lab, PEER)
    ann, bob = a_pair(service)
    page_of(service, ann)
    send(service, bob, message="That is hard")
    clock.skip(seconds=10)
    send(service, ann, message="I want to die", heard="1")
    assert isinstance(service.view(ann), Finished)
    kept = [(row["state"], row["reason"]) for row in rows_of(sqlite_lab, schema.live_conversations)]
    assert kept == [("ended", "safety"), ("ended", "left")]
    page = page_of(service, bob)
    assert (waits(page), "want to die" in repr(page)) == (False, False)
    send(service, bob, end="yes")
    page = page_of(service, bob)
    assert page.content.live is not None
    assert (page.step, page.content.live.ended) == ("chat/1", "left")


def test_nobody_waits_for_a_partner_forever(sqlite_lab: Lab) -> None:
    service, clock = opened(sqlite_lab, PEER)
    ann = told(service, "ann")
    clock.skip(seconds=70)
    end = service.view(ann)
    assert isinstance(end, Finished)
    assert (end.outcome, end.completion.code) == ("interrupted", "SORRY")


def test_another_author_answers_where_nobody_comes(sqlite_lab: Lab) -> None:
    text = PEER.replace("reply_within: 120", "reply_within: 120, otherwise: spare").replace(
        "  people_per", "    spare: {text: Go on.}\n  people_per"
    )
    service, clock = opened(sqlite_lab, text)
    people = [told(service, name) for name in ("ann", "bob")]
    clock.skip(seconds=70)
    for person in people:
        assert not waits(page_of(service, person))
        send(service, person)
        page_of(service, person)
    clock.skip(seconds=10)
    assert all(turns_on(page_of(service, person))[-1][1] == "Go on." for person in people)


def test_a_partner_who_has_gone_is_not_waited_for_and_can_come_back(sqlite_lab: Lab) -> None:
    service, clock = opened(sqlite_lab, PEER)
    ann = told(service, "ann")
    clock.skip(seconds=40)
    bob = told(service, "bob")
    assert waits(page_of(service, bob))
    assert not waits(page_of(service, ann))
    assert not waits(page_of(service, bob))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("turns: 2", "turns: 2\n    minimum_turns: 3", "2 or less"),
        ("opens_with: tell", "opens_with: story", "no block tell with the id 'story'"),
        ("reply_within: 120", "reply_within: 120, otherwise: me", "one of end"),
    ],
)
def test_a_chat_that_cannot_be_held_is_refused(old: str, new: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        parse_study(PEER.replace(old, new))


def test_what_someone_wrote_to_a_partner_is_deleted_with_all_else(lab: Lab) -> None:
    service, clock = opened(lab, PEER)
    ann, bob = a_pair(service)
    page_of(service, ann)
    send(service, bob, message="My own secret")
    service.leave(bob, delete=True)
    kept = [turn["text"] for turn in rows_of(lab, schema.live_turns)]
    assert kept == ["The story of ann", ""]
    clock.skip(seconds=10)
    send(service, ann, message="And then", heard="2")
    page = page_of(service, ann)
    assert page.content.live is not None
    assert page.content.live.ended == "left"
