"""Self-preference, length bias and position bias of judges."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from empathylab.errors import InputError, UnknownName
from empathylab.stats.judges.bias import position_bias, self_preference
from empathylab.stats.notes import note
from tests.stats.judged_frames import arithmetic, judged

# Made by tests/reference/clusters.R.
R = json.loads((Path(__file__).parents[2] / "reference" / "clusters_r.json").read_text())


def test_self_preference_by_hand() -> None:
    # Judge: own 5, others 3, a gap of 2; people: own 4, others 3.5, a gap of 0.5.
    frame = pl.DataFrame(
        {
            "respondent": ["kin", "kin", "x", "x"],
            "prediction": [5, 5, 3, 3],
            "rating": [4, 4, 3, 4],
            "rater": ["a", "b", "a", "b"],
            "situation": ["s", "t", "s", "t"],
        }
    )
    found = self_preference(frame, ["kin"])
    assert (found.judge_gap, found.people_gap) == (2, 0.5)
    assert found.estimate == pytest.approx(1.5)
    assert (found.n, found.n_own, found.dropped) == (4, 2, 0)


def test_self_preference_has_the_standard_error_of_sandwich() -> None:
    found = self_preference(arithmetic(), ["kin"])
    assert found.estimate == pytest.approx(R["own_two_way"]["estimate"][1], abs=1e-9)
    assert found.se == pytest.approx(R["own_two_way"]["se"][1], abs=1e-9)
    # 12 raters are the fewest clusters.
    assert found.df == 11


def test_a_judge_that_favours_its_own_is_caught() -> None:
    found = self_preference(judged(1, own_bonus=1.5), ["kin"])
    assert found.p < 0.001
    assert found.low < 1.5 < found.high


def test_quality_that_people_see_too_is_no_bias() -> None:
    frame = judged(4).with_columns(
        pl.col("rating", "prediction") + 2 * (pl.col("respondent") == "kin")
    )
    assert self_preference(frame, ["kin"]).p > 0.05


def test_rows_with_gaps_are_left_out_and_counted() -> None:
    frame = arithmetic().with_columns(
        rating=pl.when(pl.int_range(pl.len()) != 5).then(pl.col("rating")),
    )
    assert (self_preference(frame, ["kin"]).n, self_preference(frame, ["kin"]).dropped) == (59, 1)


@pytest.mark.parametrize("column", ["rating", "prediction"])
def test_a_value_that_is_nan_counts_as_missing(column: str) -> None:
    frame = arithmetic().with_columns(
        pl.when(pl.int_range(pl.len()) != 5).then(pl.col(column)).otherwise(math.nan)
    )
    assert self_preference(frame, ["kin"]).dropped == 1
    assert self_preference(frame, ["kin"]).p == self_preference(frame.drop_nans(), ["kin"]).p


def test_a_judge_without_others_has_no_gap_and_says_why() -> None:
    frame = arithmetic().filter(pl.col("respondent") == "kin")
    found = self_preference(frame, ["kin"])
    assert math.isnan(found.estimate)
    assert found.note == note("no_other_responses")


def test_an_unknown_respondent_gets_the_nearest() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'other'"):
        self_preference(arithmetic(), ["othr"])


def test_an_unknown_column_is_refused() -> None:
    with pytest.raises(UnknownName, match="prediction"):
        self_preference(arithmetic(), ["kin"], prediction="predictions")


def test_position_bias_by_hand() -> None:
    # Three firsts, one second and a tie: (3·½ − ½ + 0)/5 = 0.2.
    frame = pl.DataFrame(
        {
            "outcome": ["first", "first", "second", "first", "tie", None],
            "situation": list("abcdef"),
        }
    )
    found = position_bias(frame)
    assert found.estimate == pytest.approx(0.2)
    values = np.array([0.5, 0.5, -0.5, 0.5, 0.0])
    assert found.se == pytest.approx(values.std(ddof=1) / math.sqrt(5))
    assert (found.n, found.dropped) == (5, 1)


def test_a_judge_that_always_takes_the_first_is_caught_by_the_sign_test() -> None:
    frame = pl.DataFrame({"outcome": ["first"] * 6, "situation": list("abcdef")})
    found = position_bias(frame)
    assert found.estimate == 0.5
    assert found.p == pytest.approx(2 / 2**6)
    # Clopper and Pearson's interval of 6 in 6.
    assert (found.low, found.high) == (pytest.approx(0.025 ** (1 / 6) - 0.5), 0.5)
    assert found.note == note("first_always_preferred")


def test_a_judge_that_always_takes_the_second_is_caught_too() -> None:
    frame = pl.DataFrame({"outcome": ["second"] * 9, "situation": list("abcdefghi")})
    found = position_bias(frame)
    assert found.low == -0.5
    assert found.high < 0
    assert found.p < 0.05


def test_comparisons_of_one_situation_give_no_interval_and_say_why() -> None:
    frame = pl.DataFrame({"situation": ["a"] * 3, "outcome": ["first", "first", "second"]})
    bias = position_bias(frame)
    assert bias.estimate == pytest.approx(1 / 6)
    assert math.isnan(bias.low)
    assert bias.note == note("one_cluster")


def test_a_judge_of_ties_only_has_no_position_bias() -> None:
    frame = pl.DataFrame({"outcome": ["tie"] * 6, "situation": list("abcdef")})
    assert (position_bias(frame).estimate, position_bias(frame).p) == (0, 1)


def test_a_bias_without_any_noise_is_certain_and_says_so() -> None:
    frame = arithmetic().with_columns(
        prediction=pl.col("rating") + (pl.col("respondent") == "kin").cast(pl.Int64)
    )
    found = self_preference(frame, ["kin"])
    assert (found.estimate, found.low, found.high, found.p) == (1, 1, 1, 0)
    assert found.note == note("constant_bias")


def test_a_strange_outcome_is_refused() -> None:
    frame = pl.DataFrame({"outcome": ["left"], "situation": ["a"]})
    with pytest.raises(InputError, match="must be first, second or tie; got 'left'"):
        position_bias(frame)


@pytest.mark.slow
def test_false_alarms_stay_near_their_level() -> None:
    runs = 300
    own = sum(self_preference(judged(seed), ["kin"]).p < 0.05 for seed in range(runs))
    # 5% of 300 is 15, give or take 3.8; a few more for 30 clusters.
    assert own <= 28
