"""How far means moved between two occasions."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import polars as pl
import pytest
from scipy import stats

from empathylab.stats.notes import note
from empathylab.stats.over_time import Shift, score_shifts


def _frame(rows: list[tuple[str, str, str | None, str | None, float, str | None]]) -> pl.DataFrame:
    """Rows of phase, subscale, emotion, situation, score and person."""
    return pl.DataFrame(
        [
            {
                "respondent": "m",
                "scale": "panas",
                "subscale": subscale,
                "phase": phase,
                "emotion": emotion,
                "factor": None,
                "situation": situation,
                "subject": subject,
                "order_index": None,
                "score": score,
            }
            for phase, subscale, emotion, situation, score, subject in rows
        ],
        schema_overrides={"factor": pl.String, "subject": pl.String, "order_index": pl.Int64},
    )


def _occasion(rest: list[float], evoked: list[float], emotion: str = "anger") -> pl.DataFrame:
    return _frame(
        [
            *(("default", "positive", None, None, score, None) for score in rest),
            *(
                ("evoked", "positive", emotion, f"s{number}", score, None)
                for number, score in enumerate(evoked)
            ),
        ]
    )


def situation_shift(before: Mapping[str, float], after: Mapping[str, float]) -> Shift:
    """The shift of scores after situations, by situation."""
    first, second = (
        _frame([("evoked", "positive", "anger", name, score, None) for name, score in side.items()])
        for side in (before, after)
    )
    return next(
        found.shift
        for found in score_shifts(first, second)
        if found.measure == "evoked" and found.emotion is None
    )


def test_shared_units_are_compared_in_pairs() -> None:
    before = {f"s{i}": float(value) for i, value in enumerate([3, 5, 4, 6, 8, 1])}
    after = {f"s{i}": float(value) for i, value in enumerate([4, 7, 4, 8, 9, 3])}
    found = situation_shift(before, after)
    reference = stats.ttest_rel(list(after.values()), list(before.values()))
    interval = reference.confidence_interval()
    assert found.paired
    assert found.difference == pytest.approx(8 / 6)
    assert found.p == pytest.approx(reference.pvalue)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))


def test_different_units_are_compared_by_welch() -> None:
    before = {f"a{i}": value for i, value in enumerate([3.0, 5.0, 4.0, 9.0])}
    after = {f"b{i}": value for i, value in enumerate([4.0, 7.0, 4.5, 8.0, 9.0])}
    found = situation_shift(before, after)
    reference = stats.ttest_ind(list(after.values()), list(before.values()), equal_var=False)
    assert not found.paired
    assert found.p == pytest.approx(reference.pvalue)
    assert found.df == pytest.approx(reference.df)


def test_a_few_shared_units_among_many_are_not_worth_pairing() -> None:
    before = {f"a{i}": float(i) for i in range(20)} | {f"s{i}": float(i) for i in range(5)}
    after = {f"b{i}": float(i) for i in range(20)} | {f"s{i}": float(i) for i in range(5)}
    found = situation_shift(before, after)
    assert not found.paired
    assert found.n_before == 25


def test_half_of_the_occasion_with_fewer_units_is_enough_for_pairs() -> None:
    before = {f"s{i}": float(i % 3) for i in range(6)}
    after = {f"s{i}": float(i % 2) for i in range(6)} | {f"b{i}": float(i) for i in range(20)}
    assert situation_shift(before, after).paired


def test_units_on_one_occasion_only_are_left_out_of_pairs() -> None:
    before = {f"s{i}": float(i % 3) for i in range(6)} | {"gone": 100.0}
    after = {f"s{i}": float(i % 2) for i in range(6)}
    found = situation_shift(before, after)
    assert found.n_before == 6
    assert found.before == pytest.approx(1.0)


def test_one_value_gives_no_test() -> None:
    found = situation_shift({"a": 1.0}, {"b": 2.0, "c": 3.0})
    assert found.difference == pytest.approx(1.5)
    assert math.isnan(found.p)
    assert found.note == note("occasion_with_one_value")


def test_values_that_never_vary_give_no_test() -> None:
    same = {f"s{i}": 4.0 for i in range(6)}
    found = situation_shift(same, same)
    assert found.difference == 0.0
    assert math.isnan(found.p)
    assert found.note == note("no_variance")


def test_the_change_from_rest_takes_rest_away_on_both_occasions() -> None:
    before = _occasion([30, 31, 29], [20, 22, 21, 19, 23, 24])
    after = _occasion([32, 33, 34], [21, 23, 22, 19, 25, 24])
    found = {
        shift.measure: shift.shift for shift in score_shifts(before, after) if not shift.emotion
    }
    assert found["rest"].difference == pytest.approx(3.0)
    assert found["evoked"].difference == pytest.approx(5 / 6)
    assert found["change"].difference == pytest.approx(5 / 6 - 3.0)
    assert found["change"].before == pytest.approx(21.5 - 30)


def test_the_variance_of_the_change_is_the_sum_of_both() -> None:
    rest, rest_after = [30.0, 31.0, 29.0], [32.0, 33.0, 35.0]
    evoked, evoked_after = [20.0, 22, 21, 19, 23, 24], [21.0, 23, 22, 19, 25, 24]
    found = {
        shift.measure: shift.shift
        for shift in score_shifts(_occasion(rest, evoked), _occasion(rest_after, evoked_after))
        if not shift.emotion
    }
    moved = np.array(evoked_after) - np.array(evoked)
    a = moved.var(ddof=1) / 6
    b = np.var(rest, ddof=1) / 3
    c = np.var(rest_after, ddof=1) / 3
    welch = (b + c) ** 2 / (b**2 / 2 + c**2 / 2)
    df = (a + b + c) ** 2 / (a**2 / 5 + (b + c) ** 2 / welch)
    margin = stats.t.ppf(0.975, df) * math.sqrt(a + b + c)
    assert found["change"].df == pytest.approx(df)
    assert found["change"].high - found["change"].low == pytest.approx(2 * margin)


def test_repeats_of_a_situation_count_once() -> None:
    once = _occasion([30, 31, 29], [20, 22, 21, 19, 23, 24])
    twice = pl.concat([once, once.filter(phase="evoked")])
    after = _occasion([30, 31, 29], [22, 23, 24, 19, 23, 25])
    single = [shift.shift for shift in score_shifts(once, after) if shift.measure == "evoked"]
    double = [shift.shift for shift in score_shifts(twice, after) if shift.measure == "evoked"]
    assert single == double


def test_people_are_the_units_where_scores_name_them() -> None:
    def people(shift: float) -> pl.DataFrame:
        return _frame(
            [
                row
                for number in range(6)
                for row in (
                    ("default", "positive", None, None, 30.0 + number, f"p{number}"),
                    ("evoked", "positive", "anger", "s0", 20.0 + shift * number, f"p{number}"),
                )
            ]
        )

    found = {
        shift.measure: shift.shift
        for shift in score_shifts(people(1), people(2))
        if not shift.emotion
    }
    assert found["change"].n_before == 6
    assert found["change"].difference == pytest.approx(2.5)
    assert not found["change"].paired


def test_p_is_corrected_over_all_situations_and_over_emotions_apart() -> None:
    before = _occasion([30, 31, 29], [20, 22, 21, 19, 23, 24])
    after = _occasion([32, 33, 34], [21, 23, 22, 19, 25, 24])
    found = score_shifts(before, after)
    whole = [item for item in found if item.emotion is None]
    emotions = [item for item in found if item.emotion is not None]
    assert min(item.p_holm for item in whole) == pytest.approx(
        3 * min(item.shift.p for item in whole)
    )
    assert [emotion.measure for emotion in emotions] == ["evoked", "change"]
    assert min(emotion.p_holm for emotion in emotions) == pytest.approx(
        2 * min(emotion.shift.p for emotion in emotions)
    )


def test_a_scale_of_one_occasion_gives_nothing() -> None:
    before = _occasion([30, 31, 29], [20, 22])
    assert score_shifts(before, before.clear()) == []
    assert score_shifts(before, before.with_columns(scale=pl.lit("teq"))) == []


@pytest.mark.slow
def test_the_interval_of_the_change_covers_at_its_rate() -> None:
    rng = np.random.default_rng(7)
    covered = 0
    trials = 400
    for _ in range(trials):
        places = rng.normal(0, 3, 12)
        before = _occasion(list(rng.normal(30, 2, 5)), list(20 + places + rng.normal(0, 2, 12)))
        after = _occasion(list(rng.normal(31, 2, 5)), list(23 + places + rng.normal(0, 2, 12)))
        [shift] = [
            shift.shift
            for shift in score_shifts(before, after)
            if shift.measure == "change" and not shift.emotion
        ]
        covered += shift.low <= 2.0 <= shift.high
    assert 0.92 <= covered / trials <= 0.98


def test_p_values_by_emotion_are_corrected_together_and_apart_from_those_of_all() -> None:
    generator = np.random.default_rng(3)

    def occasion(shift: float) -> pl.DataFrame:
        rest = [("default", "positive", None, None, score, None) for score in (2.0, 3.0, 4.5)]
        evoked = [
            ("evoked", "positive", emotion, f"{emotion}{number}", generator.normal(shift), None)
            for emotion in ("anger", "fear", "grief")
            for number in range(6)
        ]
        return _frame([*rest, *evoked])

    shifts = score_shifts(occasion(3.0), occasion(3.4))
    for by_emotion in (False, True):
        family = [shift for shift in shifts if (shift.emotion is not None) == by_emotion]
        assert len(family) == (6 if by_emotion else 3)
        corrected = stats.false_discovery_control([shift.shift.p for shift in family])
        assert [shift.p_bh for shift in family] == pytest.approx(corrected.tolist())
        smallest = min(family, key=lambda shift: shift.shift.p)
        assert smallest.p_holm == pytest.approx(min(1.0, len(family) * smallest.shift.p))
