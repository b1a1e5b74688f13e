"""Simulated studies: whether the truth is found, intervals cover, and nothing is found in noise."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.special import chdtrc

from empathylab.stats.mixed.ordinal.clmm import clmm
from tests.stats.mixed.rated_frames import between, crossed

pytestmark = pytest.mark.slow

FORMULA = "rating ~ arm + (1|rater) + (1|situation)"


@pytest.mark.parametrize("seed", range(3))
def test_200_raters_of_300_situations_give_the_truth_within_3_standard_errors(seed: int) -> None:
    found = clmm(crossed(200, 300, seed), FORMULA)
    assert found.converged
    truth = {"1|2": -1, "2|3": 1, "armb": 0.5}
    for name, one in {**found.thresholds, **found.coefficients}.items():
        assert abs(one.estimate - truth[name]) < 3 * one.se
    se = dict(zip(found.covariance_names, np.sqrt(np.diag(found.covariance)), strict=True))
    for group, sd in (("rater", 0.8), ("situation", 0.6)):
        assert abs(found.random_effects[group].sd - sd) < 3 * se[f"sd({group})"]


def test_intervals_cover_the_truth_as_often_as_they_promise() -> None:
    studies = 160
    covered = {"armb": 0, "1|2": 0, "2|3": 0}
    truth = {"armb": 0.5, "1|2": -1, "2|3": 1}
    for seed in range(studies):
        found = clmm(crossed(40, 40, 1000 + seed), FORMULA)
        both = {**found.thresholds, **found.coefficients}
        for name in covered:
            covered[name] += both[name].low < truth[name] < both[name].high
    # 95% of 160, less or more than three binomial standard errors of 1.7%.
    for name, times in covered.items():
        assert 0.898 < times / studies <= 1, name


def chi_square_p(frame: pl.DataFrame) -> float:
    """Pearson's test of arm × rating, as if every rating came from a rater of its own."""
    counts = np.array(
        [
            [frame.filter((pl.col("arm") == arm) & (pl.col("rating") == rating)).height]
            for arm in ("a", "b")
            for rating in (1, 2, 3)
        ]
    ).reshape(2, 3)
    expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0) / counts.sum()
    return float(chdtrc(2, ((counts - expected) ** 2 / expected).sum()))


def test_raters_who_differ_fool_the_chi_square_and_not_the_mixed_model() -> None:
    studies, mixed, plain = 160, 0, 0
    for seed in range(studies):
        frame = between(40, 5000 + seed, effect=0.0, sd=(1.0, 0.3))
        mixed += clmm(frame, FORMULA).coefficients["armb"].p < 0.05
        plain += chi_square_p(frame) < 0.05
    assert 0.005 < mixed / studies < 0.102
    assert plain / studies > 0.15
