"""How often a judge prefers the reply that people rate higher."""

from __future__ import annotations

import math

import polars as pl
import pytest
from scipy import stats

from empathylab.stats.judges.preference_agreement import preference_agreement


def choice(
    situation: str, first: str, people: tuple[float | None, float | None], outcome: str
) -> dict[str, object]:
    """A choice between the replies a and b; `people` are their means, a's first."""
    shown = people if first == "a" else people[::-1]
    return {
        "situation": situation,
        "pair": f"{situation}-ab",
        "first": first,
        "people_first": shown[0],
        "people_second": shown[1],
        "outcome": outcome,
    }


CHOICES = pl.DataFrame(
    [
        choice("s1", "a", (3, 1), "first"),  # right, and again when turned
        choice("s1", "b", (3, 1), "second"),
        choice("s2", "a", (1, 2), "first"),  # by place: wrong, then right
        choice("s2", "b", (1, 2), "first"),
        choice("s3", "a", (2, 1), "tie"),  # undecided, then right
        choice("s3", "b", (2, 1), "second"),
        choice("s4", "a", (2, 2), "first"),  # people are even
        choice("s4", "b", (2, 2), "first"),
        choice("s5", "a", (2, None), "first"),  # people rated one of the two
        choice("s6", "a", (1, 3), "first"),  # wrong, and again when turned
        choice("s6", "b", (1, 3), "second"),
        choice("s7", "a", (1, 3), "tie"),
        choice("s7", "b", (1, 3), "tie"),
    ],
    infer_schema_length=None,
)


def test_all_choices_and_consistent_pairs_are_counted_by_hand() -> None:
    found = preference_agreement(CHOICES)
    assert (found.choices.share, found.choices.n) == (pytest.approx(4 / 7), 7)
    assert (found.consistent.share, found.consistent.n) == (0.5, 2)
    # A tie in one order is nobody's: of s3 no other reply was preferred.
    assert (found.ties, found.even, found.unrated, found.inconsistent) == (3, 2, 1, 1)


def test_one_reply_now_and_the_other_then_is_inconsistent_also_beside_a_tie() -> None:
    frame = pl.DataFrame(
        [
            choice("s1", "a", (3, 1), "first"),
            choice("s1", "b", (3, 1), "first"),
            choice("s1", "b", (3, 1), "tie"),
        ]
    )
    found = preference_agreement(frame)
    assert (found.consistent.n, found.inconsistent) == (0, 1)


def test_means_that_differ_by_rounding_are_the_same() -> None:
    near = choice("s1", "a", (0.1 + 0.2, 0.3), "first")
    assert near["people_first"] != near["people_second"]
    found = preference_agreement(pl.DataFrame([near]))
    assert (found.even, found.choices.n) == (1, 0)


def test_the_interval_is_wilsons_for_choices_clustered_by_situation() -> None:
    found = preference_agreement(CHOICES).choices
    # By hand: the sums of y − 4/7 by situation are 6/7, −1/7, 3/7 and −8/7; four situations.
    share = 4 / 7
    variance = (36 + 1 + 9 + 64) / 49 / 7**2 * 4 / 3
    worth = share * (1 - share) / variance
    pull = stats.t.ppf(0.975, 3) ** 2 / worth
    centre = (share + pull / 2) / (1 + pull)
    half = math.sqrt(pull * (share * (1 - share) + pull / 4)) / (1 + pull)
    assert (found.low, found.high) == pytest.approx((centre - half, centre + half))


def test_nothing_to_compare_gives_no_share() -> None:
    even = CHOICES.filter(pl.col("situation").is_in(["s4", "s5"]))
    found = preference_agreement(even)
    assert (found.choices.n, found.consistent.n, found.even, found.unrated) == (0, 0, 2, 1)
    assert math.isnan(found.choices.share)


def test_choices_of_one_situation_have_a_share_and_no_interval() -> None:
    found = preference_agreement(CHOICES.filter(situation="s1"))
    assert (found.choices.share, found.choices.n) == (1.0, 2)
    assert math.isnan(found.choices.low)
