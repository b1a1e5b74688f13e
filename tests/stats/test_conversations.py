"""Means and differences over personas, against SciPy."""

from __future__ import annotations

import math

import polars as pl
import pytest
from scipy import stats

from empathylab.stats.conversations import clustered_mean, persona_difference, rank_agreement

FIRST = {"a": 7.0, "b": 5.5, "c": 8.1, "d": 6.2, "e": 9.4}
SECOND = {"v": 3.0, "w": 4.9, "x": 4.4}


def test_personas_of_two_groups_are_compared_by_welchs_test() -> None:
    difference = persona_difference(FIRST, SECOND)
    expected = stats.ttest_ind(list(FIRST.values()), list(SECOND.values()), equal_var=False)
    interval = expected.confidence_interval()
    assert (difference.df, difference.p) == pytest.approx((expected.df, expected.pvalue))
    assert (difference.low, difference.high) == pytest.approx((interval.low, interval.high))
    assert (difference.n, difference.paired) == (8, False)


def test_shared_personas_are_compared_in_pairs() -> None:
    second = dict(zip("abcde", (6.1, 5.0, 8.3, 4.0, 7.7), strict=True))
    difference = persona_difference(FIRST, second)
    expected = stats.ttest_rel(list(FIRST.values()), list(second.values()))
    assert (difference.df, difference.p) == pytest.approx((expected.df, expected.pvalue))
    assert (difference.n, difference.paired) == (5, True)


def test_the_mean_of_personas_with_one_conversation_has_students_interval() -> None:
    values = list(FIRST.values())
    mean = clustered_mean(values, list(FIRST))
    low, high = stats.t.interval(0.95, 4, loc=mean.estimate, scale=stats.sem(values))
    assert (mean.low, mean.high) == pytest.approx((low, high))


def test_a_single_persona_has_no_difference_to_test() -> None:
    difference = persona_difference(FIRST, {"v": 3.0})
    assert math.isfinite(difference.estimate)
    assert math.isnan(difference.p)


def feelings(**simulators: list[float | None]) -> pl.DataFrame:
    return pl.DataFrame(
        [
            {"respondent": f"m{number}", "simulator": name, "persona": persona, "final": final}
            for name, finals in simulators.items()
            for persona in ("anna", "ben")
            for number, final in enumerate(finals)
        ],
        schema_overrides={"final": pl.Float64},
    )


def test_simulators_agree_as_far_as_their_ranks_of_respondents_do() -> None:
    first, second = [50.0, 40, 70, 70, 10], [55.0, 30, 60, 80, 30]
    found = rank_agreement(feelings(one=first, two=second), draws=50)
    assert found.correlation == pytest.approx(stats.spearmanr(first, second).statistic)
    assert (found.pairs, found.respondents) == (1, 5)


def test_conversations_without_a_final_feeling_are_left_out_of_the_ranks() -> None:
    finals = [50.0, 40.0, 70.0, 65.0]
    found = rank_agreement(feelings(one=[*finals, None], two=[*finals, 5.0]), draws=50)
    assert found.correlation == pytest.approx(1)
    assert found.respondents == 4
