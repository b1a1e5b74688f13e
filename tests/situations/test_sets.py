"""Built-in sets, and sets read from TOML."""

from __future__ import annotations

from collections import Counter

import pytest

from empathylab.errors import InputError, UnknownName
from empathylab.situations import (
    APPRAISAL_EMOTIONS,
    DIALOGUE_EMOTIONS,
    builtin_set,
    builtin_sets,
    valence_of,
)
from empathylab.situations.sets import parse_set

HEAD = """
id = "mine"
version = 1
title = "Mine"
language = "en"
licence = "CC0-1.0"
validated = false
description = "For a test."
"""
ONE = """
[[situations]]
id = "a"
emotion = "sad"
text = "It rained."
"""


def test_there_are_32_emotions_half_of_them_pleasant() -> None:
    assert len(DIALOGUE_EMOTIONS) == 32
    assert Counter(map(valence_of, DIALOGUE_EMOTIONS)) == {"positive": 16, "negative": 16}


def test_the_appraisal_set_covers_8_emotions_and_36_factors() -> None:
    chosen = builtin_set("appraisal")
    assert chosen.emotions == APPRAISAL_EMOTIONS
    per_factor = Counter((item.emotion, item.factor) for item in chosen)
    assert len(per_factor) == 36
    assert set(per_factor.values()) == {5}
    assert all(item.counterpart and item.counterpart != item.text for item in chosen)


def test_the_dialogue_set_covers_32_emotions_with_utterances() -> None:
    chosen = builtin_set("dialogues")
    assert chosen.emotions == DIALOGUE_EMOTIONS
    assert set(Counter(item.emotion for item in chosen).values()) == {6}
    assert all(item.utterance for item in chosen)
    assert all(item.valence in ("mixed", valence_of(item.emotion or "")) for item in chosen)


@pytest.mark.parametrize("set_id", sorted(builtin_sets()))
def test_no_two_built_in_situations_are_alike(set_id: str) -> None:
    texts = [" ".join(item.text.lower().split()) for item in builtin_set(set_id)]
    assert len(set(texts)) == len(texts)
    openings = Counter(" ".join(text.split()[:4]) for text in texts)
    assert openings.most_common(1)[0][1] <= 3


@pytest.mark.parametrize("set_id", sorted(builtin_sets()))
def test_built_in_sets_say_that_people_did_not_validate_them(set_id: str) -> None:
    chosen = builtin_set(set_id)
    assert chosen.validated is False
    assert "not validated on people" in chosen.description
    assert chosen.licence == "CC0-1.0"


def test_the_first_of_each_emotion_come_from_different_factors() -> None:
    picked = builtin_set("appraisal").first_per_group(3)
    assert len(picked) == 24
    assert len({(item.emotion, item.factor) for item in picked}) == 24


def test_the_first_of_each_factor_are_36() -> None:
    assert len(builtin_set("appraisal").first_per_factor(1)) == 36
    assert len(builtin_set("appraisal").first_per_factor(2)) == 72


def test_a_set_can_be_narrowed_to_an_emotion_and_a_factor() -> None:
    chosen = builtin_set("appraisal")
    assert {item.emotion for item in chosen.only(emotion="guilt")} == {"guilt"}
    assert len(chosen.only(factor="Winter")) == 5
    with pytest.raises(UnknownName, match="Did you mean 'Winter'"):
        chosen.only(factor="winer")
    with pytest.raises(UnknownName, match="Did you mean 'guilt'"):
        chosen.only(emotion="gilt")


def test_more_than_there_are_gives_all() -> None:
    assert len(builtin_set("dialogues").first_per_group(99)) == 192


def test_the_fingerprint_changes_with_a_single_letter() -> None:
    one = parse_set(HEAD + ONE, where="x")
    other = parse_set(HEAD + ONE.replace("rained", "reined"), where="x")
    assert one.fingerprint != other.fingerprint
    assert one.fingerprint == parse_set(HEAD + ONE, where="elsewhere").fingerprint


def test_valence_follows_from_a_known_emotion() -> None:
    assert parse_set(HEAD + ONE, where="x").situations[0].valence == "negative"


@pytest.mark.parametrize(
    ("toml", "sentence"),
    [
        ("id = ", "my.toml: this is not valid TOML"),
        (HEAD.replace('title = "Mine"', "") + ONE, "my.toml: 'title' is missing"),
        (HEAD + ONE + 'fator = "x"', "situation 1: there is no key 'fator'. Did you mean 'factor'"),
        (HEAD + ONE.replace("sad", ""), "situation 1: 'emotion' is missing. Add 'emotion', or"),
        (
            HEAD + ONE + 'valence = "odd"',
            "'valence' must be positive, negative or mixed; got 'odd'",
        ),
        (
            HEAD + ONE + 'tags = ["deth"]',
            "situation 1: there is no tag 'deth'. Did you mean 'death'",
        ),
        (HEAD + ONE + ONE, "two situations have the same id; got 'a'"),
    ],
)
def test_a_wrong_file_is_one_sentence(toml: str, sentence: str) -> None:
    with pytest.raises((InputError, UnknownName)) as caught:
        parse_set(toml, where="my.toml")
    assert sentence in str(caught.value)


def test_an_unknown_set_suggests_a_known_one() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'appraisal'"):
        builtin_set("apraisal")
