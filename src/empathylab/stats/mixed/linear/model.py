"""Linear mixed models with crossed or nested random intercepts, as lme4 fits them."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from empathylab.errors import InputError
from empathylab.stats.mixed.coding import Array
from empathylab.stats.mixed.design import NO_REFERENCE, MixedDesign, read_design
from empathylab.stats.mixed.linear.profile import Minimum, Profile
from empathylab.stats.mixed.linear.satterthwaite import Uncertainty, uncertainty
from empathylab.stats.mixed.ordinal.clmm import RandomEffect
from empathylab.stats.mixed.threads import one_thread

_FEW_LEVELS = 5
_NO_RESIDUAL = 1e-8
"""Share of the variance below which the residual counts as nothing."""


@dataclass(frozen=True, slots=True)
class FixedEffect:
    """An estimated effect, with its t test against zero."""

    estimate: float
    se: float
    df: float
    """Satterthwaite's degrees of freedom."""
    t: float
    p: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Lmm:
    """A fitted linear mixed model."""

    formula: str
    reml: bool
    """Whether variances were estimated by restricted maximum likelihood."""
    coefficients: Mapping[str, FixedEffect]
    random_effects: Mapping[str, RandomEffect]
    residual_sd: float
    criterion: float
    """−2 log-likelihood: lme4's REML criterion, or the deviance."""
    log_likelihood: float
    """Restricted where `reml`; then it compares models with the same fixed effects only."""
    aic: float
    bic: float
    parameters: int
    """Fixed effects, standard deviations and the residual's."""
    n: int
    """Ratings used."""
    dropped: Mapping[str, int]
    """Ratings left out, by reason."""
    converged: bool
    boundary: tuple[str, ...]
    """Groupings whose standard deviation is zero."""
    problems: tuple[str, ...]
    """Why the result may not be trusted, a sentence each; empty where nothing speaks against it."""
    notes: tuple[str, ...]
    """Levels and columns left out, and a missing random term, a sentence each."""
    evaluations: int
    """How often the criterion was computed."""
    seconds: float
    confidence: float
    covariance: Array = field(repr=False)
    """Of the coefficients, in their order."""
    modes: Mapping[str, pl.DataFrame] = field(repr=False)
    """Per grouping, the predicted effect of each `level` as `mode`."""
    uncertainty: Uncertainty = field(repr=False)
    """What degrees of freedom of further contrasts are computed from."""
    design: MixedDesign = field(repr=False)

    @property
    def beta(self) -> Array:
        """The coefficients' estimates, in their order."""
        return np.array([one.estimate for one in self.coefficients.values()])

    @property
    def residual_variance(self) -> float:
        return self.residual_sd**2

    def tested(self, contrast: Array) -> FixedEffect:
        """A combination of the coefficients, with its t test against zero."""
        return _tested(contrast, self.beta, self.uncertainty, self.confidence)


def lmm(
    frame: pl.DataFrame,
    formula: str,
    *,
    reml: bool = True,
    reference: Mapping[str, str] = NO_REFERENCE,
    confidence: float = 0.95,
) -> Lmm:
    """The linear mixed model of a numeric rating, fitted by REML or maximum likelihood.

    `lmm(frame, "rating ~ source + (1|rater) + (1|situation)")` estimates by how many points
    sources differ, where some raters are milder and some situations easier than others. Any
    number of crossed or nested random intercepts; without one it is ordinary least squares. The
    t tests and intervals take Satterthwaite's degrees of freedom. REML for estimates and tests of
    coefficients; maximum likelihood to compare models whose fixed effects differ.

    Not for ratings of few categories piled up at an end (`clmm`), nor where the effect of a
    source differs between raters: it has no random slopes, and its intervals are then too
    narrow. Rows with a missing value are left out and counted in `dropped`. What speaks against
    the result is said in `problems`.

    Factors and references as in `read_design`. Gives the numbers of R's `lme4::lmer` and
    `lmerTest`: Bates, D., Mächler, M., Bolker, B., & Walker, S. (2015). Journal of Statistical
    Software 67(1).
    """
    if not 0 < confidence < 1:
        raise InputError(
            "`confidence` must lie between 0 and 1", got=confidence, remedy="Use 0.95, say."
        )
    begun = time.perf_counter()
    design = read_design(frame, formula, reference=reference, ordinal=False)
    return fit_design(design, reml=reml, confidence=confidence, begun=begun)


