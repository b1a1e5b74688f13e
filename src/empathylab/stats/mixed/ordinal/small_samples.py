"""Tests of a cumulative link mixed model with few raters, situations or replies.

Wald's z takes the random effects' standard deviations as known and estimates them by maximum
likelihood, which is too low with few levels. A linear mixed model of the category numbers with the
same formula says how much both matter in this design: the ratio of its standard errors by REML and
by maximum likelihood corrects the ordinal model's, and Satterthwaite's degrees of freedom replace
the normal distribution. With many levels the ratio is 1 and the test is Wald's.

Patterson, H. D., & Thompson, R. (1971). Biometrika 58, 545–554 (REML). Fai, A. H.-T., &
Cornelius, P. L. (1996). Journal of Statistical Computation and Simulation 54, 363–378 (degrees of
freedom). That they carry over to the ordinal model is shown by simulation.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from empathylab.errors import InputError
from empathylab.stats.mixed.design import NO_REFERENCE
from empathylab.stats.mixed.linear.model import Lmm, lmm
from empathylab.stats.mixed.ordinal.clmm import Clmm
from empathylab.stats.t_tests import TTest, t_test


@dataclass(frozen=True, slots=True)
class SmallSampleTest(TTest):
    """A coefficient on the latent scale with a t test that holds with few levels."""

    inflation: float
    """The standard error over that of maximum likelihood."""


def small_sample_tests(
    fit: Clmm,
    frame: pl.DataFrame,
    *,
    reference: Mapping[str, str] = NO_REFERENCE,
    formula: str = "",
) -> dict[str, SmallSampleTest]:
    """The t test of each coefficient of a model fitted to this frame.

    The rating must be numeric. `formula` is that of the linear model where it is not the ordinal
    model's. An InputError where the linear model cannot be fitted.
    """
    if fit.method == "iterative":
        return {
            name: _tested(effect.estimate, effect.se, 1.0, math.inf, fit.confidence)
            for name, effect in fit.coefficients.items()
        }
    exact, biased = (
        lmm(frame, formula or fit.formula, reml=reml, reference=reference) for reml in (True, False)
    )
    tests = {}
    for name, effect in fit.coefficients.items():
        inflation, df = _correction(exact, biased, name)
        tests[name] = _tested(effect.estimate, effect.se, inflation, df, fit.confidence)
    return tests


def _correction(exact: Lmm, biased: Lmm, name: str) -> tuple[float, float]:
    if name not in exact.coefficients:
        raise InputError(f"the linear model has no coefficient {name}", remedy="Check the formula.")
    by_reml, by_likelihood = exact.coefficients[name], biased.coefficients[name]
    if not by_likelihood.se > 0:
        raise InputError(
            "the linear model has no residuals",
            remedy="The ratings follow from the model's terms; add ratings.",
        )
    return max(1.0, by_reml.se / by_likelihood.se), by_reml.df


def _tested(
    estimate: float, se: float, inflation: float, df: float, confidence: float
) -> SmallSampleTest:
    test = t_test(estimate, se * inflation, df, confidence)
    return SmallSampleTest(**dataclasses.asdict(test), inflation=inflation)
