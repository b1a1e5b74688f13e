"""What people would say of someone nobody has rated, from a judge held against others."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from empathylab.errors import InputError, UnknownName
from empathylab.stats.judges.inverse_prediction import InversePrediction, StraightLine
from empathylab.stats.judges.transfer import Transferred, transferred_mean
from empathylab.stats.notes import note


def rows(respondent: str, ratings: list[float | None], told: list[float | None]) -> pl.DataFrame:
    size = len(told)
    return pl.DataFrame(
        {
            "respondent": [respondent] * size,
            "situation": [f"s{number}" for number in range(size)],
            "rater": [f"{respondent}-{number // 2}" for number in range(size)],
            "rating": ratings,
            "prediction": told,
        },
        schema_overrides={"rating": pl.Float64, "prediction": pl.Float64},
    )


def unrated(told: list[float | None]) -> pl.DataFrame:
    return rows("new", [None] * len(told), told)


def test_the_line_is_read_off_at_the_newcomers_mean() -> None:
    # People say 2·judge + 1, without scatter.
    frame = pl.concat(
        [
            rows("a", [1.0, 3.0, 5.0, 3.0], [0.0, 1.0, 2.0, 1.0]),
            rows("b", [3.0, 5.0, 7.0, 5.0], [1.0, 2.0, 3.0, 2.0]),
            unrated([4.0, 6.0]),
        ]
    )
    found = transferred_mean(frame, "new")
    assert found.slope == pytest.approx(2)
    assert found.estimate == pytest.approx(11)
    assert [error.error for error in found.errors] == pytest.approx([0, 0])
    assert (found.n, found.n_judged, found.dropped) == (8, 2, 0)


def test_each_other_respondent_is_predicted_from_the_rest() -> None:
    # The judge says the same of everybody, so each is predicted as the mean of the others.
    told: list[float | None] = [1.0, 1.0, 1.0, 1.0]
    frame = pl.concat(
        [
            rows("a", [1.0, 1.0, 1.0, 1.0], told),
            rows("b", [2.0, 2.0, 2.0, 2.0], told),
            rows("c", [6.0, 6.0, 6.0, 6.0], told),
            unrated(told),
        ]
    )
    found = transferred_mean(frame, "new")
    assert found.estimate == pytest.approx(3)
    assert {error.respondent: error.error for error in found.errors} == pytest.approx(
        {"a": 4 - 1, "b": 3.5 - 2, "c": 1.5 - 6}
    )
    # By hand: the prediction interval for a draw from the population of 1, 2 and 6.
    sd = np.std([1, 2, 6], ddof=1)
    assert found.se == pytest.approx(sd * math.sqrt(1 + 1 / 3))
    assert found.exchangeable_high - found.estimate == pytest.approx(4.302653 * found.se, rel=1e-5)
    assert note("judge_unrelated") in found.notes
    assert (found.low, found.high, found.rules_out) == (-math.inf, math.inf, False)


def test_respondents_weigh_the_same_however_often_they_were_rated() -> None:
    frame = pl.concat(
        [
            rows("a", [0.0] * 40, [1.0] * 40),
            rows("b", [1.0] * 4, [1.0] * 4),
            unrated([1.0] * 4),
        ]
    )
    assert transferred_mean(frame, "new").estimate == pytest.approx(0.5)


def test_with_one_other_respondent_there_is_no_interval_but_the_narrow_one() -> None:
    ratings: list[float | None] = [1.0, 2.0, 3.0, 2.0, 1.0, 3.0]
    told: list[float | None] = [1.0, 2.0, 2.0, 1.0, 2.0, 3.0]
    found = transferred_mean(pl.concat([rows("a", ratings, told), unrated(told)]), "new")
    assert math.isnan(found.low)
    assert all(math.isnan(end) for end in found.ends(0.9))
    assert found.errors == ()
    assert found.same_error_low < found.estimate < found.same_error_high
    assert note("one_other_respondent") in found.notes


def test_a_judge_that_goes_against_people_gets_a_flat_line() -> None:
    told: list[float | None] = [3.0, 2.0, 1.0, 2.0]
    frame = pl.concat(
        [
            rows("a", [1.0, 2.0, 3.0, 2.0], told),
            rows("b", [1.0, 2.0, 3.0, 2.0], told),
            unrated([9.0, 9.0]),
        ]
    )
    found = transferred_mean(frame, "new")
    assert (found.slope, found.estimate) == (0.0, 2.0)


def test_ratings_of_the_newcomer_are_not_used() -> None:
    old = pl.concat(
        [rows("a", [1.0, 2.0] * 3, [1.0, 2.0] * 3), rows("b", [2.0, 3.0] * 3, [2.0] * 6)]
    )
    alone = transferred_mean(pl.concat([old, unrated([1.0, 2.0, 3.0])]), "new")
    rated = transferred_mean(pl.concat([old, rows("new", [9.0] * 3, [1.0, 2.0, 3.0])]), "new")
    assert rated.estimate == alone.estimate
    assert rated.errors == alone.errors


def test_a_trained_judge_is_tried_with_frames_of_its_own() -> None:
    told: list[float | None] = [1.0, 2.0, 3.0, 2.0]
    frame = pl.concat([rows("a", told, told), rows("b", told, told), unrated(told)])
    worse = frame.with_columns(pl.col("prediction") * 0.0)
    found = transferred_mean(frame, "new", left_out={"a": worse})
    assert [round(error.predicted, 6) for error in found.errors] == [2.0, 2.0]
    other = pl.concat([rows("a", told, told), rows("b", [9.0] * 4, told), unrated(told)])
    changed = transferred_mean(frame, "new", left_out={"a": other})
    assert changed.errors[0].predicted == pytest.approx(9)


def test_rows_without_prediction_are_counted() -> None:
    frame = pl.concat(
        [rows("a", [1.0, 2.0, 3.0], [1.0, None, 3.0]), unrated([1.0, None]), unrated([math.nan])]
    )
    found = transferred_mean(frame, "new")
    assert (found.n, found.n_judged, found.dropped) == (2, 1, 3)


def test_a_rating_that_is_nan_counts_as_missing() -> None:
    told: list[float | None] = [1.0, 2.0, 3.0, 2.0]
    gap, nan = (
        pl.concat([rows("a", [1.0, 2.0, value, 3.0], told), rows("b", told, told), unrated(told)])
        for value in (None, math.nan)
    )
    assert repr(transferred_mean(nan, "new")) == repr(transferred_mean(gap, "new"))


def test_rows_without_a_respondent_are_ignored() -> None:
    told: list[float | None] = [1.0, 2.0, 3.0, 2.0]
    frame = pl.concat([rows("a", told, told), rows("b", told, told), unrated(told)])
    nobody = rows("c", [9.0] * 4, told).with_columns(respondent=pl.lit(None, dtype=pl.String))
    found = transferred_mean(pl.concat([frame, nobody]), "new")
    assert repr(found) == repr(transferred_mean(frame, "new"))


def test_what_cannot_be_estimated_is_said() -> None:
    with pytest.raises(InputError, match="nothing to calibrate"):
        transferred_mean(unrated([1.0]), "new")
    with pytest.raises(InputError, match="not rated any replies of this respondent"):
        transferred_mean(rows("a", [1.0, 2.0], [1.0, 2.0]), "new")
    with pytest.raises(UnknownName, match="column"):
        transferred_mean(unrated([1.0]), "new", rating="good")


def simulated(
    rng: np.random.Generator, others: int, bias: float, noise: float
) -> tuple[pl.DataFrame, float]:
    """Respondents of differing quality, people who are mild or strict, and a judge that leans
    toward each respondent by chance; with the newcomer's true mean."""
    size = 60
    quality, leaning = rng.normal(0, 0.5, others + 1), rng.normal(0, bias, others + 1)
    situations = rng.normal(0, 0.3, size)
    parts = []
    for number in range(others + 1):
        true = quality[number] + situations + rng.normal(0, 0.4, size)
        told = (true + leaning[number] + rng.normal(0, noise, size)).tolist()
        who = rng.permutation(size) // 10
        seen = true + rng.normal(0, 0.3, 6)[who] + rng.normal(0, 0.6, size)
        if number == 0:
            parts.append(unrated(told))
        else:
            parts.append(
                rows(f"r{number}", seen.tolist(), told).with_columns(
                    rater=pl.Series([f"{number}-{item}" for item in who])
                )
            )
    return pl.concat(parts), float(quality[0])


