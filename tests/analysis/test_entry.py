"""Typing errors in a table of ratings are named; nothing is changed."""

from __future__ import annotations

import polars as pl
import pytest

from empathylab.analysis.entry import doubtful_entries


def ratings(values: list[float], arms: list[str] | None = None) -> pl.DataFrame:
    n = len(values)
    return pl.DataFrame(
        {
            "rater": [f"r{k % 7}" for k in range(n)],
            "situation": [f"s{k % 11}" for k in range(n)],
            "arm": arms or ["human", "gpt"] * (n // 2) + ["human"] * (n % 2),
            "dimension": "warmth",
            "rating": pl.Series(values, dtype=pl.Float64),
        }
    )


SEVEN = [float(k % 7 + 1) for k in range(1400)]


def test_clean_ratings_have_no_doubtful_entries() -> None:
    assert doubtful_entries(ratings(SEVEN), inferred_scale=True) == ()
    sliders = [k * 7.3 % 100 for k in range(1000)]
    assert doubtful_entries(ratings(sliders), inferred_scale=True) == ()
    assert doubtful_entries(ratings([1.0, 1, 2, 3, 3, 9]), inferred_scale=True) == ()


@pytest.mark.parametrize("typed", [55.0, 0.0, 8.0])
def test_a_stray_rating_is_named_with_the_scale_of_the_others(typed: float) -> None:
    (sentence,) = doubtful_entries(ratings([*SEVEN, typed]), inferred_scale=True)
    assert sentence.startswith(
        f"1 of 1,401 ratings of warmth is {typed:g}; the others are between 1 and 7."
    )
    assert doubtful_entries(ratings([*SEVEN, typed]), inferred_scale=False) == ()


def test_several_stray_ratings_are_all_named() -> None:
    found = doubtful_entries(ratings([*SEVEN, 0.0, 55.0, 700.0]), inferred_scale=True)
    assert [sentence.split(";")[0].split()[-1] for sentence in found] == ["0", "55", "700"]


def test_a_point_that_few_but_enough_people_use_is_not_doubtful() -> None:
    assert doubtful_entries(ratings([*SEVEN, 8.0, 8.0, 8.0]), inferred_scale=True) == ()


def test_spellings_of_one_arm_are_named_with_their_counts() -> None:
    arms = ["gpt"] * 1397 + ["GPT "] * 2 + ["Gpt"]
    (sentence,) = doubtful_entries(ratings(SEVEN, arms), inferred_scale=True)
    assert sentence == (
        "The arms 'GPT ' (2 ratings), 'Gpt' (1 rating) and 'gpt' (1,397 ratings) differ only in "
        "spaces or capital letters but count as 3 arms. If they are the same, correct the table."
    )
