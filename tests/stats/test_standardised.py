"""Standardised differences.

Outside figures: Borenstein, Hedges, Higgins & Rothstein (2009), Introduction to Meta-Analysis,
chapter 4: independent groups 103 and 100, SD 5.5 and 4.5, n 50 each; paired 103 and 100, SD of
the differences 5.5, r = .7, n = 50.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from empathylab.stats.standardised import hedges_g, paired_d


def array(value: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array([value])


def g(mean: float, sd: float, n: int, other: float, other_sd: float, m: int) -> tuple[float, ...]:
    found = hedges_g(*(array(x) for x in (mean, sd, n, other, other_sd, m)))
    return tuple(float(x[0]) for x in (found.estimate, found.se, found.low, found.high))


def test_hedges_g_is_the_published_figure() -> None:
    estimate, se, low, high = g(103, 5.5, 50, 100, 4.5, 50)
    assert estimate == pytest.approx(0.5924, abs=1e-4)
    assert se == pytest.approx(0.2028, abs=2e-4)
    assert (low, high) == pytest.approx((estimate - 1.96 * se, estimate + 1.96 * se), abs=1e-4)


def test_paired_d_is_the_published_figure() -> None:
    sd = 5.5 / math.sqrt(2 * (1 - 0.7))
    found = paired_d(*(array(x) for x in (103, sd, 100, sd, 50, 0.7)))
    correction = math.exp(math.lgamma(24.5) - math.lgamma(24)) / math.sqrt(24.5)
    assert found.estimate[0] == pytest.approx(0.4225 * correction, abs=1e-4)
    assert found.se[0] == pytest.approx(math.sqrt(0.0131) * correction, abs=3e-4)


def test_a_difference_of_one_sd_is_nearly_one_in_large_samples() -> None:
    assert g(2, 1, 10_000, 1, 1, 10_000)[0] == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize(("sd", "n"), [(0.0, 5), (math.nan, 1)])
def test_without_variation_there_is_no_effect_size(sd: float, n: int) -> None:
    assert all(math.isnan(figure) for figure in g(2, sd, n, 1, sd, n))


def test_paired_scores_without_a_correlation_have_no_interval() -> None:
    found = paired_d(*(array(x) for x in (2, 1, 1, 1, 5, math.nan)))
    assert not math.isnan(found.estimate[0])
    assert math.isnan(found.low[0])