@pytest.mark.slow
@pytest.mark.parametrize(("others", "bias", "noise"), [(2, 0.3, 0.4), (4, 0.0, 0.8), (6, 1.0, 1.0)])
def test_the_interval_covers_whoever_comes(others: int, bias: float, noise: float) -> None:
    """The narrow intervals take the judge's errors to be alike, and miss where it leans."""
    rng = np.random.default_rng(1)
    found: list[tuple[Transferred, float]] = []
    for _ in range(80):
        frame, truth = simulated(rng, others, bias, noise)
        found.append((transferred_mean(frame, "new"), truth))
    covered = np.mean([one.low <= truth <= one.high for one, truth in found])
    like = np.mean([one.exchangeable_low <= truth <= one.exchangeable_high for one, truth in found])
    alike = np.mean([one.same_error_low <= truth <= one.same_error_high for one, truth in found])
    assert covered >= like >= 0.92
    assert bias == 0 or alike < 0.8


def with_a_better_newcomer(rng: np.random.Generator, lean: float) -> tuple[pl.DataFrame, float]:
    """Six others and one who is 0.6 better than the best of them; the judge scatters within."""
    size = 30
    quality = rng.normal(3, 0.4, 7)
    quality[0] = quality[1:].max() + 0.6
    parts = []
    for number, level in enumerate(quality):
        own = rng.normal(0, 0.7, size)
        told = level + rng.normal(0, lean) + 0.3 * own + rng.normal(0, 0.5, size)
        name = f"r{number}" if number else "new"
        seen = (level + own).tolist() if number else [None] * size
        parts.append(rows(name, seen, told.tolist()))
    return pl.concat(parts), float(quality[0])


