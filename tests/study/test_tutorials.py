"""The tutorials of the presets: what their examples teach, and that they give no item away."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache

import pytest

from empathylab.situations import builtin_sets
from empathylab.situations.near_duplicates import plain_words, word_pairs
from empathylab.study import Study, parse_study, preset_text
from empathylab.study.blocks.tutorial import Tutorial
from empathylab.study.demo import demo_release, demo_study
from tests.study.examples import SITUATION_PRESETS

RATED = ("between-subjects", "within-subjects", "demo")

# By words of its situation: whether an example tells of something pleasant.
PLEASANT = {
    "become a citizen": True,
    "dance class": True,
    "paintings hang": True,
    "Got the job": True,
    "It rose": True,
    "Moving in together": True,
    "broken into": False,
    "left his sister's wedding": False,
    "with a walker": False,
    "Our baby wakes": False,
    "Deposit": False,
    "Fight with my best friend": False,
}
# What version 0.1 taught with: situation, reply, rating and whether it is pleasant.
BEFORE = (
    (
        "A man's dog died after fourteen years. He says: I still put out the bowl this morning.",
        "You can get a new one from the shelter. They have many nice dogs.",
        "Bad",
        False,
    ),
    (
        (
            "New here. I moved for work in March. I know the bus driver's name and nobody else's. "
            "Weekends are very long."
        ),
        "Weekends are when you notice it, are they not?",
        "Okay",
        False,
    ),
    (
        (
            "A woman has trained for a year for her first marathon. She says: I crossed the line "
            "yesterday. I cried like a child, and I could not stop smiling."
        ),
        "A whole year of mornings, and then that line under your feet!",
        "Good",
        True,
    ),
)


def study_of(name: str) -> Study:
    return demo_study() if name == "demo" else parse_study(preset_text(name))


def examples(name: str) -> Iterator[tuple[str, str, str]]:
    """Situation, reply and rating of each worked example."""
    for block in study_of(name).blocks:
        if isinstance(block, Tutorial):
            for example in block.examples:
                parts = (example.situation, example.reply, example.rating)
                yield tuple(part.in_language("en") if part else "" for part in parts)  # type: ignore[misc]


def rated(name: str) -> Iterator[tuple[str, str, bool]]:
    """Dimension, point and whether the situation is pleasant, of each rating of an example."""
    for situation, _, rating in examples(name):
        [pleasant] = [value for words, value in PLEASANT.items() if words in situation]
        named = re.findall(r"(Empathetic|Helpful): ([\w ]+)\.", rating) or [("", rating)]
        yield from ((dimension, point, pleasant) for dimension, point in named)


@pytest.mark.parametrize("name", RATED)
def test_every_point_of_every_scale_has_an_example(name: str) -> None:
    labels = {
        label.in_language("en")
        for dimension in study_of(name).dimensions
        for label in dimension.labels
    }
    for dimension in {dimension for dimension, _, _ in rated(name)}:
        assert {point for one, point, _ in rated(name) if one == dimension} == labels


def confounded(ratings: Iterable[tuple[str, bool]]) -> bool:
    """Whether pleasant situations get the better ratings, or the worse."""
    order = ("Bad", "Okay", "Good", "Not at all", "Slightly", "Moderately", "Very", "Extremely")
    places: dict[bool, list[int]] = {True: [], False: []}
    for point, pleasant in ratings:
        places[pleasant].append(order.index(point))
    return min(places[True]) > max(places[False]) or max(places[True]) < min(places[False])


@pytest.mark.parametrize("name", ["between-subjects", "demo"])
def test_each_rating_has_a_pleasant_and_an_unpleasant_example(name: str) -> None:
    assert Counter((point, pleasant) for _, point, pleasant in rated(name)) == {
        (point, pleasant): 1 for point in ("Bad", "Okay", "Good") for pleasant in (True, False)
    }


@pytest.mark.parametrize("name", RATED)
def test_the_examples_do_not_confound_valence_with_the_rating(name: str) -> None:
    for dimension in {one for one, _, _ in rated(name)}:
        assert not confounded(
            (point, pleasant) for one, point, pleasant in rated(name) if one == dimension
        )
    assert confounded((rating, pleasant) for _, _, rating, pleasant in BEFORE)


@pytest.mark.parametrize("name", RATED)
def test_good_advice_and_good_self_disclosure_are_rated_well(name: str) -> None:
    best = {"Good", "Very", "Extremely"}
    for words in (r"Perhaps ask her|Who could take him", r"\bI (?:cried at mine|carried my)"):
        [rating] = [rating for _, reply, rating in examples(name) if re.search(words, reply)]
        assert any(point in rating for point in best)


@pytest.mark.parametrize("name", RATED)
def test_over_validation_and_formulaic_warmth_are_not_rated_well(name: str) -> None:
    replies = [(reply, rating) for _, reply, rating in examples(name)]
    for words in (r"\bvalid\b", r"Congratulations!|I'm so sorry to hear"):
        for reply, rating in replies:
            if re.search(words, reply):
                assert not any(point in rating for point in ("Good", "Very", "Extremely"))
        assert any(re.search(words, reply) for reply, _ in replies)


@pytest.mark.parametrize("name", RATED)
def test_no_point_is_explained_by_the_raters_own_reply(name: str) -> None:
    words = " ".join(
        page.in_language("en")
        for block in study_of(name).blocks
        if isinstance(block, Tutorial)
        for page in block.pages
    )
    questions = " ".join(
        dimension.question.in_language("en") for dimension in study_of(name).dimensions
    )
    assert not re.search(r"your own reply|you would have (?:replied|said)", f"{words} {questions}")


def test_each_point_is_explained_by_a_line_of_its_own() -> None:
    for name in RATED:
        [tutorial] = [block for block in study_of(name).blocks if isinstance(block, Tutorial)]
        text = " ".join(page.in_language("en") for page in tutorial.pages)
        for label in study_of(name).dimensions[0].labels:
            assert f"- **{label.in_language('en')}**: " in text


# -- leakage ------------------------------------------------------------------------------------


def stems(text: str) -> tuple[str, ...]:
    """The words without a final s: `driver's` and `driver` are the same."""
    return tuple(word.rstrip("s") for word in plain_words(text))


@cache
def items() -> dict[str, tuple[str, ...]]:
    """The words of all that raters may see: built-in situations, and replies of the demo."""
    found = {
        one.id: stems(" ".join(filter(None, (one.title, one.text, one.utterance))))
        for chosen in builtin_sets().values()
        for one in chosen
    }
    replies = demo_release().replies
    return found | {f"{reply.situation}/{reply.respondent}": stems(reply.text) for reply in replies}


@cache
def holding() -> Counter[str]:
    return Counter(word for words in items().values() for word in set(words))


def rarity(word: str) -> float:
    return math.log((len(items()) + 1) / (holding()[word] + 1))


def cosine(one: Iterable[str], other: Iterable[str]) -> float:
    """How alike two texts are by their rarer words (TF-IDF with each word counted once)."""
    first, second = set(one), set(other)
    size = math.prod(math.sqrt(sum(rarity(word) ** 2 for word in part)) for part in (first, second))
    return sum(rarity(word) ** 2 for word in first & second) / size


def leaks(text: str, *, reply: bool = False) -> list[str]:
    """The items of its kind that the text resembles, or shares a pair of uncommon words with.

    Replies are short and use the same polite words, so more of them must be the same.
    """
    words = stems(text)

    def telling(pair: str) -> bool:
        parts = pair.split()
        return len(parts) == 2 and all(holding()[part] <= 0.03 * len(items()) for part in parts)

    pairs = set(filter(telling, word_pairs(words)))
    return [
        item
        for item, other in items().items()
        if ("/" in item) == reply
        and (pairs & word_pairs(other) or cosine(words, other) > (0.35 if reply else 0.2))
    ]


@pytest.mark.parametrize("name", [*SITUATION_PRESETS, "demo"])
def test_no_example_repeats_a_situation_or_a_reply(name: str) -> None:
    for situation, reply, _ in examples(name):
        assert leaks(situation) == [], situation
        assert not reply or leaks(reply, reply=True) == [], reply


def test_version_0_1_gave_two_situations_away() -> None:
    assert "sad-1" in leaks(BEFORE[0][0])
    assert "lonely-1" in leaks(BEFORE[1][0])
