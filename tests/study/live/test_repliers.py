"""One reply by a person: another participant who replies to a story, or a confederate."""

from __future__ import annotations

import pytest

from empathylab.errors import UserError
from empathylab.models import ScriptedModel
from empathylab.store import Lab, schema
from empathylab.study import parse_study
from empathylab.study.design.ethics import live_notes
from empathylab.study.live.confederates import ConfederateQueue
from empathylab.study.session.service import Finished, Page, Saved, StudyService, launch
from tests.study.live.examples import PROMPT, RECIPIENT, part, settle
from tests.study.service_examples import Clock, rows_of, someone

FIXED = "person: {text: Thank you for telling me., written_by: person}"
PEOPLE = "  people: {wait: {minimum: 0, maximum: 60}, reply_within: 120}\n  delay:"
RESPOND = (
    "{block: reply, respond: {text: Reply to them., story: I lost my keys., minimum_words: 2}}"
)
STUDY = (
    RECIPIENT.replace(FIXED, "person: {person: participant}")
    .replace("  delay:", PEOPLE)
    .replace("{block: reply}", RESPOND)
)
MODEL = f'    model: {{model: scripted/listener, prompt: "{PROMPT}"}}\n'
ONLY = STUDY.replace(MODEL, "")
TRAINED = RECIPIENT.replace(FIXED, "person: {person: confederate}").replace("  delay:", PEOPLE)
FALLBACK = "Thank you for sharing this."


def opened(lab: Lab, text: str = ONLY) -> tuple[StudyService, Clock]:
    clock, study = Clock(), parse_study(text)
    launch(lab, study, now=clock())
    return StudyService(lab, study.name, clock=clock), clock


def page_of(service: StudyService, person: str) -> Page:
    page = service.view(person)
    assert isinstance(page, Page), page
    return page


def teller(service: StudyService, name: str) -> str:
    """A participant who has told something, and stands before the story of someone else."""
    person = someone(service, name)
    service.submit(person, "consent", {"agree": "yes"})
    service.submit(person, "tell", {"story": f"The story of {name}"})
    return person


def tellers(service: StudyService, *names: str) -> list[str]:
    return [teller(service, name) for name in names]


def answered_by_people(service: StudyService) -> str:
    """The newest participant, to whom a person is to reply; nobody has taken their story yet."""
    for number in range(20):
        person = teller(service, f"p{number}")
        rows = rows_of(service.lab, schema.slots)
        if any(row["person"] == person and row["arm"].startswith("person") for row in rows):
            return person
    raise AssertionError


def respond(service: StudyService, person: str, text: str = "I hear you") -> None:
    assert isinstance(service.submit(person, "reply/respond", {"response": text}), Saved)


def reply_to(service: StudyService, person: str) -> str:
    return part(page_of(service, person), "reply")


def story_for(service: StudyService, person: str) -> str:
    return part(page_of(service, person), "shared")


def test_participants_reply_to_each_other_and_each_story_is_replied_to_once(lab: Lab) -> None:
    service, clock = opened(lab)
    ann, ben, cy = tellers(service, "ann", "ben", "cy")
    # Nobody had told anything before ann, so she replies to the study's own story.
    stories = ["I lost my keys.", "The story of ann", "The story of ben"]
    for _ in range(2):
        assert [story_for(service, person) for person in (ann, ben, cy)] == stories
    respond(service, ann, "Have you looked under the bed?")
    for _ in range(2):
        respond(service, ben, "That is hard, ann")
    clock.skip(seconds=10)
    assert reply_to(service, ann) == "That is hard, ann"
    live = page_of(service, ben).content.live
    assert live is not None
    assert live.waiting
    respond(service, cy, "Poor you, ben")
    assert reply_to(service, ben) == "Poor you, ben"
    first, second, third = rows_of(lab, schema.live_conversations)
    assert (first["partner_id"], second["partner_id"]) == (second["id"], third["id"])
    assert third["partner_id"] is None


def test_everybody_replies_to_a_story_also_where_a_model_answers_them(sqlite_lab: Lab) -> None:
    service, clock = opened(sqlite_lab, STUDY)
    people = tellers(service, *(f"p{number}" for number in range(8)))
    stories = [story_for(service, person) for person in people]
    for person in people:
        respond(service, person, f"{person} replies")
    settle(service, ScriptedModel(["I am with you."]))
    clock.skip(seconds=10)
    talks = rows_of(sqlite_lab, schema.live_conversations)
    authors = {row["id"]: row["author"] for row in talks}
    turns = rows_of(sqlite_lab, schema.live_turns)
    told = {row["text"]: authors[row["live_conversation_id"]] for row in turns}
    taken = [story for story in stories if story != "I lost my keys."]
    assert len(taken) == len(set(taken)) >= 3
    assert {told[story] for story in taken} == {"person"}
    assert {told[f"{person} replies"] for person in people if f"{person} replies" in told} == {
        "person"
    }
    assert told["I am with you."] == "model"


