"""The parametric bootstrap."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from empathylab.errors import InputError
from empathylab.stats.mixed import clmm, lmm
from empathylab.stats.mixed.bootstrap import bootstrap_likelihood_ratio, parametric_bootstrap
from tests.stats.mixed.rated_frames import crossed

FRAME = pl.read_csv(Path(__file__).parents[2] / "reference" / "slopes.csv")


def test_errors_of_a_linear_model_agree_with_the_analytic_ones() -> None:
    fit = lmm(FRAME, "score ~ arm + x + (1|rater) + (1|situation)")
    found = parametric_bootstrap(fit, replications=150, seed=3)
    assert found.failed == 0
    for name, effect in fit.coefficients.items():
        # 150 replications know a standard error to 6%, so three of those.
        assert found.intervals[name].se == pytest.approx(effect.se, rel=0.18)
    assert found.intervals["sd(rater)"].low > 0.4


def test_errors_of_an_ordinal_model_agree_with_the_analytic_ones() -> None:
    fit = clmm(crossed(20, 20, 1), "rating ~ arm + (1|rater) + (1|situation)")
    found = parametric_bootstrap(fit, replications=40, seed=3)
    assert found.failed < 3
    assert found.intervals["armb"].se == pytest.approx(fit.coefficients["armb"].se, rel=0.35)
    assert found.intervals["armb"].low < fit.coefficients["armb"].estimate


def test_slopes_are_simulated_with_their_correlation() -> None:
    fit = lmm(FRAME, "score ~ x + (1 + x|situation)")
    found = parametric_bootstrap(fit, replications=30)
    sd = fit.random_effects["x|situation"].sd
    assert found.intervals["sd(x|situation)"].low < sd < found.intervals["sd(x|situation)"].high


def test_any_number_of_workers_and_any_interruption_give_the_same() -> None:
    fit = lmm(FRAME, "score ~ arm + (1|rater)")
    whole = parametric_bootstrap(fit, replications=12, seed=5)
    half = parametric_bootstrap(fit, replications=6, seed=5)
    made: list[int] = []
    resumed = parametric_bootstrap(
        fit,
        replications=12,
        seed=5,
        known=half.estimates,
        tick=lambda number, _: made.append(number),
    )
    shared = parametric_bootstrap(fit, replications=12, seed=5, workers=2)
    assert made == list(range(6, 12))
    assert resumed.intervals == whole.intervals == shared.intervals


def test_the_test_holds_its_level_with_few_raters() -> None:
    # 3 raters an arm, no effect: the chi-square rejects far too often.
    plain = simulated = 0
    for seed in range(20):
        generator = np.random.default_rng(seed)
        rater = np.repeat(np.arange(6), 8)
        y = generator.normal(size=6)[rater] + generator.normal(size=48)
        frame = pl.DataFrame({"rater": rater, "arm": np.where(rater < 3, "a", "b"), "y": y})
        smaller = lmm(frame, "y ~ 1 + (1|rater)", reml=False)
        larger = lmm(frame, "y ~ arm + (1|rater)", reml=False)
        found = bootstrap_likelihood_ratio(smaller, larger, replications=19, seed=seed)
        plain += found.statistic > 3.841459
        simulated += found.p <= 0.05
    assert simulated <= 3
    assert plain > simulated


def test_a_real_effect_is_found() -> None:
    frame = crossed(30, 20, 2, effect=1.0)
    smaller = clmm(frame, "rating ~ 1 + (1|rater) + (1|situation)")
    larger = clmm(frame, "rating ~ arm + (1|rater) + (1|situation)")
    found = bootstrap_likelihood_ratio(smaller, larger, replications=19)
    assert found.p == pytest.approx(1 / 20)


def test_what_makes_no_sense_is_refused() -> None:
    fit = lmm(FRAME, "score ~ arm + (1|rater)")
    with pytest.raises(InputError, match="replications"):
        parametric_bootstrap(fit, replications=0)
    with pytest.raises(InputError, match="same ratings"):
        bootstrap_likelihood_ratio(fit, lmm(FRAME[:200], "score ~ arm + x + (1|rater)"))
