"""Phrases are found wherever their words follow each other in a sentence."""

from __future__ import annotations

import polars as pl
import pytest

from empathylab.style import features
from empathylab.style.measures.lexicons import word_list


def phrases(text: str, *entries: str) -> int:
    frame = pl.DataFrame({"respondent": ["a"], "situation": ["s"], "text": [text]})
    lexicons = [word_list("wanted", entries)]
    found = features(frame, lexicons=lexicons, sentiment=False, diversity=False)
    return int(found["wanted"].item())


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("red apple", 1),
        ("a red apple here", 1),
        ("red", 0),
        ("apple red", 0),
        ("red green apple", 0),
        ("red/apple", 1),
        ("green/red apple/pie", 1),
        ("red — apple", 1),
        ("red, apple", 1),
        ("red. Apple", 0),
        ("red\napple", 0),
        ("red apple red apple", 2),
        ("red red apple apple", 1),
        ("red x x apple", 0),
    ],
)
def test_a_phrase_is_counted_where_its_words_stand_together(text: str, count: int) -> None:
    assert phrases(text, "red apple") == count


def test_a_text_does_not_go_on_in_the_next() -> None:
    frame = pl.DataFrame({"respondent": "a", "situation": [1, 2], "text": ["red", "apple"]})
    lexicons = [word_list("wanted", ["red apple"])]
    found = features(frame, lexicons=lexicons, sentiment=False, diversity=False)
    assert found["wanted"].to_list() == [0, 0]


def test_lists_of_one_name_with_other_words_count_other_words() -> None:
    assert [phrases("red apple", value) for value in ("red", "pear", "red apple", "apple")] == [
        1, 0, 1, 1
    ]  # fmt: skip
