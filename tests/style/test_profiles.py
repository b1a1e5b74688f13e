"""Profiles of respondents.

Outside figures by R 4: t.test(c(3, 5, 8, 2)) gives 0.290019257701 to 8.709980742299; for y = 1, 2,
4, 7, 7, 9 in three clusters of two, sandwich::vcovCL(lm(y ~ 1), cluster, type = "HC0", cadjust =
TRUE) gives a standard error of 1.8929694486, and with qt(.975, 2) -3.14479016535 to 13.14479016535.
"""

from __future__ import annotations

import math

import polars as pl
import pytest

from empathylab.errors import InputError
from empathylab.style import MARKS, features, profile_table, profiles, word_list
from empathylab.style.profiles import Profile


def of_words(counts: list[int | None], situations: list[int] | None = None) -> Profile:
    texts = [None if n is None else " ".join(["word"] * n) for n in counts]
    frame = pl.DataFrame(
        {"respondent": "a", "situation": situations or range(len(counts)), "text": texts},
        schema_overrides={"text": pl.String},
    )
    return profiles(features(frame, sentiment=False))[0]


def test_means_and_rates_by_hand() -> None:
    frame = pl.DataFrame(
        {
            "respondent": ["b", "a", "a"],
            "situation": [1, 1, 2],
            "text": ["Hi.", "Wow! Great! 😀", "I see, I see, I really do see that now."],
        }
    )
    a, b = profiles(features(frame, sentiment=False))
    assert (a.respondent, a.responses, a.situations, a.words) == ("a", 2, 2, 12)
    assert a.words_per_response == 6
    assert a.emoji_per_response == 0.5
    assert a.punctuation["!"] == 1
    assert a.punctuation[","] == 1
    assert set(a.punctuation) == set(MARKS)
    assert a.features["exclamation_marks"].per_100_words == pytest.approx(100 * 2 / 12)
    assert math.isnan(a.features["words_per_sentence"].per_100_words)
    assert b.words_per_response == 1


def test_one_response_for_each_situation_has_the_ordinary_interval() -> None:
    words = of_words([3, 5, 8, 2]).features["words"]
    assert (words.mean, words.sd) == pytest.approx((4.5, math.sqrt(7)))
    assert (words.low, words.high) == pytest.approx((0.290019257701, 8.709980742299), abs=1e-10)
    assert (words.used, words.dropped) == (4, 0)


def test_responses_to_one_situation_are_one_cluster() -> None:
    words = of_words([1, 2, 4, 7, 7, 9], [1, 1, 2, 2, 3, 3]).features["words"]
    assert (words.low, words.high) == pytest.approx((-3.14479016535, 13.14479016535), abs=1e-9)


def test_missing_texts_are_dropped_and_counted() -> None:
    words = of_words([3, 5, 8, 2, None]).features["words"]
    assert (words.used, words.dropped) == (4, 1)
    assert (words.low, words.high) == pytest.approx((0.290019257701, 8.709980742299), abs=1e-10)


def test_a_respondent_with_one_response_has_a_mean_and_no_interval() -> None:
    words = of_words([4]).features["words"]
    assert words.mean == 4
    assert all(math.isnan(figure) for figure in (words.low, words.high, words.sd))


def test_a_respondent_without_texts_has_no_means() -> None:
    found = of_words([None, None])
    assert (found.responses, found.words) == (2, 0)
    assert math.isnan(found.words_per_response)
    assert found.features["words"].dropped == 2
    assert math.isnan(found.features["commas"].per_100_words)


def test_a_users_list_has_rates_like_any_count() -> None:
    frame = pl.DataFrame({"respondent": ["a"], "situation": [1], "text": ["rain and sun"]})
    table = features(frame, lexicons=[word_list("weather", ["rain", "sun"])], sentiment=False)
    weather = profiles(table)[0].features["weather"]
    assert (weather.mean, weather.per_100_words) == pytest.approx((2, 200 / 3))


def test_the_table_has_a_row_for_each_respondent_and_feature() -> None:
    found = of_words([3, 5])
    table = profile_table((found,))
    assert table.height == len(found.features)
    row = table.filter(pl.col("feature") == "words").row(0, named=True)
    assert (row["respondent"], row["meaning"], row["mean"], row["used"]) == ("a", "words", 4, 2)


def test_no_responses_have_no_profiles() -> None:
    frame = pl.DataFrame(
        schema={"respondent": pl.String, "situation": pl.String, "text": pl.String}
    )
    assert profiles(features(frame, sentiment=False)) == ()
    assert profile_table(()).height == 0


def test_bad_input_is_refused() -> None:
    with pytest.raises(InputError, match="no column 'words'"):
        profiles(pl.DataFrame({"respondent": ["a"], "situation": ["s"]}))
    frame = pl.DataFrame({"respondent": ["a"], "situation": [1], "text": ["x"]})
    with pytest.raises(InputError, match="between 0 and 1; got 95"):
        profiles(features(frame, sentiment=False), confidence=95)
