"""Parametric bootstrap of mixed models: what their estimates would be in studies like this one.

Every replication has a random stream of its own, so results are the same for any number of
workers (`workers` as in `map_ordered`), and replications already made can be handed in to go on
from there.

Davison, A. C., & Hinkley, D. V. (1997). Bootstrap Methods and their Application, chapters 2 and 4.
Halekoh, U., & Højsgaard, S. (2014). Journal of Statistical Software 59(9) (the test).
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from empathylab.compute import map_ordered, random_stream
from empathylab.errors import InputError
from empathylab.stats.arguments import require_confidence
from empathylab.stats.arrays import Array
from empathylab.stats.intervals import percentile_interval
from empathylab.stats.mixed.design import MixedDesign
from empathylab.stats.mixed.linear.model import Lmm, fit_design
from empathylab.stats.mixed.ordinal.clmm import Clmm, fit_ordinal

Replication = dict[str, float]
"""Estimates by name; empty where the fit failed."""
Tick = Callable[[int, Replication], None]


class BootstrapInterval(NamedTuple):
    """A parameter's estimate with its percentile interval."""

    estimate: float
    se: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """Estimates of many studies simulated from a fitted model."""

    intervals: Mapping[str, BootstrapInterval]
    """By coefficient, and by `sd(effect)` for random effects."""
    replications: int
    failed: int
    """Simulated studies that could not be fitted; they are left out."""
    confidence: float
    estimates: Mapping[int, Replication] = field(repr=False)
    """By number of the replication; hand them in as `known` to go on."""


class BootstrapTest(NamedTuple):
    """A likelihood-ratio test whose distribution was simulated under the smaller model."""

    statistic: float
    p: float
    """(1 + simulated statistics at least as large) / (1 + replications)."""
    replications: int
    failed: int


def parametric_bootstrap(
    fit: Lmm | Clmm,
    *,
    replications: int = 1000,
    seed: int = 1,
    workers: int | None = None,
    known: Mapping[int, Replication] | None = None,
    tick: Tick | None = None,
    confidence: float = 0.95,
) -> Bootstrap:
    """Percentile intervals of coefficients and standard deviations from simulated studies.

    `tick` is called with the number and the estimates of each replication as it ends, so that a
    caller can store them; those handed in as `known` are not made again.
    """
    _check(replications, confidence)
    done = {number: item for number, item in (known or {}).items() if number < replications}
    left = [number for number in range(replications) if number not in done]
    work = partial(_replicated, Source.of(fit), seed)
    # Closed at once where `tick` raises, so that the processes do not finish the rest first.
    with contextlib.closing(map_ordered(work, left, workers=workers)) as replicated:
        for number, estimates in zip(left, replicated, strict=True):
            done[number] = estimates
            if tick is not None:
                tick(number, estimates)
    fitted = [item for _, item in sorted(done.items()) if item]
    intervals = {}
    for name, value in _estimates(fit).items():
        drawn = np.array([item[name] for item in fitted])
        se = low = high = math.nan
        if len(drawn) > 1:
            se = float(drawn.std(ddof=1))
            low, high = percentile_interval(drawn, confidence)
        intervals[name] = BootstrapInterval(value, se, low, high)
    failed = replications - len(fitted)
    return Bootstrap(intervals, replications, failed, confidence, dict(sorted(done.items())))


def bootstrap_likelihood_ratio(
    smaller: Lmm | Clmm,
    larger: Lmm | Clmm,
    *,
    replications: int = 500,
    seed: int = 1,
    workers: int | None = None,
    tick: Tick | None = None,
) -> BootstrapTest:
    """The likelihood-ratio test of a larger model, with p from studies simulated by the smaller.

    Holds its level with few raters, where the chi-square and Wald's test reject too often. Linear
    models are compared by maximum likelihood.
    """
    _check(replications, 0.95)
    if type(smaller) is not type(larger) or smaller.n != larger.n:
        raise InputError(
            "the two models were not fitted to the same ratings",
            got=f"{smaller.n} and {larger.n} rows",
            remedy="Fit both models to the same rows.",
        )
    observed = 2 * (_log_likelihood(larger) - _log_likelihood(smaller))
    work = partial(_compared, Source.of(smaller), larger.design, seed)
    made = []
    for number, item in enumerate(map_ordered(work, range(replications), workers=workers)):
        made.append(item)
        if tick is not None:
            tick(number, item)
    drawn = np.array([item["statistic"] for item in made if item])
    p = (1 + int((drawn >= observed - 1e-9).sum())) / (1 + len(drawn))
    return BootstrapTest(max(observed, 0.0), p, replications, replications - len(drawn))


