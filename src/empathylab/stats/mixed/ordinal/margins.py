"""Marginal means of a fitted cumulative link mixed model, and contrasts between them.

Searle, S. R., Speed, F. M., & Milliken, G. A. (1980). The American Statistician 34, 216–221.
Lenth, R. V. (2023). emmeans: Estimated marginal means. R package (gives the same numbers).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from empathylab.errors import InputError, UnknownName
from empathylab.stats.arrays import Array
from empathylab.stats.corrections import corrected_by
from empathylab.stats.mixed.ordinal.clmm import Clmm
from empathylab.stats.mixed.ordinal.links import find_link
from empathylab.stats.mixed.ordinal.predictions import probabilities, refuse_averaging
from empathylab.stats.notes import Note, note
from empathylab.stats.t_tests import z_margin

Scale = Literal["latent", "probability", "expected"]

_SCALES = ("latent", "probability", "expected")
_STEP = 1e-5


@dataclass(frozen=True, slots=True)
class Margin:
    """The mean of one level, or combination of levels."""

    levels: Mapping[str, str]
    """Of each factor asked for."""
    category: str
    """Whose probability this is; empty on the other scales."""
    estimate: float
    """NaN where the design does not determine it."""
    se: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Margins:
    """Marginal means, with what contrasts between them need."""

    factors: tuple[str, ...]
    scale: str
    margins: tuple[Margin, ...]
    averaged_over: tuple[str, ...]
    """Factors whose levels have the same weight in each mean."""
    held_at: Mapping[str, float]
    """Numbers held at their mean over the ratings."""
    notes: tuple[Note, ...]
    """What to keep in mind, a sentence each."""
    n: int
    """Ratings used in the fit."""
    confidence: float
    covariance: Array = field(repr=False)


@dataclass(frozen=True, slots=True)
class Contrast:
    """The difference of two margins: the first minus the second."""

    first: Mapping[str, str]
    second: Mapping[str, str]
    category: str
    estimate: float
    se: float
    z: float
    p: float
    p_corrected: float
    """By the correction asked for, over all contrasts given together."""
    low: float
    """Ends of the interval of this contrast alone."""
    high: float


def marginal_means(
    fit: Clmm,
    *factors: str,
    scale: Scale = "latent",
    averaged: bool = False,
    confidence: float = 0.95,
) -> Margins:
    """The mean of each level of a factor (or each combination of several), other things equal.

    Estimates what the ratings would be if every level had met the same mixture of the other
    factors' levels, each with the same weight, and numbers at their mean. `scale` is `latent` (from
    the mean of the thresholds, in units of the link), `probability` (of each category) or
    `expected` (the mean category, counting 1, 2, … from the lowest). The last two are those of a
    typical rater and situation, or with `averaged` the mean over all of them. Intervals by the
    delta method, so those of small probabilities may pass 0.

    A mean that the design does not determine (a combination without ratings) is NaN.
    """
    wanted = _checked(fit, factors, scale)
    if averaged:
        refuse_averaging(fit)
    coding = fit.design.coding
    values, size = coding.grid()
    undetermined = fit.design.repeats.broken_by(values, size)
    x = coding.matrix(values, size)
    levels = [fit.design.factors[name] for name in wanted]
    cells = list(itertools.product(*levels))
    codes = tuple(values[coding.factors[name]].astype(np.int64) for name in wanted)
    share = np.zeros((len(cells), size))
    share[np.ravel_multi_index(codes, tuple(map(len, levels))), np.arange(size)] = 1
    share /= share.sum(axis=1, keepdims=True)
    lost = share @ undetermined > 0

    def means(parameters: Array) -> Array:
        averages = share @ _on_scale(fit, parameters, x, scale, averaged)
        averages[lost] = np.nan
        return averages.reshape(-1)

    estimates, covariance = _propagated(fit, means)
    categories = fit.levels if scale == "probability" else ("",)
    rows = _with_intervals(estimates, covariance, confidence)
    labels = itertools.product(cells, categories)
    return Margins(
        factors=wanted,
        scale=scale,
        margins=tuple(
            Margin(dict(zip(wanted, cell, strict=True)), category, *row)
            for (cell, category), row in zip(labels, rows, strict=True)
        ),
        averaged_over=tuple(name for name in fit.design.factors if name not in wanted),
        held_at={
            predictor.variable.name: predictor.mean
            for predictor in fit.design.coding.predictors.values()
            if not predictor.levels
        },
        notes=tuple(_notes(fit, wanted, bool(lost.any()))),
        n=fit.n,
        confidence=confidence,
        covariance=covariance,
    )


def contrasts(
    means: Margins, *, reference: str | None = None, correction: str = "holm"
) -> tuple[Contrast, ...]:
    """Differences between marginal means: every pair, or each against a `reference` level.

    Tests are Wald's. The family that is corrected over is everything returned; on the probability
    scale that includes all categories. Corrections: holm, bonferroni, benjamini-hochberg, none.
    """
    pairs = _pairs(means, reference)
    estimates = np.array([margin.estimate for margin in means.margins])
    matrix = np.zeros((len(pairs), len(estimates)))
    for row, (first, second) in enumerate(pairs):
        matrix[row, [first, second]] = 1, -1
    difference = np.array([estimates[a] - estimates[b] for a, b in pairs])
    variance = np.einsum("ij,jk,ik->i", matrix, np.nan_to_num(means.covariance), matrix)
    se = np.where(np.isnan(difference), np.nan, np.sqrt(np.maximum(variance, 0)))
    return _tested(means, pairs, difference, se, correction)


def _tested(
    means: Margins,
    pairs: Sequence[tuple[int, int]],
    difference: Array,
    se: Array,
    correction: str,
) -> tuple[Contrast, ...]:
    from scipy.special import ndtr

    with np.errstate(divide="ignore", invalid="ignore"):
        z = difference / se
    p = 2 * ndtr(-np.abs(z))
    corrected = corrected_by(correction, p.tolist())
    alone = z_margin(means.confidence) * se
    numbers = zip(
        difference, se, z, p, corrected, difference - alone, difference + alone, strict=True
    )
    return tuple(
        Contrast(
            means.margins[first].levels,
            means.margins[second].levels,
            means.margins[first].category,
            *map(float, row),
        )
        for (first, second), row in zip(pairs, numbers, strict=True)
    )


def _pairs(means: Margins, reference: str | None) -> list[tuple[int, int]]:
    margins = means.margins
    pairs = [
        (a, b)
        for a, b in itertools.combinations(range(len(margins)), 2)
        if margins[a].category == margins[b].category
    ]
    if reference is None:
        return pairs
    if len(means.factors) != 1:
        raise InputError(
            "a reference level needs means of one factor",
            got=means.factors,
            remedy="Ask for the marginal means of that factor alone.",
        )
    name = means.factors[0]
    known = list(dict.fromkeys(item.levels[name] for item in margins))
    if reference not in known:
        raise UnknownName(f"level of {name!r}", reference, known)
    against = [(b, a) if margins[a].levels[name] == reference else (a, b) for a, b in pairs]
    return [pair for pair in against if margins[pair[1]].levels[name] == reference]


def _checked(fit: Clmm, factors: Sequence[str], scale: str) -> tuple[str, ...]:
    if scale not in _SCALES:
        raise UnknownName("scale of marginal means", scale, _SCALES)
    if not factors:
        raise InputError("name a factor", remedy=f"One of: {', '.join(fit.design.factors)}.")
    for name in factors:
        if name not in fit.design.factors:
            raise UnknownName("factor in the model", name, fit.design.factors)
    return tuple(dict.fromkeys(factors))


def _on_scale(fit: Clmm, parameters: Array, x: Array, scale: str, averaged: bool) -> Array:
    """The grid's values, as rows × (categories or one), at all parameters of the fit."""
    cut = len(fit.levels) - 1
    thresholds, eta = parameters[:cut], x @ parameters[cut : cut + x.shape[1]]
    if scale == "latent":
        return np.asarray((eta - thresholds.mean())[:, None])
    spread = math.sqrt(float((parameters[cut + x.shape[1] :] ** 2).sum())) if averaged else 0.0
    by_category = probabilities(thresholds, eta, spread, find_link(fit.link))
    return by_category if scale == "probability" else by_category @ np.arange(1, cut + 2)[:, None]


