"""Cumulative link mixed models: ordered ratings explained by arms, raters and situations.

Christensen, R. H. B. (2022). ordinal: Regression models for ordinal data. R package (`clmm`).
Agresti, A. (2010). Analysis of Ordinal Categorical Data, 2nd edition, chapter 10.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from empathylab.compute import one_thread
from empathylab.stats.arguments import require_confidence
from empathylab.stats.arrays import Array
from empathylab.stats.mixed.design import NO_REFERENCE, MixedDesign, read_design
from empathylab.stats.mixed.effects.solvers import Method
from empathylab.stats.mixed.fitted import FittedModel
from empathylab.stats.mixed.ordinal.fit import Estimates, estimate
from empathylab.stats.mixed.ordinal.links import find_link
from empathylab.stats.mixed.spread import (
    RandomEffect,
    mode_tables,
    parameter_names,
    random_spread,
)
from empathylab.stats.notes import Note, note
from empathylab.stats.t_tests import z_margin

_FEW_LEVELS = 5
_FAR_APART = 5
"""Standard deviations of a grouping, in units of the latent error, that leave it no room."""
_SPAN = 10
"""Latent standard deviations between a predictor's ends that no finite sample shows."""


@dataclass(frozen=True, slots=True)
class Coefficient:
    """An estimate on the latent scale, with its Wald test against zero."""

    estimate: float
    se: float
    """NaN where the curvature of the likelihood is singular."""
    z: float
    p: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Clmm(FittedModel):
    """A fitted cumulative link mixed model."""

    link: str
    coefficients: Mapping[str, Coefficient]
    """Positive ones raise ratings."""
    thresholds: Mapping[str, Coefficient]
    """By the categories on either side, as in `1|2`."""
    levels: tuple[str, ...]
    """The rating's categories, lowest first."""
    gradient_norm: float
    """Largest slope of the log-likelihood at the end."""
    iterations: int
    covariance_names: tuple[str, ...] = field(repr=False)
    """Thresholds, coefficients, then `sd(group)` of those not at the boundary; where there are
    slopes, elements of the covariances' lower factors on the scale that was searched."""

    @property
    def has_slopes(self) -> bool:
        """Whether anything but intercepts varies between levels."""
        return any(group.columns.values is not None for group in self.design.groups)


def clmm(
    frame: pl.DataFrame,
    formula: str,
    *,
    link: str = "logit",
    reference: Mapping[str, str] = NO_REFERENCE,
    levels: Sequence[str | int | float] | None = None,
    confidence: float = 0.95,
    method: Method | None = None,
) -> Clmm:
    """The cumulative link mixed model of a rating, fitted by maximum likelihood.

    `clmm(frame, "rating ~ source * valence + (1|rater) + (1|situation)")` estimates by how much
    sources differ on a latent scale of which the rating's categories are slices with free
    boundaries: P(rating ≤ j) = F(threshold_j − xβ − random effects), F logistic or normal. Any
    number of crossed or nested random intercepts and slopes; without one, it is the plain
    cumulative link model. The likelihood is the Laplace approximation, standard errors come from
    the observed information, intervals and p values are Wald's.

    Not where a coefficient may differ between thresholds (proportional odds fail), nor for random
    effects with one or two ratings per level and a large spread, where the approximation is
    biased. Rows with a missing value are left out and counted in `dropped`. What speaks against
    the result is said in `problems`.

    Up to 1,000 connected levels beside those of the largest grouping the computation is exact;
    beyond, it iterates (`method` says which, and chooses): estimates then agree with
    the exact ones to about a hundredth of a standard error.

    Factors, references and `levels` as in `read_design`. Gives the numbers of R's `ordinal::clmm`.
    """
    begun = time.perf_counter()
    require_confidence(confidence)
    design = read_design(frame, formula, reference=reference, levels=levels, ordinal=True)
    return fit_ordinal(design, link, confidence=confidence, begun=begun, method=method)


def fit_ordinal(
    design: MixedDesign,
    link: str,
    *,
    confidence: float = 0.95,
    begun: float | None = None,
    method: Method | None = None,
) -> Clmm:
    """The cumulative link mixed model of a design that has been read."""
    begun = time.perf_counter() if begun is None else begun
    with one_thread():
        estimates = estimate(design, find_link(link), method)
    return _named(design, estimates, design.formula.text, link, confidence, begun)