class Source(NamedTuple):
    """What studies are simulated from: the same source and seed give the same replications."""

    design: MixedDesign
    beta: Array
    thresholds: Array
    covariances: tuple[Array, ...]
    residual_sd: float
    link: str
    """Empty for a linear model."""
    reml: bool

    @classmethod
    def of(cls, fit: Lmm | Clmm) -> Source:
        beta = np.array([coefficient.estimate for coefficient in fit.coefficients.values()])
        if isinstance(fit, Lmm):
            return cls(
                fit.design, beta, np.empty(0), fit.random_covariances, fit.residual_sd, "", fit.reml
            )
        thresholds = np.array([threshold.estimate for threshold in fit.thresholds.values()])
        return cls(fit.design, beta, thresholds, fit.random_covariances, 1.0, fit.link, False)

    def response(self, generator: np.random.Generator) -> Array:
        """A response as the model makes them."""
        design = self.design
        eta = design.x @ self.beta
        for group, covariance in zip(design.groups, self.covariances, strict=True):
            values, vectors = np.linalg.eigh(covariance)
            root = vectors * np.sqrt(np.maximum(values, 0))
            drawn = generator.normal(size=(len(group.levels), len(root))) @ root.T
            given = group.columns.given
            own = drawn[group.codes]
            eta = eta + (own[:, 0] if given is None else (own * given).sum(axis=1))
        if not self.link:
            return np.asarray(eta + self.residual_sd * generator.normal(size=design.n))
        draw = generator.logistic if self.link == "logit" else generator.normal
        latent = eta + draw(size=design.n)
        return np.searchsorted(self.thresholds, latent).astype(np.float64)


def _simulated(source: Source, seed: int, number: int) -> Array:
    return source.response(random_stream(seed, number))


def _refitted(design: MixedDesign, y: Array, source: Source, *, reml: bool) -> Lmm | Clmm | None:
    """The model fitted to another response; None where it cannot be."""
    try:
        if not source.link:
            return fit_design(replace(design, y=y), reml=reml, confidence=0.95)
        codes = y.astype(np.int64)
        if len(np.unique(codes)) < len(design.levels):
            return None
        fit = fit_ordinal(replace(design, y=codes), source.link)
        return fit if fit.converged else None
    except (InputError, np.linalg.LinAlgError):
        return None


def _replicated(source: Source, seed: int, number: int) -> Replication:
    y = _simulated(source, seed, number)
    fit = _refitted(source.design, y, source, reml=source.reml)
    return {} if fit is None else _estimates(fit)


def _compared(source: Source, larger: MixedDesign, seed: int, number: int) -> Replication:
    y = _simulated(source, seed, number)
    fits = [_refitted(item, y, source, reml=False) for item in (source.design, larger)]
    if fits[0] is None or fits[1] is None:
        return {}
    return {"statistic": 2 * (fits[1].log_likelihood - fits[0].log_likelihood)}


def _log_likelihood(fit: Lmm | Clmm) -> float:
    if isinstance(fit, Lmm) and fit.reml:
        return fit_design(fit.design, reml=False, confidence=fit.confidence).log_likelihood
    return fit.log_likelihood


def _estimates(fit: Lmm | Clmm) -> Replication:
    estimates = {name: effect.estimate for name, effect in fit.coefficients.items()}
    estimates |= {f"sd({name})": effect.sd for name, effect in fit.random_effects.items()}
    if isinstance(fit, Lmm):
        estimates["sd(residual)"] = fit.residual_sd
    return estimates


def _check(replications: int, confidence: float) -> None:
    if replications < 1:
        raise InputError(
            "`replications` must be at least 1", got=replications, remedy="For example: 1000."
        )
    require_confidence(confidence)