def _propagated(fit: Clmm, function: Callable[[Array], Array]) -> tuple[Array, Array]:
    """A function of the parameters at the estimates, and its covariance by the delta method."""
    free = [
        *(threshold.estimate for threshold in fit.thresholds.values()),
        *(coefficient.estimate for coefficient in fit.coefficients.values()),
    ]
    if not fit.has_slopes:
        free += [
            random_effect.sd
            for random_effect in fit.random_effects.values()
            if not random_effect.boundary
        ]
    at = np.array(free)
    covariance = fit.covariance[: len(at), : len(at)]
    columns = []
    for number, value in enumerate(at):
        shift = np.zeros(len(at))
        shift[number] = _STEP * max(1.0, abs(value))
        change = function(at + shift) - function(at - shift)
        columns.append(change / (2 * shift[number]))
    jacobian = np.array(columns).T
    return function(at), jacobian @ covariance @ jacobian.T


def _with_intervals(
    estimates: Array, covariance: Array, confidence: float
) -> list[tuple[float, float, float, float]]:
    with np.errstate(invalid="ignore"):
        se = np.sqrt(np.diag(covariance))
    margin = z_margin(confidence) * se
    columns = (estimates, se, estimates - margin, estimates + margin)
    return [(float(a), float(b), float(c), float(d)) for a, b, c, d in zip(*columns, strict=True)]


def _notes(fit: Clmm, wanted: Sequence[str], lost: bool) -> list[Note]:
    notes = []
    for term in fit.design.formula.terms:
        names = {variable.name for variable in term}
        if names & set(wanted) and not names <= set(wanted):
            others = tuple(sorted(names - set(wanted)))
            notes.append(note("means_over_interaction", factors=tuple(wanted), others=others))
    if lost:
        notes.append(note("means_over_empty_cells"))
    return notes
