"""Cronbach's alpha, McDonald's omega and retest correlations."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from empathylab.stats.notes import note
from empathylab.stats.questionnaires.reliability import (
    cronbach_alpha,
    mcdonald_omega,
    retest_correlation,
)

# Section 6 of the Law School Admission Test (Bock & Lieberman 1970): how many of 1,000 people gave
# each pattern of right answers, from 00000 to 11111; the data set LSAT of R's package ltm.
LSAT_COUNTS = [
    *(3, 6, 2, 11, 1, 1, 3, 4, 1, 8, 0, 16, 0, 3, 2, 15),
    *(10, 29, 14, 81, 3, 28, 15, 80, 16, 56, 21, 173, 11, 61, 28, 298),
]
LSAT = np.repeat([[int(bit) for bit in f"{i:05b}"] for i in range(32)], LSAT_COUNTS, axis=0)

# Shrout & Fleiss (1979), table 2: six targets, four judges. They report ICC(2,1) = .29 and
# ICC(3,4) = .91, which is Cronbach's alpha of the judges.
SHROUT_FLEISS = np.array(
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
)


def one_factor(loadings: list[float], n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    weights = np.array(loadings)
    errors = rng.normal(size=(n, len(weights))) * np.sqrt(1 - weights**2)
    return rng.normal(size=(n, 1)) * weights + errors


def test_alpha_by_hand() -> None:
    # Variances 1 and 1; sums 3, 3, 6 with variance 3; alpha = 2 (1 − 2/3) = 2/3.
    result = cronbach_alpha(np.array([[1, 2], [2, 1], [3, 3]]))
    assert result.estimate == pytest.approx(2 / 3)
    assert (result.n, result.k, result.dropped, result.notes) == (3, 2, 0, ())


def test_feldts_interval_by_hand() -> None:
    # Alpha 2/3, 3 rows, 2 items: F(2, 2) has the quantile q / (1 − q), so 39 and 1/39.
    result = cronbach_alpha(np.array([[1, 2], [2, 1], [3, 3]]))
    assert result.low == pytest.approx(1 - 39 / 3)
    assert result.high == pytest.approx(1 - 1 / (3 * 39))


def test_alpha_is_the_one_r_prints_for_the_lsat_data() -> None:
    # R: alpha(LSAT) with LSAT from ltm prints 0.2949972 (R-help, January 2007).
    # Interval: pingouin 0.7.0, cronbach_alpha, prints [0.223, 0.362].
    result = cronbach_alpha(LSAT)
    assert result.estimate == pytest.approx(0.2949972, abs=1e-7)
    assert (round(result.low, 3), round(result.high, 3)) == (0.223, 0.362)
    assert result.n == 1000


def test_alpha_of_judges_is_shrout_and_fleiss_icc() -> None:
    result = cronbach_alpha(SHROUT_FLEISS)
    assert round(result.estimate, 2) == 0.91
    # pingouin 0.7.0 prints [0.676, 0.986].
    assert (round(result.low, 3), round(result.high, 3)) == (0.676, 0.986)


def test_alpha_takes_a_frame_and_drops_rows_with_a_gap() -> None:
    frame = pl.DataFrame({"a": [1, 2, 3, None], "b": [2, 1, 3, 4]})
    result = cronbach_alpha(frame)
    assert result.estimate == pytest.approx(2 / 3)
    assert (result.n, result.dropped) == (3, 1)


@pytest.mark.parametrize("rows", [[], [[1, 2]], [[1, 2], [2, 1]]])
def test_fewer_than_three_rows_have_no_reliability(rows: list[list[float]]) -> None:
    items = np.array(rows, dtype=float).reshape(-1, 2)
    assert math.isnan(cronbach_alpha(items).estimate)
    assert cronbach_alpha(items).notes[0].values["needed"] == 3


def test_one_item_has_no_alpha() -> None:
    assert math.isnan(cronbach_alpha(np.array([[1.0], [2], [3]])).estimate)


def test_no_variance_has_no_alpha() -> None:
    assert math.isnan(cronbach_alpha(np.full((9, 4), 0.1)).estimate)


def test_items_that_cancel_out_have_no_alpha() -> None:
    assert math.isnan(cronbach_alpha(np.array([[1, 5], [2, 4], [3, 3]])).estimate)


def test_items_without_columns_are_refused() -> None:
    with pytest.raises(ValueError, match="rows and columns"):
        cronbach_alpha(np.array([1, 2, 3]))


def test_alpha_recovers_what_was_simulated() -> None:
    # Equal loadings .7: correlations .49, so alpha = 8 × .49 / (1 + 7 × .49).
    result = cronbach_alpha(one_factor([0.7] * 8, 20_000, seed=1))
    assert result.estimate == pytest.approx(8 * 0.49 / (1 + 7 * 0.49), abs=0.01)


def test_feldts_interval_covers_as_often_as_it_says() -> None:
    true = 5 * 0.36 / (1 + 4 * 0.36)
    results = [cronbach_alpha(one_factor([0.6] * 5, 30, seed)) for seed in range(400)]
    covered = sum(result.low <= true <= result.high for result in results)
    assert 0.92 <= covered / 400 <= 0.98


def test_omega_of_three_items_is_spearmans_closed_form() -> None:
    # With three items the model fits exactly: λ₁² = r₁₂ r₁₃ / r₂₃, and so on.
    rows = one_factor([0.8, 0.6, 0.7], 300, seed=2)
    r = np.corrcoef(rows, rowvar=False)
    loadings = np.sqrt(
        [r[0, 1] * r[0, 2] / r[1, 2], r[0, 1] * r[1, 2] / r[0, 2], r[0, 2] * r[1, 2] / r[0, 1]]
    )
    spread = rows.std(axis=0, ddof=1)
    common = (loadings * spread).sum() ** 2
    total = common + ((1 - loadings**2) * spread**2).sum()
    assert mcdonald_omega(rows).estimate == pytest.approx(common / total, abs=1e-6)


def test_omega_of_the_lsat_data_is_the_one_of_factor_analyzer() -> None:
    # factor_analyzer 0.5.1, FactorAnalyzer(1, method="minres", rotation=None), loadings .21469220,
    # .30592053, .36907658, .27931473, .22270921, put into omega's formula: 0.3068491. By maximum
    # likelihood (scikit-learn 1.9.1, FactorAnalysis) it is 0.30675.
    result = mcdonald_omega(LSAT)
    assert result.estimate == pytest.approx(0.3068491, abs=2e-6)
    assert (result.n, result.k, result.notes) == (1000, 5, ())
    assert math.isnan(result.low)


def test_omega_recovers_what_was_simulated() -> None:
    loadings = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4]
    common = sum(loadings) ** 2
    true = common / (common + sum(1 - loading**2 for loading in loadings))
    rows = one_factor(loadings, 20_000, seed=3)
    assert mcdonald_omega(rows).estimate == pytest.approx(true, abs=0.01)
    assert cronbach_alpha(rows).estimate < mcdonald_omega(rows).estimate


def test_omega_equals_alpha_for_equal_loadings() -> None:
    rows = one_factor([0.7] * 6, 20_000, seed=4)
    assert mcdonald_omega(rows).estimate == pytest.approx(cronbach_alpha(rows).estimate, abs=0.002)


def test_omega_has_an_interval_when_resampled() -> None:
    rows = one_factor([0.7] * 6, 100, seed=5)
    result = mcdonald_omega(rows, resamples=50, seed=1)
    assert result.low < result.estimate < result.high
    assert mcdonald_omega(rows, resamples=50, seed=1) == result


def test_a_heywood_case_has_no_omega() -> None:
    # Correlations .9, .9 and .7: the closed form gives λ₁² = .81 / .7, more than 1.
    correlations = np.array([[1, 0.9, 0.9], [0.9, 1, 0.7], [0.9, 0.7, 1]])
    rows = np.random.default_rng(6).normal(size=(50, 3))
    rows = np.linalg.qr(rows - rows.mean(axis=0))[0] @ np.linalg.cholesky(correlations).T
    result = mcdonald_omega(rows)
    assert math.isnan(result.estimate)
    assert result.notes == (note("heywood_case"),)


def test_two_items_have_no_omega() -> None:
    result = mcdonald_omega(SHROUT_FLEISS[:, :2])
    assert math.isnan(result.estimate)
    assert result.notes == (note("few_items", items=2, needed=3),)


def test_omega_leaves_out_an_item_that_does_not_vary() -> None:
    rows = np.column_stack([LSAT, np.ones(len(LSAT))])
    result = mcdonald_omega(rows)
    assert result.estimate == pytest.approx(mcdonald_omega(LSAT).estimate)
    assert (result.k, result.notes) == (5, (note("constant_items", constant=1, items=6),))


def test_omega_of_nothing_is_nan() -> None:
    assert math.isnan(mcdonald_omega(np.empty((0, 4))).estimate)
    assert math.isnan(mcdonald_omega(np.full((9, 4), 2.0)).estimate)


def test_omega_works_with_more_items_than_rows() -> None:
    rows = one_factor([0.8] * 30, 12, seed=7)
    assert 0.8 < mcdonald_omega(rows).estimate < 1


def test_retest_by_hand() -> None:
    # Deviations −1, 0, 1 and −1, 1, 0: r = 1/2. No shift, so the ICC is (1.5 − .5)/(1.5 + .5 −
    # 2 × .5/3), with mean squares 1.5 between rows, .5 left and 0 between columns.
    result = retest_correlation([1, 2, 3], [1, 3, 2])
    assert result.estimate == pytest.approx(0.5)
    assert result.icc == pytest.approx(1 / (2 - 1 / 3))
    assert math.isnan(result.low)


def test_fishers_interval_is_the_one_pingouin_prints() -> None:
    # pingouin 0.7.0, corr(judge 1, judge 4): r = 0.750177, CI95 [-0.16, 0.97].
    result = retest_correlation(SHROUT_FLEISS[:, 0], SHROUT_FLEISS[:, 3])
    assert result.estimate == pytest.approx(0.750177, abs=1e-6)
    assert (round(result.low, 2), round(result.high, 2)) == (-0.16, 0.97)


def test_a_shift_lowers_the_icc_but_not_r() -> None:
    result = retest_correlation([1, 2, 3, 4], [2, 3, 4, 5])
    assert result.estimate == pytest.approx(1)
    assert result.icc < 0.9


def test_identical_answers_correlate_fully() -> None:
    result = retest_correlation(pl.Series([1, 2, 3, 4]), pl.Series([1, 2, 3, 4]))
    assert (result.estimate, result.icc) == (pytest.approx(1), pytest.approx(1))
    assert result.high == pytest.approx(1)


def test_pairs_with_a_gap_are_dropped() -> None:
    result = retest_correlation(pl.Series([1, 2, 3, None]), pl.Series([1, 3, 2, 4]))
    assert (result.n, result.dropped) == (3, 1)


@pytest.mark.parametrize("first", [[], [1], [1, 2], [3, 3, 3, 3]])
def test_too_little_to_correlate_is_nan(first: list[float]) -> None:
    assert math.isnan(retest_correlation(first, first).estimate)
    assert math.isnan(retest_correlation(first, first).icc)


def test_sides_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="same length"):
        retest_correlation([1, 2], [1])
