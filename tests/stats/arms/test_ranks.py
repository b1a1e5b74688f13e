from __future__ import annotations

import math

import polars as pl
import pytest

from empathylab.stats.arms import kruskal_wallis, rank_comparison
from tests.stats.arms.reference_files import R, rated


def side(arm: str) -> pl.Series:
    return rated().filter(pl.col("arm") == arm)["rating"]


def test_superiority_by_hand() -> None:
    # Of the 4 pairs (2, 1), (2, 2), (3, 1), (3, 2): three wins and a tie.
    result = rank_comparison([2, 3], [1, 2])
    assert result.superiority.estimate == pytest.approx(3.5 / 4)
    assert result.u == 3.5


def test_mann_whitney_is_rs_wilcox_test() -> None:
    result = rank_comparison(side("alpha"), side("human"))
    assert result.u == R["wilcoxon"]["statistic"]
    assert result.p == pytest.approx(R["wilcoxon"]["p"], rel=1e-10)


def test_the_interval_is_that_of_brunner_and_munzel() -> None:
    # scipy 1.17.1, stats.brunnermunzel(human, alpha): statistic 4.815434355581482, pvalue
    # 2.7174452711751626e-06. An interval at confidence 1 − p must just touch one half.
    p = 2.7174452711751626e-06
    result = rank_comparison(side("alpha"), side("human"), confidence=1 - p)
    assert result.superiority.low == pytest.approx(0.5, abs=1e-9)


def test_kruskal_wallis_is_the_one_of_r() -> None:
    result = kruskal_wallis([side(arm) for arm in ("human", "alpha", "beta")])
    assert result.statistic == pytest.approx(R["kruskal"]["statistic"], rel=1e-10)
    assert (result.df, result.p) == (2, pytest.approx(R["kruskal"]["p"], rel=1e-9))


def test_groups_that_never_overlap_are_fully_apart() -> None:
    result = rank_comparison([3, 3, 3], [1, 1, 1])
    assert result.superiority.estimate == 1
    assert math.isnan(result.superiority.low)


def test_constant_ratings_have_no_rank_test() -> None:
    result = rank_comparison([2, 2, 2], [2, 2])
    assert result.superiority.estimate == 0.5
    assert math.isnan(result.p)
    assert math.isnan(kruskal_wallis([[2, 2], [2, 2]]).p)


def test_an_empty_side_has_no_rank_test() -> None:
    assert math.isnan(rank_comparison([], [1, 2]).superiority.estimate)
    assert math.isnan(kruskal_wallis([[1, 2], []]).p)
    assert math.isnan(kruskal_wallis([]).p)


def test_one_rating_a_side_has_no_interval() -> None:
    assert math.isnan(rank_comparison([2], [1]).superiority.low)
