"""Bradley–Terry strengths with ties and order."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from empathylab.errors import InputError, UnknownName
from empathylab.stats.preferences.bradley_terry import BradleyTerry, bradley_terry

# Made by tests/reference/preferences.R: BradleyTerry2, and Davidson's model by glm().
R = json.loads((Path(__file__).parents[2] / "reference" / "preferences_r.json").read_text())
# First, second, and how often the first won, the second won and neither.
GAMES = [
    ("a", "b", 9, 4, 2),
    ("b", "a", 5, 7, 3),
    ("a", "c", 11, 3, 1),
    ("c", "a", 4, 9, 2),
    ("a", "d", 12, 2, 1),
    ("d", "a", 3, 10, 2),
    ("b", "c", 8, 5, 2),
    ("c", "b", 6, 6, 3),
    ("b", "d", 10, 3, 2),
    ("d", "b", 4, 8, 3),
    ("c", "d", 7, 4, 4),
    ("d", "c", 6, 5, 4),
]


def compared(*games: tuple[str, str, int, int, int]) -> pl.DataFrame:
    rows = [
        (first, second, outcome)
        for first, second, *counts in games
        for outcome, times in zip(("first", "second", "tie"), counts, strict=True)
        for _ in range(times)
    ]
    return pl.DataFrame(rows, schema=["first", "second", "outcome"], orient="row")


def against_a(found: BradleyTerry) -> tuple[list[float], list[float]]:
    effects = [found.difference(name, "a") for name in "bcd"]
    return [effect.estimate for effect in effects], [effect.se for effect in effects]


def test_two_respondents_by_hand() -> None:
    # 3 wins of 4: log odds log 3, variance 1/3 + 1; each lies half of it from the middle.
    found = bradley_terry(compared(("a", "b", 3, 1, 0)))
    assert [strength.respondent for strength in found.strengths] == ["a", "b"]
    assert found.strengths[0].estimate == pytest.approx(math.log(3) / 2)
    assert found.strengths[0].se == pytest.approx(math.sqrt(4 / 3) / 2)
    assert found.log_likelihood == pytest.approx(3 * math.log(3 / 4) + math.log(1 / 4))
    first = found.strengths[0]
    assert (first.wins, first.losses, first.ties, found.n) == (3, 1, 0, 4)
    assert found.tie is None


def test_ties_of_equals_by_hand() -> None:
    # 2, 2 and 4 ties: equal strengths, and ν = 4/2.
    found = bradley_terry(compared(("a", "b", 2, 2, 4)))
    assert found.tie is not None
    assert found.tie.estimate == pytest.approx(math.log(2))
    assert found.probabilities("a", "b") == pytest.approx((0.25, 0.25, 0.5))


def test_strengths_without_ties_are_those_of_bradleyterry2() -> None:
    found = bradley_terry(compared(*((*game[:4], 0) for game in GAMES)))
    estimates, errors = against_a(found)
    assert estimates == pytest.approx(R["plain"]["estimate"], abs=1e-6)
    assert errors == pytest.approx(R["plain"]["se"], abs=1e-5)


def test_the_order_effect_is_that_of_bradleyterry2() -> None:
    found = bradley_terry(compared(*((*game[:4], 0) for game in GAMES)), order_effect=True)
    estimates, errors = against_a(found)
    assert found.order is not None
    assert [*estimates, found.order.estimate] == pytest.approx(R["order"]["estimate"], abs=1e-6)
    assert [*errors, found.order.se] == pytest.approx(R["order"]["se"], abs=1e-5)


def test_davidsons_model_with_order_is_rs_log_linear_model() -> None:
    found = bradley_terry(compared(*GAMES), order_effect=True)
    estimates, errors = against_a(found)
    assert found.tie is not None
    assert found.order is not None
    ours = [*estimates, found.tie.estimate, found.order.estimate]
    assert ours == pytest.approx(R["davidson"]["estimate"], abs=1e-6)
    assert [*errors, found.tie.se, found.order.se] == pytest.approx(R["davidson"]["se"], abs=1e-5)


def test_strengths_sum_to_zero_and_come_strongest_first() -> None:
    found = bradley_terry(compared(*GAMES))
    values = [strength.estimate for strength in found.strengths]
    assert sum(values) == pytest.approx(0)
    assert values == sorted(values, reverse=True)
    assert found.covariance.sum() == pytest.approx(0, abs=1e-12)


def test_normal_intervals() -> None:
    one = bradley_terry(compared(*GAMES)).strengths[0]
    assert one.high - one.estimate == pytest.approx(1.959963984540054 * one.se)


def test_comparisons_copied_within_raters_do_not_sharpen_clustered_intervals() -> None:
    single = compared(*GAMES).with_columns(rater=pl.int_range(pl.len()))
    tripled = pl.concat([single] * 3)
    plain, copied = bradley_terry(single, rater="rater"), bradley_terry(tripled, rater="rater")
    assert copied.clustered
    assert copied.strengths[0].estimate == pytest.approx(plain.strengths[0].estimate)
    assert copied.strengths[0].se == pytest.approx(plain.strengths[0].se)
    assert bradley_terry(tripled).strengths[0].se < plain.strengths[0].se


def test_gaps_are_dropped_and_counted() -> None:
    gap = pl.DataFrame({"first": ["a"], "second": ["b"], "outcome": [None]})
    frame = pl.concat([compared(*GAMES), gap.cast(pl.String)])
    assert bradley_terry(frame).dropped == 1


def test_a_perfect_winner_is_named() -> None:
    games = [("a", "b", 5, 0, 0), ("a", "c", 4, 0, 0), ("b", "c", 2, 3, 0)]
    with pytest.raises(InputError, match="a won every comparison.*prior of 0.5"):
        bradley_terry(compared(*games))


def test_a_perfect_loser_is_named() -> None:
    games = [("a", "b", 2, 3, 0), ("a", "c", 4, 0, 0), ("b", "c", 2, 0, 0)]
    with pytest.raises(InputError, match="every comparison with the others"):
        bradley_terry(compared(*games))


def test_a_prior_makes_a_perfect_winner_finite() -> None:
    games = [("a", "b", 5, 0, 0), ("a", "c", 4, 0, 0), ("b", "c", 2, 3, 0)]
    found = bradley_terry(compared(*games), prior=0.5)
    assert found.strengths[0].respondent == "a"
    assert all(math.isfinite(strength.se) for strength in found.strengths)


@pytest.mark.parametrize("prior", [0.0, 0.5])
def test_groups_that_were_never_compared_are_named(prior: float) -> None:
    with pytest.raises(InputError, match="2 groups .* got 'a, b \\| c, d'"):
        bradley_terry(compared(("a", "b", 2, 1, 0), ("c", "d", 1, 2, 0)), prior=prior)


def test_ties_only_are_refused() -> None:
    with pytest.raises(InputError, match="every comparison is a tie"):
        bradley_terry(compared(("a", "b", 0, 0, 4)))


def test_an_order_that_always_wins_is_refused() -> None:
    with pytest.raises(InputError, match="shown first was always preferred"):
        bradley_terry(compared(("a", "b", 3, 0, 0), ("b", "a", 2, 0, 0)), order_effect=True)


def test_an_order_that_never_changes_cannot_be_told_from_strength() -> None:
    with pytest.raises(InputError, match="cannot be separated from the strengths"):
        bradley_terry(compared(("a", "b", 3, 2, 0)), order_effect=True)


def test_a_respondent_against_itself_is_refused() -> None:
    with pytest.raises(InputError, match="comparison 1: .* two different respondents; got 'a'"):
        bradley_terry(compared(("a", "a", 1, 1, 0)))


def test_a_strange_outcome_is_refused() -> None:
    frame = pl.DataFrame({"first": ["a"], "second": ["b"], "outcome": ["left"]})
    with pytest.raises(
        InputError, match="must be first, second, tie, or the name of one of .*; got 'left'"
    ):
        bradley_terry(frame)


def test_the_preferred_can_be_named() -> None:
    frame = compared(*GAMES)
    named = frame.with_columns(
        pl.coalesce(
            pl.when(pl.col("outcome") == "first").then(pl.col("first")),
            pl.when(pl.col("outcome") == "second").then(pl.col("second")),
            pl.col("outcome"),
        ).alias("outcome")
    )
    assert not named.equals(frame)
    assert bradley_terry(named) == bradley_terry(frame)


def test_a_third_respondent_as_the_preferred_is_refused() -> None:
    frame = pl.DataFrame({"first": ["a", "a"], "second": ["b", "b"], "outcome": ["a", "c"]})
    with pytest.raises(InputError, match="comparison 2: .* got 'c'"):
        bradley_terry(frame)


def test_no_comparison_is_refused() -> None:
    with pytest.raises(InputError, match="there are no comparisons"):
        bradley_terry(compared(*GAMES).clear())


def test_a_negative_prior_is_refused() -> None:
    with pytest.raises(InputError, match="prior"):
        bradley_terry(compared(*GAMES), prior=-1)


def test_unknown_names_get_the_nearest() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'outcome'"):
        bradley_terry(compared(*GAMES), outcome="outcomes")
    with pytest.raises(UnknownName, match="respondent 'z'"):
        bradley_terry(compared(*GAMES)).difference("a", "z")


@pytest.mark.slow
def test_intervals_cover_the_truth() -> None:
    rng = np.random.default_rng(2)
    truth = np.array([0.8, 0.1, -0.3, -0.6])
    held = 0
    for _ in range(200):
        a, b = np.array([rng.choice(4, 2, replace=False) for _ in range(200)]).T
        pull = np.column_stack([truth[a] + 0.15, truth[b] - 0.15, (truth[a] + truth[b]) / 2 - 0.5])
        shares = np.exp(pull) / np.exp(pull).sum(axis=1, keepdims=True)
        outcome = (rng.random((200, 1)) > shares.cumsum(axis=1)).sum(axis=1)
        frame = pl.DataFrame(
            {
                "first": np.array(list("wxyz"))[a],
                "second": np.array(list("wxyz"))[b],
                "outcome": np.array(["first", "second", "tie"])[outcome],
            }
        )
        effect = bradley_terry(frame, order_effect=True).difference("w", "z")
        held += effect.low <= 1.4 <= effect.high
    assert 0.9 <= held / 200 <= 0.99