@pytest.mark.slow
@pytest.mark.parametrize(("lean", "error"), [(0.0, 0.1), (0.25, 0.4), (0.5, 0.8)])
def test_the_interval_holds_whoever_is_better_than_all_others(lean: float, error: float) -> None:
    """Also where the judge leans toward respondents by more than these differ, and the interval for
    someone like the others does not hold."""
    rng = np.random.default_rng(7)
    worlds = [with_a_better_newcomer(rng, lean) for _ in range(60)]
    found = [(transferred_mean(frame, "new"), truth) for frame, truth in worlds]
    assert abs(np.mean([one.estimate - truth for one, truth in found])) < error
    assert np.mean([one.low <= truth <= one.high for one, truth in found]) >= 0.93
    like = np.mean([one.exchangeable_low <= truth <= one.exchangeable_high for one, truth in found])
    assert lean < 0.5 or like < 0.9
    assert lean > 0 or np.mean([one.rules_out for one, _ in found]) > 0.9


def four_others(new: float, scatter: float = 0.5) -> Transferred:
    """People's means 1, 2, 3 and 4.4, the judge's 1, 2, 3 and 4."""
    levels = {"a": (1.0, 1.0), "b": (2.0, 2.0), "c": (3.0, 3.0), "d": (4.4, 4.0)}
    apart = scatter * np.array([-1, 1, -1, 1])
    old = [rows(who, (y + apart).tolist(), (f - apart).tolist()) for who, (y, f) in levels.items()]
    return transferred_mean(pl.concat([*old, unrated([new, new])]), "new")