def _named(
    design: MixedDesign,
    estimates: Estimates,
    formula: str,
    link: str,
    confidence: float,
    begun: float,
) -> Clmm:
    cut = len(design.levels) - 1
    fixed, size = cut + len(design.names), len(estimates.parameters)
    thresholds = [f"{a}|{b}" for a, b in itertools.pairwise(design.levels)]
    names = [*thresholds, *design.names, *parameter_names(design, estimates.effects)]
    tests = _tested(estimates.parameters[:fixed], _errors(estimates, fixed), confidence)
    spread = random_spread(design, estimates.effects, estimates.parameters[fixed:])
    effects = spread.effects
    separated = _separated(design, estimates, find_link(link).latent_sd)
    return Clmm(
        formula=formula,
        link=link,
        coefficients=dict(zip(design.names, tests[cut:], strict=True)),
        thresholds=dict(zip(thresholds, tests[:cut], strict=True)),
        random_effects=effects,
        correlations=spread.correlations,
        singular=spread.singular,
        method=estimates.method,
        log_likelihood=estimates.log_likelihood,
        aic=2 * size - 2 * estimates.log_likelihood,
        bic=size * math.log(design.n) - 2 * estimates.log_likelihood,
        parameters=size,
        n=design.n,
        dropped=design.dropped,
        levels=design.levels,
        converged=estimates.converged and not separated,
        boundary=tuple(name for name, effect in effects.items() if effect.boundary),
        problems=tuple(_problems(design, estimates, effects, separated, link)),
        notes=design.notes,
        gradient_norm=float(np.abs(estimates.gradient).max(initial=0.0)),
        iterations=estimates.iterations,
        seconds=time.perf_counter() - begun,
        confidence=confidence,
        covariance=estimates.covariance,
        covariance_names=tuple(names[number] for number in estimates.free),
        random_covariances=tuple(spread.covariances),
        modes=mode_tables(design, estimates.modes),
        design=design,
    )


def _errors(estimates: Estimates, fixed: int) -> Array:
    """Standard errors of thresholds and coefficients."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.sqrt(np.diag(estimates.covariance))[:fixed], dtype=np.float64)


def _tested(estimates: Array, errors: Array, confidence: float) -> list[Coefficient]:
    from scipy.special import ndtr

    margin = z_margin(confidence) * errors
    with np.errstate(divide="ignore", invalid="ignore"):
        z = estimates / errors
    p = 2 * ndtr(-np.abs(z))
    columns = (estimates, errors, z, p, estimates - margin, estimates + margin)
    return [Coefficient(*map(float, row)) for row in zip(*columns, strict=True)]


def _separated(design: MixedDesign, estimates: Estimates, latent_sd: float) -> list[str]:
    """The coefficients that grow without end, because they sort ratings without error."""
    first = len(design.levels) - 1
    slopes = estimates.parameters[first : first + len(design.names)]
    before = estimates.fixed.parameters[first:]
    if not design.names or np.ptp(design.x @ before) <= _SPAN * latent_sd:
        return []  # coefficients may be large where columns lie far from 0 and cancel out
    width = np.ptp(design.x, axis=0)
    # Random effects as large as the slopes stretch the whole scale, so the plain fit is asked too.
    far = (np.abs(before) * width > _SPAN * latent_sd) & (np.abs(slopes) * width > latent_sd)
    return [name for name, beyond in zip(design.names, far, strict=True) if beyond]


def _problems(
    design: MixedDesign,
    estimates: Estimates,
    effects: Mapping[str, RandomEffect],
    separated: Sequence[str],
    link: str,
) -> Iterator[Note]:
    if separated:
        yield note("separation", columns=tuple(separated))
    if estimates.singular:
        yield note("singular_curvature")
    elif not estimates.converged:
        yield note("not_converged", slope=float(np.abs(estimates.gradient).max(initial=0.0)))
    for name, effect in effects.items():
        if effect.boundary:
            yield note("sd_at_boundary", group=name)
        if effect.sd > _FAR_APART * find_link(link).latent_sd:
            yield note("huge_sd", group=name, sd=effect.sd)
        if effect.levels < _FEW_LEVELS:
            yield note("few_levels", group=name, levels=effect.levels)
        if effect.levels == design.n:
            yield note("level_per_rating", group=name)
