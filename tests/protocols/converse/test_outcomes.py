"""When a conversation ends, and which messages are faults, without any model."""

from __future__ import annotations

import pytest

from empathylab.protocols.converse.outcomes import (
    ending,
    person_fault,
    same_message,
    says_goodbye,
)
from empathylab.protocols.converse.persona import Persona
from empathylab.protocols.converse.transcript import State, Transcript, Turn, opening, states
from tests.helpers.conversing import KIND, persona

PERSON = persona(1, end={"success_at": 90, "failure_below": 10, "exchanges": 4})
DETAILS = ("The bowl is still full.", "Nobody in the street has seen it.", "I hear it at night.")


def talk(*feelings: float, last: str | None = None, need_met: str = "no") -> Transcript:
    """A chat with one reply per feeling; `last` is a message of the person after it."""
    turns: list[Turn] = []
    said = (PERSON.opening, *DETAILS)
    for number, feeling in enumerate(feelings):
        state = State({"feeling": feeling}, noticed=f"reply {number}", need_met=need_met)
        turns += [Turn("person", said[number]), Turn("respondent", KIND, state=state)]
    return tuple(turns) if last is None else (*turns, Turn("person", last))


def end(turns: Transcript, person: Persona = PERSON) -> tuple[str, str | None] | None:
    found = ending(person, turns)
    return None if found is None else (found.outcome, found.ended_by)


@pytest.mark.parametrize(
    ("feeling", "expected"),
    [
        (90, ("completed", "success")),
        (89.9, None),
        (10, None),
        (9.9, ("completed", "failure")),
    ],
)
def test_thresholds_are_exact(feeling: float, expected: tuple[str, str] | None) -> None:
    assert end(talk(feeling)) == expected


def test_the_limit_is_the_last_reply() -> None:
    assert end(talk(50, 51, 52)) is None
    assert end(talk(50, 51, 52, 53)) == ("completed", "limit")
    assert end((opening(PERSON),)) is None


def test_an_update_that_cannot_be_read_is_no_state() -> None:
    unread = State({"feeling": 99.0}, problem="no JSON object in the answer")
    turns = (*talk(50), Turn("person", "Well."), Turn("respondent", "Hm.", state=unread))
    assert [state.score for state in states(PERSON, turns)] == [PERSON.start["feeling"], 50]
    assert end(turns) == ("off_schema", None)


def test_a_goodbye_is_early_before_its_reply_unless_the_need_is_met() -> None:
    assert end(talk(50, 51, last="Okay, bye.")) == ("early_goodbye", None)
    assert end(talk(50, 51, last="Okay, bye.", need_met="yes")) == ("completed", "goodbye")
    assert end(talk(50, 51, 52, last="Okay, bye.")) == ("completed", "goodbye")


def test_three_equal_updates_ignore_the_reply() -> None:
    def unmoved(count: int) -> Transcript:
        return tuple(
            Turn("respondent", KIND, state=State(dict(PERSON.start))) for _ in range(count)
        )

    assert end(unmoved(2)) is None
    assert end(unmoved(3)) == ("ignored_reply", None)


def test_small_changes_make_no_new_message_and_a_shared_topic_no_old_one() -> None:
    first = "I keep looking at the empty bowl and wonder where it is."
    assert same_message(first, "I keep looking at the empty bowl, and I wonder where it is!")
    assert not same_message(first, "I keep looking at the door and hope that it comes home.")


@pytest.mark.parametrize(
    "text",
    [
        "Okay, thanks. Goodbye.",
        "Thanks, bye!",
        "I feel a bit better. Talk to you later.",
        "Have a good evening.",
        "Danke. Tschüss!",
        "Na dann, gute Nacht.",
        "谢谢你。再见！",
        "好吧，那先这样吧。",
    ],
)
def test_a_goodbye_is_found(text: str) -> None:
    assert says_goodbye(text)


@pytest.mark.parametrize(
    "text",
    [
        "I never got to say goodbye to her.",
        "He left without a goodbye, and that hurts.",
        "I just want to have a good day for once.",
        "It was not a good night.",
        "Ich konnte ihm nicht einmal tschüss sagen.",
        "Das war keine gute Nacht.",
        "我没来得及跟他说再见就走了",
        "我很想再见到她。",
    ],
)
def test_talk_about_a_goodbye_is_none(text: str) -> None:
    assert not says_goodbye(text)


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("As an AI language model, I do not have feelings.", "assistant_speech"),
        ("As an AI, I cannot feel this.", "assistant_speech"),
        ("I'm a helpful assistant.", "assistant_speech"),
        ("It sounds like you've been carrying a lot.", "role_inversion"),
        ("I'm here for you.", "role_inversion"),
        ("I work as an assistant at a law firm, so everyone sees it.", None),
        ("I'm an assistant manager and nobody listens to me.", None),
        ("As an AI engineer I should know better.", None),
        ("It sounds like you're blaming me for this.", None),
        ("It seems like you have no idea what it is like.", None),
    ],
)
def test_who_speaks_is_seen_in_what_they_claim_to_be(text: str, outcome: str | None) -> None:
    found = person_fault(text, "en")
    assert (found and found.outcome) == outcome