def test_with_four_others_the_line_goes_through_their_means() -> None:
    found = four_others(3.0)
    slope, level = np.polyfit([1, 2, 3, 4], [1, 2, 3, 4.4], 1)
    assert found.slope == pytest.approx(slope)
    assert found.estimate == pytest.approx(level + 3 * slope)


def test_the_interval_is_that_of_a_regression() -> None:
    found = four_others(5.0)
    x, y = np.array([1.0, 2, 3, 4]), np.array([1.0, 2, 3, 4.4])
    slope, level = np.polyfit(x, y, 1)
    hats = 1 / 4 + (x - 2.5) ** 2 / 5
    scaled = np.mean((y - level - slope * x) ** 2 / (1 - hats))
    assert found.se == pytest.approx(math.sqrt(scaled * (1 + 1 / 4 + 2.5**2 / 5)))
    assert found.df == 2


def test_a_newcomer_outside_the_others_is_pointed_out_and_less_certain() -> None:
    inside, outside = four_others(4.0), four_others(5.0)
    assert (inside.outside, outside.outside) == (False, True)
    assert note("extrapolated") in outside.notes
    assert note("extrapolated") not in inside.notes
    assert outside.high - outside.low > inside.high - inside.low


def test_the_interval_is_what_the_judge_does_not_rule_out_and_what_is_like_the_others() -> None:
    found = four_others(5.0, scatter=0.01)
    line = StraightLine.through(np.array([1.0, 2, 3, 4.4]), np.array([1.0, 2, 3, 4]))
    missed = [
        StraightLine.through(np.delete([1.0, 2, 3, 4.4], n), np.delete([1.0, 2, 3, 4], n)).missed(
            [1.0, 2, 3, 4.4][n], [1.0, 2, 3, 4][n]
        )
        for n in range(4)
    ]
    low, high = InversePrediction.of(line, missed).ends(5.0)
    assert found.low == pytest.approx(min(low, found.exchangeable_low))
    assert found.high == pytest.approx(max(high, found.exchangeable_high))
    assert found.high > found.exchangeable_high


def test_outside_two_others_nothing_is_ruled_out() -> None:
    told = [np.array([0.0, 1.0, 2.0, 1.0]) + level for level in range(2)]
    old = [rows(f"r{n}", (one + n / 9).tolist(), one.tolist()) for n, one in enumerate(told)]
    inside = transferred_mean(pl.concat([*old, unrated([1.5, 1.5])]), "new")
    beyond = transferred_mean(pl.concat([*old, unrated([4.0, 4.0])]), "new")
    assert inside.rules_out
    assert (inside.low, inside.high) == (inside.exchangeable_low, inside.exchangeable_high)
    assert (beyond.rules_out, beyond.low, beyond.high) == (False, -math.inf, math.inf)
    assert math.isfinite(beyond.exchangeable_low)


def test_rounding_puts_nobody_beyond_the_others() -> None:
    old = [rows(f"r{n}", [1.0 + n, 2.0], [one, one]) for n, one in enumerate((0.05, 0.1))]
    told: list[float | None] = [0.1, 0.1, 0.1]
    assert np.mean([0.1, 0.1, 0.1]) > 0.1
    assert not transferred_mean(pl.concat([*old, unrated(told)]), "new").outside
    assert transferred_mean(pl.concat([*old, unrated([0.1001] * 3)]), "new").outside


def test_a_scale_that_no_level_fits_leaves_everything() -> None:
    found = four_others(5.0, scatter=0.01)
    assert found.fits((1.0, found.low))
    assert found.ends_on((1.0, 5.5), 0.95) == (found.low, found.high)
    short = (1.0, found.low - 0.1)
    assert not found.fits(short)
    assert found.ends_on(short, 0.95) == (-math.inf, math.inf)
    # A wider interval would touch the scale: but what does not fit tells nothing, at any level.
    assert found.ends_on(short, 1 - 1e-9) == (-math.inf, math.inf)
    ends, alike = found.difference_ends("a", 1.0, 0.3, 0.95, short)
    apart = short[1] - 1.0
    assert ends[0] < 0 < apart < ends[1]
    assert alike[0] < apart < alike[1]


