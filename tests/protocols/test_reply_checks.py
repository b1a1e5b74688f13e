"""Which replies may be shown to raters, and why others may not."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest

from empathylab.protocols import Expected, check_reply

TOLD = "My train was cancelled and I missed the last evening I could have had with my aunt."
SYSTEM = "You are a friend who listens with empathy. Reply in about 28 words. Write only the reply."
EXPECTED = Expected(prompt=(SYSTEM, TOLD), least_words=2, most_words=97)
POST = Expected(prompt=(TOLD,), least_words=100, most_words=150)


def outcome(text: str, expected: Expected = EXPECTED, *, cut_off: bool = False) -> str:
    return check_reply(text, expected, cut_off=cut_off).outcome


@pytest.mark.parametrize(
    "reply",
    [
        "I'm so sorry. That evening mattered to you.",
        "Oh no, no, no. That is awful!",
        "I won't pretend to know how that feels, but I am here.",
        "I can't help but think of how much you wanted to be there.",
        "I've only had cats, so I can't really offer advice, but that sounds rough.",
        "I'm sorry, but I can't believe they did that to you!",
        "As an AI researcher I travel a lot, and that railway is a disgrace.",
        "My brother once told me: nobody can take those years from you. Do you want to talk?",
        '"It will be fine" is easy to say. "I am sad" is harder. I hear you.',
        "You missed the last evening, and there is no way to get it back. I feel for you.",
        "Oh no!",
        "Can you please please?",
        "These words are hard to translate.",
        "Ha ha ha ha ha, of course it did! Trains, honestly.",
    ],
)
def test_what_a_person_might_say_may_be_rated(reply: str) -> None:
    assert check_reply(reply, EXPECTED) == ("valid", None)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("", "empty"),
        ("  \n ", "empty"),
        ("🌱🌱🌱 … 🌱", "empty"),
        ("I'm sorry, but I can't assist with that.", "refusal"),
        ("I'm really sorry, but I'm unable to provide the help you need.", "refusal"),
        ("I must respectfully decline.", "refusal"),
        ("It would be inappropriate for me to respond.", "refusal"),
        ("As an AI, I have no trains to miss, but that sounds sad.", "meta_talk"),
        ("I’m just a language model, yet I feel for you.", "meta_talk"),
        ("I am only an AI language model. Sorry to hear it!", "meta_talk"),
        ("Sure! Here is a reply: That must have hurt.", "meta_talk"),
        ("Here's a possible empathetic response:\n\nThat must have hurt.", "meta_talk"),
        ("Listener: That must have hurt.", "meta_talk"),
        ("**Response:** That must have hurt.", "meta_talk"),
        ("That must have hurt.\nSpeaker: It did.\nListener: I see.", "meta_talk"),
        ('I would say something like, "That must have hurt."', "meta_talk"),
        ("“That must have hurt. Were you close?”", "meta_talk"),
        ("That must have hurt. Were you close? (8 words)", "meta_talk"),
        ("Dear [Name], that must have hurt.", "meta_talk"),
        ("This is clumsy, but I can rephrase it: the train was late.", "meta_talk"),
        ("Empathy: sharing what others feel. Compassionate: showing care.", "meta_talk"),
        (TOLD, "echo"),
        (f"Answer to: {TOLD}", "echo"),
        ("You are a friend who listens with empathy.", "echo"),
        ("I am here for you, " * 5, "repetition"),
        ("I am so sorry. Trains! I am so sorry. What now? I am so sorry.", "repetition"),
        ("no " * 12, "repetition"),
        ("Oh.", "too_short"),
        ("word and other things " * 2 + " ".join(f"thing{n}" for n in range(140)), "too_long"),
    ],
)
def test_what_may_not_be_rated_is_named(reply: str, expected: str) -> None:
    verdict = check_reply(reply, EXPECTED)
    assert verdict.outcome == expected
    assert verdict.reason


def test_what_met_the_token_limit_is_truncated() -> None:
    assert outcome("That must have", cut_off=True) == "truncated"


def test_what_met_the_token_limit_before_a_word_is_not_merely_empty() -> None:
    verdict = check_reply("", EXPECTED, cut_off=True)
    assert verdict == ("truncated", "reached the token limit before the first word")


def test_a_loop_that_met_the_token_limit_is_a_loop() -> None:
    assert outcome("I am here for you, " * 30, cut_off=True) == "repetition"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (66, ("too_short", "far fewer than the 100 words")),
        (67, ("valid", "shorter than asked for (100 words)")),
        (100, ("valid", None)),
        (150, ("valid", None)),
        (151, ("valid", "longer than asked for (150 words)")),
        (225, ("valid", "longer than asked for (150 words)")),
        (226, ("too_long", "more than 1.5 times the 150 words")),
    ],
)
def test_half_as_much_again_is_tolerated_and_said(words: int, expected: tuple[str, str]) -> None:
    assert check_reply(" ".join(f"w{n}x" for n in range(words)), POST) == expected


def test_a_reply_in_another_language_is_named() -> None:
    reply = "Es tut mir sehr leid, dass du den letzten Abend mit ihr nicht haben konntest."
    assert check_reply(reply, EXPECTED) == ("wrong_language", "it is in German, not in English")


@pytest.mark.parametrize(
    "text",
    [
        " ".join(f"word{n}" for n in range(150_000)),
        "a" * 1_000_000,
        f"Oh{'!' * 1_000_000} no",
        "Oh" + "\n" * 1_000_000 + "no",
    ],
    ids=["words", "letters", "marks", "lines"],
)
def test_a_reply_of_a_megabyte_is_too_long(text: str) -> None:
    assert outcome(text) == "too_long"


@pytest.mark.shared_data
def test_published_replies_of_people_pass_and_canned_refusals_do_not(shared_data: Path) -> None:
    path = shared_data / "welivita" / "dataset_and_ratings.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))

    def counted(arm: str) -> Counter[str]:
        return Counter(
            outcome(row[f"response_{arm}"], Expected((row["speaker_uttr"],), 2, 97)) for row in rows
        )

    assert counted("human") == {"valid": 2000}
    # By grep: 64 are 'unable to provide the help that you need', 2 are 'unable to assist'.
    assert counted("chatgpt_empathy") == {"valid": 1934, "refusal": 66}


def test_two_thirds_of_the_least_words_are_just_enough() -> None:
    at_least_three = Expected(prompt=(TOLD,), least_words=3, most_words=97)
    assert check_reply("Oh dear.", at_least_three).outcome == "valid"
    assert check_reply("Oh.", at_least_three).outcome == "too_short"
