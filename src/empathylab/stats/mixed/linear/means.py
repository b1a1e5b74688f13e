"""Means of a factor's levels under a linear mixed model, and the differences between them.

Means are taken over a balanced grid: every combination of the other factors' levels counts the
same, numbers stand at their mean. So they answer what arms would have got had each been rated in
the same circumstances, however unequally they were.

Searle, S. R., Speed, F. M., & Milliken, G. A. (1980). The American Statistician 34, 216–221.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from empathylab.errors import InputError, UnknownName
from empathylab.stats.arrays import Array
from empathylab.stats.corrections import corrected_by
from empathylab.stats.mixed.linear.model import Lmm
from empathylab.stats.t_tests import TTest

_MAX_CELLS = 1_000_000


@dataclass(frozen=True, slots=True)
class LmmMean:
    """The mean of one level, with its interval."""

    level: str
    by: str
    """The level of the second factor it holds for; empty where it is over all."""
    estimate: float
    """NaN where a combination of levels that it needs has no rating."""
    se: float
    df: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class LmmContrast:
    """How far one level's mean lies above another's."""

    level: str
    other: str
    by: str
    """The level of the second factor it holds for; empty where it is over all."""
    estimate: float
    """Mean of `level` minus mean of `other`; NaN where either has none."""
    se: float
    df: float
    t: float
    p: float
    p_corrected: float
    """Over the contrasts of one level of the second factor."""
    correction: str
    low: float
    """The interval is of this contrast alone, not corrected."""
    high: float


def lmm_means(fit: Lmm, factor: str, *, by: str = "") -> tuple[LmmMean, ...]:
    """The marginal mean of each level of a factor, with a t interval.

    With `by`, separately within each level of a second factor. Estimates what each level would
    get on average if the other factors were balanced. Gives the numbers of R's `emmeans` with
    Satterthwaite's degrees of freedom.
    """
    means = []
    for (level, within), row in _rows(fit, factor, by).items():
        test = _tested(fit, row)
        means.append(LmmMean(level, within, test.estimate, test.se, test.df, test.low, test.high))
    return tuple(means)


def lmm_contrasts(
    fit: Lmm, factor: str, *, by: str = "", against: str = "", correction: str = "holm"
) -> tuple[LmmContrast, ...]:
    """Differences between the marginal means of a factor's levels, with corrected p values.

    All pairs, or with `against` every other level minus that one. The family that is corrected
    for is the contrasts within one level of `by`. Intervals are uncorrected.
    """
    rows = _rows(fit, factor, by)
    levels = list(dict.fromkeys(level for level, _ in rows))
    if against and against not in levels:
        raise UnknownName(f"level of {factor!r}", against, levels)
    pairs = (
        [(level, against) for level in levels if level != against]
        if against
        else list(itertools.combinations(levels, 2))
    )
    contrasts: list[LmmContrast] = []
    for within in dict.fromkeys(within for _, within in rows):
        tests = [_tested(fit, rows[a, within] - rows[b, within]) for a, b in pairs]
        corrected = corrected_by(correction, [test.p for test in tests])
        for (a, b), test, p in zip(pairs, tests, corrected, strict=True):
            start = (a, b, within, test.estimate, test.se, test.df, test.t, test.p)
            contrasts.append(LmmContrast(*start, float(p), correction, test.low, test.high))
    return tuple(contrasts)


def _rows(fit: Lmm, factor: str, by: str) -> dict[tuple[str, str], Array]:
    """The coefficients that combine to each level's mean; NaN where it cannot be estimated."""
    coding = fit.design.coding
    labels = coding.factors
    for name in (factor, *([by] if by else [])):
        if name not in labels:
            raise UnknownName("factor among the fixed effects", name, labels)
    if by == factor:
        raise InputError("the second factor must be another one", got=by, remedy="Leave out `by`.")
    cells = math.prod(len(coding.predictors[label].levels) for label in labels.values())
    if cells > _MAX_CELLS:
        raise InputError(
            f"the factors have {cells} combinations of levels, too many to average over",
            remedy="Leave factors with very many levels to random terms, as (1|name).",
        )
    values, _ = coding.grid()
    matrix = coding.matrix(values, cells)
    matrix[fit.design.repeats.broken_by(values, cells)] = math.nan
    own = values[labels[factor]]
    second = values[labels[by]] if by else np.zeros(cells)
    outer = coding.predictors[labels[by]].levels if by else ("",)
    return {
        (level, within): matrix[(own == i) & (second == j)].mean(axis=0)
        for j, within in enumerate(outer)
        for i, level in enumerate(coding.predictors[labels[factor]].levels)
    }


def _tested(fit: Lmm, row: Array) -> TTest:
    if np.isnan(row).any():
        return TTest(*[math.nan] * 7)
    return fit.tested(row)
