from __future__ import annotations

import math

import numpy as np
import pytest

from empathylab.errors import InputError
from empathylab.stats.arms import cochran_q, friedman, mcnemar, signed_ranks, stuart_maxwell
from tests.stats.arms.reference_files import R, paired

WIDE = np.column_stack(
    [paired().filter(arm=arm)["rating"].to_numpy() for arm in ("human", "alpha", "beta")]
)

# A square table of 7,477 pairs in four categories; rated_arms.R holds it too.
VISION = [[1520, 266, 124, 66], [234, 1512, 432, 78], [117, 362, 1772, 205], [36, 82, 179, 492]]


def test_mcnemar_by_hand() -> None:
    # (|40 − 20| − 1)² / 60; the difference (40 − 20)/100; the odds 40/20.
    result = mcnemar(30, 40, 20, 10)
    assert result.chi2 == pytest.approx(361 / 60)
    assert result.difference.estimate == pytest.approx(0.2)
    assert result.odds_ratio.estimate == pytest.approx(2)
    assert result.method == "McNemar"


def test_agresti_and_mins_interval_by_hand() -> None:
    # Half a pair in each cell: (40.5 − 20.5)/102 ± 1.96 √(61 − 400/102)/102.
    result = mcnemar(30, 40, 20, 10)
    margin = 1.959964 * math.sqrt(61 - 400 / 102) / 102
    assert result.difference.low == pytest.approx(20 / 102 - margin, abs=1e-6)
    assert result.difference.high == pytest.approx(20 / 102 + margin, abs=1e-6)


def test_mcnemar_is_the_one_of_rs_help_page() -> None:
    result = mcnemar(794, 150, 86, 570)
    assert result.chi2 == pytest.approx(R["mcnemar_approval"]["statistic"], rel=1e-12)
    assert result.p == pytest.approx(R["mcnemar_approval"]["p"], rel=1e-9)


def test_few_pairs_that_differ_get_the_exact_test() -> None:
    (both, only), (lost, neither) = R["pairs"]
    result = mcnemar(both, only, lost, neither)
    assert result.method == "exact binomial"
    assert result.p == pytest.approx(R["binomial"])
    assert result.p_chi2 == pytest.approx(R["mcnemar"]["p"])
    assert result.odds_ratio[1:] == pytest.approx(R["paired_odds"], rel=1e-9)


def test_pairs_that_never_differ_have_p_of_one() -> None:
    result = mcnemar(5, 0, 0, 5)
    assert (result.chi2, result.p) == (0, 1)
    assert math.isnan(result.odds_ratio.estimate)


def test_no_pairs_have_no_test() -> None:
    assert math.isnan(mcnemar(0, 0, 0, 0).p)


def test_one_sided_pairs_have_infinite_odds() -> None:
    result = mcnemar(0, 5, 0, 5)
    assert result.odds_ratio.estimate == math.inf
    assert result.odds_ratio.low > 0


def test_stuart_maxwell_is_the_quadratic_form_that_r_computes() -> None:
    result = stuart_maxwell(VISION)
    assert (result.statistic, result.df) == (pytest.approx(R["stuart"], rel=1e-10), 3)


def test_stuart_maxwell_of_two_categories_is_mcnemar_without_correction() -> None:
    result = stuart_maxwell([[30, 40], [20, 10]])
    assert result.statistic == pytest.approx(400 / 60)


def test_a_category_nobody_uses_does_not_count() -> None:
    result = stuart_maxwell([[30, 0, 40], [0, 0, 0], [20, 0, 10]])
    assert (result.statistic, result.df) == (pytest.approx(400 / 60), 1)


def test_full_agreement_has_no_marginal_test() -> None:
    assert math.isnan(stuart_maxwell([[3, 0], [0, 4]]).p)
    assert math.isnan(stuart_maxwell([[3]]).p)


def test_a_table_that_is_not_square_is_refused() -> None:
    with pytest.raises(InputError, match="square"):
        stuart_maxwell([[1, 2, 3], [4, 5, 6]])


def test_cochrans_q_by_hand() -> None:
    # Columns 3, 1, 1, rows 1, 1, 1, 2: T = 5, so 2 (3 · 11 − 25) / (15 − 7) = 2.
    result = cochran_q([[1, 0, 0], [1, 0, 0], [0, 1, 0], [1, 0, 1]])
    assert (result.statistic, result.df, result.n) == (pytest.approx(2), 2, 4)


def test_cochrans_q_is_rs_friedman_of_zeros_and_ones() -> None:
    result = cochran_q(WIDE == 3)
    assert result.statistic == pytest.approx(R["cochran"]["statistic"], rel=1e-10)
    assert result.p == pytest.approx(R["cochran"]["p"], rel=1e-9)


def test_friedman_is_the_one_of_r() -> None:
    result = friedman(WIDE)
    assert result.statistic == pytest.approx(R["friedman"]["statistic"], rel=1e-10)
    assert (result.df, result.p) == (2, pytest.approx(R["friedman"]["p"], rel=1e-9))


def test_signed_ranks_are_rs_wilcox_test() -> None:
    result = signed_ranks(WIDE[:, 1], WIDE[:, 0])
    assert result.v == R["signed_ranks"]["statistic"]
    assert result.p == pytest.approx(R["signed_ranks"]["p"], rel=1e-10)
    assert result.n + result.ties == 25


def test_rows_that_never_differ_have_no_test() -> None:
    same = np.ones((5, 3))
    assert math.isnan(cochran_q(same).p)
    assert math.isnan(friedman(same).p)
    assert math.isnan(signed_ranks(same[:, 0], same[:, 1]).p)


def test_no_rows_have_no_test() -> None:
    nobody = np.empty((0, 3))
    assert math.isnan(cochran_q(nobody).p)
    assert math.isnan(friedman(nobody).p)
    assert math.isnan(signed_ranks([], []).p)