def test_a_story_that_nobody_takes_or_answers_in_time_gets_what_the_study_declares(
    sqlite_lab: Lab,
) -> None:
    service, clock = opened(sqlite_lab)
    ann, ben, cy = tellers(service, "ann", "ben", "cy")
    for person, text in ((ann, "I see"), (ben, "I see"), (cy, "Nobody loves you")):
        respond(service, person, text)
    clock.skip(seconds=10)
    assert reply_to(service, ben) == FALLBACK  # what hurts is kept back
    clock.skip(seconds=61)
    end = service.view(cy)
    assert isinstance(end, Finished)
    assert (end.outcome, end.completion.code) == ("interrupted", "SORRY")
    turns = [row for row in rows_of(sqlite_lab, schema.live_turns) if row["outcome"] == "fallback"]
    assert [(row["reason"], row["rejected"]) for row in turns] == [("unsafe", "Nobody loves you")]


def test_participants_who_take_a_story_and_go_are_replaced(lab: Lab) -> None:
    service, clock = opened(lab)
    ann, ben = tellers(service, "ann", "ben")
    respond(service, ann)
    service.submit(ben, "reply/respond", {"response": "I want to die"})
    end = service.view(ben)
    assert isinstance(end, Finished)
    assert end.outcome == "safety"
    cy = teller(service, "cy")
    assert story_for(service, cy) == "The story of ann"
    service.leave(cy, delete=True)
    clock.skip(seconds=10)
    assert reply_to(service, ann) == FALLBACK
    dora, _ = tellers(service, "dora", "emil")
    respond(service, dora)
    clock.skip(seconds=130)
    assert reply_to(service, dora) == FALLBACK
    turns = [row for row in rows_of(lab, schema.live_turns) if row["outcome"] == "fallback"]
    assert [row["reason"] for row in turns] == ["left", "left"]


@pytest.mark.parametrize(("otherwise", "reply"), [("spare", "Go on."), ("model", "I am here.")])
def test_another_author_answers_a_story_that_nobody_takes(
    sqlite_lab: Lab, otherwise: str, reply: str
) -> None:
    text = STUDY.replace("reply_within: 120", f"reply_within: 120, otherwise: {otherwise}")
    text = text.replace("  labels:", "    spare: {text: Go on.}\n  labels:")
    service, clock = opened(sqlite_lab, text)
    ann = answered_by_people(service)
    respond(service, ann)
    clock.skip(seconds=70)
    page_of(service, ann)
    settle(service, ScriptedModel(["I am here."]))
    assert reply_to(service, ann) == reply


def test_a_confederate_replies_to_a_story_once(sqlite_lab: Lab) -> None:
    only = TRAINED.replace(MODEL, "")
    service, clock = opened(sqlite_lab, only)
    ann, ben = tellers(service, "ann", "ben")
    for person in (ann, ben):
        assert page_of(service, person).step == "reply"
    queue = ConfederateQueue(service)
    assert queue.view("carl").waiting == 2
    assert queue.take_next("carl")
    (talk,) = queue.view("carl").taken
    assert talk.turns == (("participant", "The story of ann"),)
    assert talk.minutes_left == 1
    assert queue.reply("carl", talk.number, "I see, ann") == ""
    assert queue.view("carl").taken == ()
    clock.skip(seconds=10)
    assert reply_to(service, ann) == "I see, ann"
    queue.take_next("carl")
    clock.skip(seconds=130)
    assert reply_to(service, ben) == FALLBACK


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (STUDY.replace(RESPOND, "{block: reply}"), "the key 'respond' is missing"),
        (
            TRAINED.replace(f"  fallback: {FALLBACK}\n", "").replace(
                "model: {model: scripted/listener, prompt:", "fixed: {text:"
            ),
            "the key 'fallback' is missing: a person may not reply in time",
        ),
    ],
)
def test_a_study_in_which_a_person_cannot_answer_is_refused(text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        parse_study(text)


def test_the_check_says_when_waiting_for_a_person_can_identify_the_author() -> None:
    study = parse_study(STUDY)
    assert any("up to 180 s" in note for note in live_notes(study))
    slow = "delay: {minimum: 180, maximum: 200}"
    matched = parse_study(STUDY.replace("delay: {minimum: 1.2, maximum: 1.5}", slow))
    assert not any("identify" in note and "person" in note for note in live_notes(matched))