def fit_design(
    design: MixedDesign, *, reml: bool, confidence: float, begun: float | None = None
) -> Lmm:
    """The linear mixed model of a design that has been read."""
    begun = time.perf_counter() if begun is None else begun
    _check_groups(design)
    sizes = [len(group.levels) for group in design.groups]
    codes = [group.codes for group in design.groups]
    y = np.asarray(design.y, dtype=np.float64)
    with one_thread():
        profile = Profile(y, design.x, codes, sizes, reml=reml)
        _check_residual(profile, design)
        minimum = profile.minimised()
        modes = profile.modes(minimum.theta, minimum.beta)
    variance = minimum.point.residual / profile.degrees
    known = uncertainty(minimum, degrees=profile.degrees)
    effects = _random_effects(design, math.sqrt(variance) * minimum.theta)
    size = len(design.names) + len(sizes) + 1
    return Lmm(
        formula=design.formula.text,
        reml=reml,
        coefficients=_coefficients(design, minimum.beta, known, confidence),
        random_effects=effects,
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
        modes=_modes(design, modes),
        uncertainty=known,
        design=design,
    )


def _coefficients(
    design: MixedDesign, beta: Array, known: Uncertainty, confidence: float
) -> dict[str, FixedEffect]:
    alone = np.eye(len(design.names))
    return {
        name: _tested(row, beta, known, confidence)
        for name, row in zip(design.names, alone, strict=True)
    }


def _random_effects(design: MixedDesign, sds: Array) -> dict[str, RandomEffect]:
    return {
        group.name: RandomEffect(float(sd), float(sd) ** 2, len(group.levels), bool(sd == 0))
        for group, sd in zip(design.groups, sds, strict=True)
    }


def _modes(design: MixedDesign, modes: list[Array]) -> dict[str, pl.DataFrame]:
    return {
        group.name: pl.DataFrame({"level": group.levels, "mode": found})
        for group, found in zip(design.groups, modes, strict=True)
    }


def _tested(contrast: Array, beta: Array, known: Uncertainty, confidence: float) -> FixedEffect:
    from scipy.special import stdtr, stdtrit

    estimate = float(contrast @ beta)
    se = math.sqrt(max(float(contrast @ known.covariance @ contrast), 0.0))
    df = known.degrees(contrast)
    if not se > 0:
        return FixedEffect(estimate, se, df, math.nan, math.nan, math.nan, math.nan)
    t = estimate / se
    margin = float(stdtrit(df, (1 + confidence) / 2)) * se
    p = 2 * float(stdtr(df, -abs(t)))
    return FixedEffect(estimate, se, df, t, p, estimate - margin, estimate + margin)


def _check_groups(design: MixedDesign) -> None:
    for group in design.groups:
        if len(group.levels) >= design.n:
            raise InputError(
                f"every level of {group.name!r} has one rating only, so its spread cannot be "
                "told from the residual's",
                where=f"formula {design.formula.text!r}",
                got=f"{len(group.levels)} levels in {design.n} rows",
                remedy=f"Leave (1|{group.name}) out of the formula.",
            )


def _check_residual(profile: Profile, design: MixedDesign) -> None:
    if profile.nothing_left:
        raise InputError(
            "the fixed effects give every rating exactly, so nothing is left to estimate",
            where=f"formula {design.formula.text!r}",
            remedy="Leave out terms, or check that the rating is not computed from them.",
        )


def _problems(
    effects: Mapping[str, RandomEffect], minimum: Minimum, residual: float
) -> tuple[str, ...]:
    found = []
    if not minimum.converged:
        found.append(
            "The search for the standard deviations did not converge: two groupings may say the "
            "same, or one may have too few ratings per level."
        )
    total = residual + sum(effect.variance for effect in effects.values())
    if residual <= _NO_RESIDUAL * total:
        found.append("The groups explain every rating; nothing is left for the residual.")
    for name, effect in effects.items():
        if effect.boundary:
            found.append(
                f"The standard deviation of {name!r} is estimated at its boundary, 0 (a singular "
                "fit): these ratings show no difference between its levels beyond chance."
            )
        if effect.levels < _FEW_LEVELS:
            found.append(
                f"{name!r} has {effect.levels} levels; a standard deviation from so few is hardly "
                "known."
            )
    return tuple(found)


def _notes(design: MixedDesign) -> tuple[str, ...]:
    if design.groups:
        return design.notes
    plain = "the formula has no random term, so this is ordinary least squares"
    return (*design.notes, f"{plain}; it takes all ratings as independent")
