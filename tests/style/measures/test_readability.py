"""Syllables and readability.

Outside figures: an English sentence of 13 words and 24 syllables has a reading ease of 37.5
(Wikipedia, Flesch–Kincaid readability tests); syllables are those of the CMU Pronouncing
Dictionary.
"""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from empathylab.style.measures.readability import (
    flesch_kincaid_grade,
    flesch_reading_ease,
    syllable_counts,
)


def array(value: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array([value])


@pytest.mark.parametrize(
    ("syllables", "words"),
    [
        (1, "a the make makes loved tried friend you're don't hmm vague clothes"),
        (2, "table happy wanted boxes didn't maybe doing someone being sadness"),
        (3, "beautiful idea video family wonderful serious piano difficult area"),
        (4, "experience understanding appreciate situation"),
        (5, "university opportunity imagination"),
    ],
)
def test_syllables_are_those_of_the_dictionary(syllables: int, words: str) -> None:
    found = syllable_counts(pl.Series(words.split()))
    wrong = {word: int(n) for word, n in zip(words.split(), found, strict=True) if n != syllables}
    assert wrong == {}


def test_a_number_has_one_syllable() -> None:
    assert syllable_counts(pl.Series(["2024", "b", "难"])).tolist() == [1, 1, 1]


def test_reading_ease_is_the_published_figure() -> None:
    assert flesch_reading_ease(array(13), array(1), array(24))[0] == pytest.approx(37.5, abs=0.05)


def test_formulas_by_hand() -> None:
    # 100 words, 5 sentences, 140 syllables: 206.835 − 20.3 − 118.44; 7.8 + 16.52 − 15.59.
    assert flesch_reading_ease(array(100), array(5), array(140))[0] == pytest.approx(68.095)
    assert flesch_kincaid_grade(array(100), array(5), array(140))[0] == pytest.approx(8.73)


def test_nothing_to_read_has_no_readability() -> None:
    assert np.isnan(flesch_reading_ease(array(0), array(0), array(0))[0])
    assert np.isnan(flesch_kincaid_grade(array(0), array(0), array(0))[0])