def test_outside_three_others_a_degree_of_freedom_goes_to_the_slope() -> None:
    told = [np.array([0.0, 1.0, 2.0, 1.0]) + level for level in range(3)]
    old = [rows(f"r{n}", (one * 1.1 + n % 2).tolist(), one.tolist()) for n, one in enumerate(told)]
    at = [transferred_mean(pl.concat([*old, unrated([x, x])]), "new").df for x in (2.0, 9.0)]
    assert at == [2, 1]


@pytest.mark.parametrize("others", [2, 4])
def test_a_difference_allows_for_what_the_line_takes_from_the_other(others: int) -> None:
    rng = np.random.default_rng(9)
    told = [level + rng.normal(0, 0.3, 40) for level in range(1, others + 1)]
    seen = [item + rng.normal(0, 0.5, 40) for item in told]

    def newcomer(lowest: np.ndarray) -> Transferred:
        people = [lowest, *seen[1:]]
        pairs = enumerate(zip(people, told, strict=True))
        old = [rows(f"r{n}", y.tolist(), f.tolist()) for n, (y, f) in pairs]
        return transferred_mean(pl.concat([*old, unrated([others + 2.0] * 9)]), "new")

    found = newcomer(seen[0])
    moved = newcomer(seen[0] + 0.01).estimate - found.estimate
    assert moved == pytest.approx(0.01 * found.pull["r0"])
    assert sum(found.pull.values()) == pytest.approx(1)
    assert found.pull["r0"] < 0 < found.pull[f"r{others - 1}"]
    # Where the lowest pulls the line down at its end and up beyond the others: more than by itself.
    alike = (found.same_error_high - found.same_error_low) / 2
    below, above = (found.difference_ends(f"r{n}", 1.0, 0.3, 0.95) for n in (0, others - 1))
    apart, grown = found.estimate - 1, 0.3**2 * (1 - 2 * found.pull["r0"])
    narrow = math.sqrt(alike**2 + grown)
    assert below[1] == pytest.approx((apart - narrow, apart + narrow))
    assert above[1][1] == pytest.approx(apart + math.hypot(alike, 0.3))
    assert below[0][0] == pytest.approx(
        apart - math.sqrt((found.estimate - found.low) ** 2 + grown)
    )
    assert below[0][1] > below[1][1]


def test_a_difference_reaches_no_farther_than_the_scale() -> None:
    found = four_others(5.0, scatter=0.01)
    free, _ = found.difference_ends("a", 1.0, 0.3, 0.95)
    held, _ = found.difference_ends("a", 1.0, 0.3, 0.95, (1.0, 5.5))
    theirs = 0.3 * math.sqrt(1 - 2 * found.pull["a"])
    assert free[1] > held[1] == pytest.approx(5.5 - 1.0 + theirs)
    assert free[0] == held[0]


def test_two_others_that_happen_to_coincide_do_not_narrow_the_interval() -> None:
    rng = np.random.default_rng(4)
    ratings = rng.choice([1.0, 2.0, 3.0], 40)
    told = list(ratings + rng.normal(0, 0.5, 40))
    same = pl.concat(
        [rows("a", list(ratings), told), rows("b", list(ratings), told), unrated(told)]
    )
    found = transferred_mean(same, "new")
    assert max(abs(error.error) for error in found.errors) < 1e-6
    left = ratings - found.slope * np.array(told)
    # One of two others left out, and the newcomer at their mean: √(1 + 1/2) times the error.
    assert found.se > math.sqrt(1.5) * left.std(ddof=1) / math.sqrt(40) * 0.8
    assert found.exchangeable_high - found.exchangeable_low > 1
