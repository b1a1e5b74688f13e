"""Linear mixed models with crossed or nested random intercepts, as lme4 fits them."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from empathylab.compute import one_thread
from empathylab.errors import InputError
from empathylab.stats.arguments import require_confidence
from empathylab.stats.arrays import Array
from empathylab.stats.mixed.coding import INTERCEPT
from empathylab.stats.mixed.design import NO_REFERENCE, MixedDesign, read_design
from empathylab.stats.mixed.effects.solvers import Method
from empathylab.stats.mixed.fitted import FittedModel
from empathylab.stats.mixed.linear.criterion import Columns, Minimum
from empathylab.stats.mixed.linear.profile import Profile
from empathylab.stats.mixed.linear.satterthwaite import Uncertainty, uncertainty
from empathylab.stats.mixed.spread import (
    RandomEffect,
    mode_tables,
    random_spread,
    random_structure,
)
from empathylab.stats.notes import Note, note
from empathylab.stats.t_tests import TTest, t_test

_FEW_LEVELS = 5
_FAR_OFF = 100
"""Standard deviations from zero beyond which a column, a timestamp say, is centred."""
_NO_RESIDUAL = 1e-8
"""Proportion of the variance below which the residual counts as nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lmm(FittedModel):
    """A fitted linear mixed model."""

    reml: bool
    """Whether variances were estimated by restricted maximum likelihood."""
    coefficients: Mapping[str, TTest]
    residual_sd: float
    criterion: float
    """−2 log-likelihood: lme4's REML criterion, or the deviance."""
    evaluations: int
    """How often the criterion was computed."""
    uncertainty: Uncertainty = field(repr=False)
    """What degrees of freedom of further contrasts are computed from."""

    @property
    def beta(self) -> Array:
        """The coefficients' estimates, in their order."""
        return np.array([coefficient.estimate for coefficient in self.coefficients.values()])

    @property
    def residual_variance(self) -> float:
        return self.residual_sd**2

    def tested(self, contrast: Array) -> TTest:
        """A combination of the coefficients, with its t test against zero."""
        return _tested(contrast, self.beta, self.uncertainty, self.confidence)


def lmm(
    frame: pl.DataFrame,
    formula: str,
    *,
    reml: bool = True,
    reference: Mapping[str, str] = NO_REFERENCE,
    confidence: float = 0.95,
    method: Method | None = None,
) -> Lmm:
    """The linear mixed model of a numeric rating, fitted by REML or maximum likelihood.

    `lmm(frame, "rating ~ source + (1|rater) + (1|situation)")` estimates by how many points
    sources differ, where some raters are milder and some situations easier than others. Any
    number of crossed or nested random intercepts and slopes, `(1 + source|rater)` correlated or
    `(source||rater)` not; without one it is ordinary least squares. The t tests and intervals
    take Satterthwaite's degrees of freedom. REML for estimates and tests of coefficients; maximum
    likelihood to compare models whose fixed effects differ.

    Not for ratings of few categories piled up at an end (`clmm`). Where the effect of a source
    differs between raters and the model has no random slope, intervals are too narrow. Up to
    1,000 connected levels beside those of the largest grouping the computation is exact; beyond,
    it iterates (`method` says which, and chooses). Rows with a missing value are left out and
    counted in `dropped`. What speaks against the result is said in `problems`.

    Factors and references as in `read_design`. Gives the numbers of R's `lme4::lmer` and
    `lmerTest`: Bates, D., Mächler, M., Bolker, B., & Walker, S. (2015). Journal of Statistical
    Software 67(1).
    """
    require_confidence(confidence)
    begun = time.perf_counter()
    design = read_design(frame, formula, reference=reference, ordinal=False)
    return fit_design(design, reml=reml, confidence=confidence, begun=begun, method=method)


