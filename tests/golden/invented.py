"""A small rated study with texts made up here, the same on every machine."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

EVENTS = {
    "sad": ("the cat I grew up with died", "my best friend moved to another country"),
    "afraid": ("the doctor wants to see me again", "I heard steps behind me on the way home"),
    "angry": ("a colleague sold my idea as hers", "the landlord kept our whole deposit"),
    "joyful": ("my sister had her baby this morning", "we found the house we dreamt of"),
    "proud": ("I ran my first ten kilometres", "my son played his first solo on the cello"),
    "grateful": ("a stranger brought my wallet back", "my neighbour cooked for us all week"),
}
POSITIVE = ("joyful", "proud", "grateful")
WHEN = ("Yesterday", "Last week", "An hour ago", "On Sunday")
OPENINGS = {
    "human": ("Oh no!", "Wow.", "Really?", "I see..."),
    "kind/model": ("I can only imagine how that feels.", "Thank you for telling me this."),
    "brief/model": ("Noted.", "Okay."),
}
ENDINGS = {
    "human": ("I went through the same thing :)", "Call me tonight?", "That's life, isn't it."),
    "kind/model": (
        "It makes sense that you feel {emotion}; would you like to talk about what comes next?",
        "Please be gentle with yourself, and remember that you are not alone.",
    ),
    "brief/model": ("Next time, write it down.", "You should wait."),
}
LIKED = {"human": 0.1, "kind/model": 0.7, "brief/model": -0.9}
PEOPLE = tuple(f"person {number}" for number in range(1, 7))
JUDGES = ("lenient/judge", "wordy/judge")
RESPONDENTS = tuple(LIKED)


def chance(*key: object) -> float:
    """A number from 0 to 1 that depends on the key alone."""
    found = hashlib.sha256("|".join(map(str, key)).encode()).digest()
    return int.from_bytes(found[:6], "big") / 2**48


def choice(options: Sequence[str], *key: object) -> str:
    return options[int(chance(*key) * len(options))]


def situations() -> Iterator[dict[str, str]]:
    """Each event at each time: 48 situations."""
    for emotion, events in EVENTS.items():
        for number, event in enumerate(events):
            for place, when in enumerate(WHEN):
                yield {
                    "situation": f"{emotion}-{number}{place}",
                    "situation_text": f"{when} {event}. I feel {emotion}.",
                    "emotion": emotion,
                    "valence": "positive" if emotion in POSITIVE else "negative",
                }


def reply(respondent: str, situation: Mapping[str, str]) -> str:
    """A reply in the respondent's manner."""
    key = situation["situation"]
    opening = choice(OPENINGS[respondent], "opening", respondent, key)
    ending = choice(ENDINGS[respondent], "ending", respondent, key)
    return f"{opening} {ending.format(emotion=situation['emotion'])}"


def rating(rater: str, respondent: str, situation: str) -> int:
    """From 1 to 5: the respondent's and the situation's part, the rater's habit, and scatter."""
    habit = 1.4 * (chance("habit", rater) - 0.5)
    shared = 1.6 * (chance("shared", respondent, situation) - 0.5)
    own = 1.8 * (chance("own", rater, respondent, situation) - 0.5)
    return min(5, max(1, round(3 + LIKED[respondent] + habit + shared + own)))


def rows(*, judges: bool) -> Iterator[dict[str, object]]:
    """A row per rating: each person rates about two thirds of the replies, each judge all."""
    for situation in situations():
        for respondent in RESPONDENTS:
            base = {**situation, "respondent": respondent, "text": reply(respondent, situation)}
            for person in PEOPLE:
                if chance("asked", person, respondent, situation["situation"]) < 0.67:
                    given = rating(person, respondent, situation["situation"])
                    yield {**base, "rater": person, "rater_kind": "person", "rating": given}
            for judge in JUDGES if judges else ():
                given = rating(judge, respondent, situation["situation"])
                yield {**base, "rater": judge, "rater_kind": "model", "rating": given}


def write_ratings(path: Path, *, judges: bool) -> Path:
    """Writes the ratings as a long CSV table."""
    return write_table(path, list(rows(judges=judges)))


def write_raters(path: Path) -> Path:
    """Writes a table about the people who rated."""
    ages = [{"rater": person, "age": 20 + int(40 * chance("age", person))} for person in PEOPLE]
    return write_table(path, ages)


def write_table(path: Path, content: Sequence[Mapping[str, object]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(content[0]))
        writer.writeheader()
        writer.writerows(content)
    return path