def fit_design(
    design: MixedDesign,
    *,
    reml: bool,
    confidence: float,
    begun: float | None = None,
    method: Method | None = None,
) -> Lmm:
    """The linear mixed model of a design that has been read."""
    begun = time.perf_counter() if begun is None else begun
    _check_groups(design)
    random = random_structure(design)
    with one_thread():
        x, back = _shifted(design)
        columns = Columns(np.asarray(design.y, dtype=np.float64), x)
        _check_residual(columns, design)
        profile = Profile(columns, random, reml=reml, method=method)
        minimum = profile.minimised()
        modes = profile.modes(minimum.theta, minimum.beta)
    variance = minimum.point.residual / profile.degrees
    known = uncertainty(minimum, degrees=profile.degrees).turned(back @ columns.back)
    spread = random_spread(design, random, minimum.theta, math.sqrt(variance))
    effects = spread.effects
    size = len(design.names) + len(minimum.theta) + 1
    return Lmm(
        formula=design.formula.text,
        reml=reml,
        coefficients=_coefficients(design, back @ minimum.beta, known, confidence),
        random_effects=effects,
        correlations=spread.correlations,
        singular=spread.singular,
        method=profile.method,
        residual_sd=math.sqrt(variance),
        criterion=minimum.point.criterion,
        log_likelihood=-minimum.point.criterion / 2,
        aic=minimum.point.criterion + 2 * size,
        bic=minimum.point.criterion + math.log(design.n) * size,
        parameters=size,
        n=design.n,
        dropped=design.dropped,
        converged=minimum.converged,
        boundary=tuple(name for name, effect in effects.items() if effect.boundary),
        problems=_problems(effects, minimum, variance),
        notes=_notes(design),
        evaluations=minimum.evaluations,
        seconds=time.perf_counter() - begun,
        confidence=confidence,
        covariance=known.covariance,
        random_covariances=tuple(spread.covariances),
        modes=mode_tables(design, _as_given(design, modes)),
        uncertainty=known,
        design=design,
    )


def _coefficients(
    design: MixedDesign, beta: Array, known: Uncertainty, confidence: float
) -> dict[str, TTest]:
    alone = np.eye(len(design.names))
    return {
        name: _tested(row, beta, known, confidence)
        for name, row in zip(design.names, alone, strict=True)
    }


def _shifted(design: MixedDesign) -> tuple[Array, Array]:
    """Fixed columns minus their mean where that is large beside their spread, and the way back."""
    x, back = design.x, np.eye(design.x.shape[1])
    if not design.names or design.names[0] != INTERCEPT:
        return x, back
    means = x.mean(axis=0)
    far = np.abs(means) > _FAR_OFF * x.std(axis=0)
    far[0] = False
    if far.any():
        shift = np.where(far, means, 0.0)
        x, back[0, 1:] = x - shift, -shift[1:]
    return x, back


def _as_given(design: MixedDesign, modes: list[Array]) -> list[Array]:
    return [
        effects @ group.columns.back.T for group, effects in zip(design.groups, modes, strict=True)
    ]


def _tested(contrast: Array, beta: Array, known: Uncertainty, confidence: float) -> TTest:
    se = math.sqrt(max(float(contrast @ known.covariance @ contrast), 0.0))
    return t_test(float(contrast @ beta), se, known.degrees(contrast), confidence)


def _check_groups(design: MixedDesign) -> None:
    for group in design.groups:
        if len(group.levels) >= design.n:
            raise InputError(
                f"every level of {group.name!r} has one rating only, so its variance cannot "
                "be separated from the residual's",
                where=f"formula {design.formula.text!r}",
                got=f"{len(group.levels)} levels in {design.n} rows",
                remedy=f"Leave (1|{group.name}) out of the formula.",
            )


def _check_residual(columns: Columns, design: MixedDesign) -> None:
    if columns.nothing_left:
        raise InputError(
            "the fixed effects predict every rating exactly, so nothing is left to estimate",
            where=f"formula {design.formula.text!r}",
            remedy="Leave out terms, or check that the rating is not computed from them.",
        )


def _problems(
    effects: Mapping[str, RandomEffect], minimum: Minimum, residual: float
) -> tuple[Note, ...]:
    problems = []
    if not minimum.converged:
        problems.append(note("sds_not_converged"))
    total = residual + sum(effect.variance for effect in effects.values())
    if residual <= _NO_RESIDUAL * total:
        problems.append(note("no_residual"))
    for name, effect in effects.items():
        if effect.boundary:
            problems.append(note("lmm_sd_at_boundary", group=name))
        if effect.levels < _FEW_LEVELS:
            problems.append(note("lmm_few_levels", group=name, levels=effect.levels))
    return tuple(problems)


def _notes(design: MixedDesign) -> tuple[Note, ...]:
    return design.notes if design.groups else (*design.notes, note("no_random_term"))
