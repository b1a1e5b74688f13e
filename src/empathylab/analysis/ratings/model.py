"""The mixed models of a rated study: which one follows from the design, and its fit.

`random_terms` is the one place that decides which random effects a design needs, `_fitted` how
they are simplified where these ratings cannot show them.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import polars as pl

from empathylab.analysis.cache.replications import resumable_bootstrap
from empathylab.analysis.ratings.design import REPLY, RatingsDesign
from empathylab.analysis.results import ModelChoice
from empathylab.errors import InputError
from empathylab.stats.estimates import Estimate
from empathylab.stats.mixed import Clmm, Lmm, clmm, lmm
from empathylab.stats.mixed.bootstrap import Bootstrap
from empathylab.stats.mixed.ordinal.proportional_odds import (
    ProportionalOdds,
    proportional_odds_test,
)
from empathylab.stats.mixed.ordinal.small_samples import small_sample_tests
from empathylab.stats.mixed.profile_intervals import sd_intervals
from empathylab.stats.t_tests import TTest
from empathylab.store import Lab

FEW_RATERS = 20
"""Per arm; below it a conclusion warns."""
_RATERS_PER_SLOPE = 5
"""Raters per parameter of the covariance of slopes, below which it is not tried."""
_RATERS_PER_ZERO = 5
"""Raters per arm from which a variance of arm by rater that is estimated as 0 is taken as 0."""
FEWEST_FREE = 5
"""Degrees of freedom of replies, those of six situations and two arms, from which a variance of
replies that is estimated as 0 is taken as 0."""
_ARM_BY_RATER = "(1|arm:rater)"
_DETERMINED = 0.999
"""A correlation of random effects beyond which one says nothing beside the other."""
_NAMES = {"clmm": "cumulative link mixed model", "lmm": "linear mixed model"}
Progress = Callable[[str, int, int], None]
"""Called with a dimension, its simulated studies so far, and how many there will be."""


@dataclass(frozen=True, slots=True)
class ProportionalOddsCheck:
    """Whether the arms' effects are the same at every threshold of the rating."""

    test: ProportionalOdds
    """Clustered by rater, or by reply where that test is the more careful one."""
    clusters: str
    alpha: float = 0.05

    @property
    def p(self) -> float:
        return self.test.p_clustered

    @property
    def rejected(self) -> bool:
        return self.p < self.alpha


@dataclass(frozen=True, slots=True)
class DimensionModel:
    """A mixed model of one dimension's ratings."""

    dimension: str
    kind: str
    """`clmm` for ordered categories, `lmm` for a continuous scale."""
    by_valence: bool
    """Whether the arms' effect may depend on the valence of the situation."""
    model: Clmm | Lmm | None
    problem: str | None = None
    """Why there is no model."""
    simplified: tuple[str, ...] = ()
    """Random slopes that were replaced by simpler ones, with the reason."""
    dropped: tuple[str, ...] = ()
    """Random effects that were tried and could not be estimated, with the reason."""
    tests: Mapping[str, TTest] = field(default_factory=dict, hash=False)
    """The coefficients' t tests, which hold with few raters and replies; empty without."""

    odds: ProportionalOddsCheck | None = None
    """Whether the arms' effects are the same at every threshold; None where there is one."""

    bootstrap: Bootstrap | None = None
    """Intervals from studies simulated by the model, where asked for."""
    spread: Mapping[str, Estimate] = field(default_factory=dict, hash=False)
    """Profile intervals of standard deviations, where asked for; empty with random slopes."""

    @property
    def name(self) -> str:
        return _NAMES[self.kind]


@dataclass(frozen=True, slots=True)
class RandomTerm:
    """A random effect, and why the design needs it."""

    term: str
    reason: str
    required: bool = True
    """Whether the model makes no sense without it."""
    simpler: tuple[RandomTerm, ...] = ()
    """What replaces it where it cannot be estimated."""


def random_terms(design: RatingsDesign) -> tuple[RandomTerm, ...]:
    """The random effects that this design needs."""
    intercept = RandomTerm("(1|rater)", "ratings by the same rater are similar")
    # Raters with one rating each are the residual.
    terms = [intercept] if design.ratings_per_rater > 1 else []
    if design.raters_vary_by_arm:
        reason = "a rater may prefer one arm, and raters saw several arms"
        equal = (intercept, RandomTerm(_ARM_BY_RATER, reason, required=False))
        size = len(design.arms) * (len(design.arms) + 1) // 2
        if design.fewest_raters >= _RATERS_PER_SLOPE * size:
            terms = [RandomTerm("(1 + arm|rater)", reason, simpler=equal)]
        else:
            terms = list(equal)
    terms.append(RandomTerm("(1|situation)", "ratings of the same situation are similar"))
    if design.replies_vary:
        # A random slope of arm by situation, with the same variance for every arm.
        several = f"{100 * design.shared_replies:.0f}% of the replies have two or more ratings"
        reason = f"replies are a sample of what an arm can write, and {several}"
        terms.append(RandomTerm("(1|arm:situation)", reason, required=False))
    return tuple(terms)


def dimension_models(
    ratings: pl.DataFrame,
    continuous: Iterable[tuple[str, bool]],
    reference: str,
    terms: tuple[RandomTerm, ...],
) -> tuple[DimensionModel, ...]:
    """The models of each dimension: of the arms, and of arms by valence where both occur.

    `continuous` says of each dimension whether its scale has no points.
    """
    models = []
    for name, linear in continuous:
        frame = ratings.filter(dimension=name)
        if frame["arm"].n_unique() < 2:
            continue
        if frame["rating"].n_unique() < 2:
            value = f"{frame['rating'][0]:g}"
            problem = f"every rating of {name} is {value}, so there is nothing to model."
            models.append(DimensionModel(name, "lmm" if linear else "clmm", False, None, problem))
            continue
        kinds = {False: frame}
        if "valence" in frame.columns:
            # Mixed situations cannot inform the difference between the two valences.
            clear = frame.filter(pl.col("valence").is_in(["positive", "negative"]))
            if clear["valence"].n_unique() == 2:
                kinds[True] = clear
        for by_valence, rows in kinds.items():
            model = DimensionModel(name, "lmm" if linear else "clmm", by_valence, None)
            fitted = _fitted(model, rows, reference, terms)
            if not linear and not by_valence and fitted.model is not None:
                fitted = dataclasses.replace(fitted, odds=_odds(frame, reference))
            models.append(fitted)
    return tuple(models)


def _fitted(
    planned: DimensionModel, frame: pl.DataFrame, reference: str, terms: tuple[RandomTerm, ...]
) -> DimensionModel:
    """The model, simplified until it can be estimated.

    Slopes that are singular, do not converge or cannot be fitted become intercepts of rater and of
    arm by rater: slopes with equal variances. Where the model still cannot be fitted, the effect
    that the error names is dropped, or the last one, as far as it is not required. A variance of
    zero stays: it changes nothing.
    """
    fixed = "arm * valence" if planned.by_valence else "arm"
    levels = {"arm": reference} | ({"valence": "negative"} if planned.by_valence else {})
    simplified: list[str] = []
    dropped: list[str] = []
    fit = lmm if planned.kind == "lmm" else clmm
    while True:
        model, problem, remedy = None, None, ""
        try:
            model = fit(frame, _formula(fixed, terms), reference=levels)
        except InputError as error:
            problem, remedy = str(error), error.remedy
        slopes = next((term for term in terms if term.simpler), None)
        if slopes is not None:
            reason = problem if model is None else _degenerate(model)
            if reason is not None:
                simpler = " + ".join(item.term for item in slopes.simpler)
                simplified.append(f"{slopes.term} became {simpler}: {reason.rstrip('.')}")
                place = terms.index(slopes)
                terms = (*terms[:place], *slopes.simpler, *terms[place + 1 :])
                continue
        optional = [term for term in terms if not term.required]
        if model is None and optional:
            blamed = next((term for term in optional if term.term in remedy), optional[-1])
            dropped.append(f"{blamed.term}: {problem}")
            terms = tuple(term for term in terms if term is not blamed)
            continue
        return dataclasses.replace(
            planned,
            model=model,
            problem=problem,
            simplified=tuple(simplified),
            dropped=tuple(dropped),
            tests={} if model is None else coefficient_tests(model, frame, levels),
        )


def _odds(frame: pl.DataFrame, reference: str) -> ProportionalOddsCheck | None:
    """The test of proportional odds; by rater, and by reply where that rejects less often.

    None with few raters: there it rejects too often.
    """
    if _fewest_raters(frame) < FEW_RATERS:
        return None
    # Where all of an arm's ratings are on one side of a threshold, its effect there is infinite.
    rating = pl.col("rating")
    lowest, highest = rating.min().over("arm").max(), rating.max().over("arm").min()
    frame = frame.with_columns(rating.clip(lowest, highest))
    checks = []
    for cluster in ("rater", *([REPLY] if REPLY in frame.columns else [])):
        if frame[cluster].n_unique() == frame.height:
            continue
        try:
            test = proportional_odds_test(
                frame, "rating ~ arm", "arm", cluster=cluster, reference={"arm": reference}
            )
        except (InputError, np.linalg.LinAlgError):
            return None
        checks.append(ProportionalOddsCheck(test, "rater" if cluster == "rater" else "reply"))
    known = [item for item in checks if math.isfinite(item.p)]
    return max(known, key=lambda item: item.p, default=None)


def _fewest_raters(frame: pl.DataFrame) -> int:
    """Of the arm with the fewest."""
    raters = frame.group_by("arm").agg(pl.col("rater").n_unique())["rater"]
    return int(min(raters))


def with_intervals(
    models: Iterable[DimensionModel],
    *,
    bootstrap: int = 0,
    spread: bool = False,
    keep: Lab | None = None,
    progress: Progress | None = None,
) -> tuple[DimensionModel, ...]:
    """The models of the arms with bootstrap and profile intervals, as far as asked for."""
    completed = []
    for item in models:
        model, bootstrapped, ends = item.model, None, {}
        if model is not None and not item.by_valence:
            if bootstrap:
                watched = None if progress is None else partial(progress, item.dimension)
                bootstrapped = resumable_bootstrap(model, bootstrap, keep=keep, progress=watched)
            if spread and not any("|" in name for name in model.random_effects):
                with contextlib.suppress(InputError):
                    ends = sd_intervals(model)
        completed.append(dataclasses.replace(item, bootstrap=bootstrapped, spread=ends))
    return tuple(completed)


def _formula(fixed: str, terms: Iterable[RandomTerm]) -> str:
    return " + ".join([f"rating ~ {fixed}", *(term.term for term in terms)])


def _degenerate(model: Clmm | Lmm) -> str | None:
    """Why the model's random slopes are not determined by the ratings; None where they are."""
    if not model.converged:
        return "the search did not converge"
    slopes = [name for name in model.random_effects if "|" in name]
    groups = {name.partition("|")[2] for name in slopes}
    if any(name in model.boundary for name in (*slopes, *groups)):
        return "a standard deviation is estimated as 0"
    if any(abs(correlation.estimate) > _DETERMINED for correlation in model.correlations):
        return "random intercepts and slopes determine each other"
    return None


def coefficient_tests(
    model: Clmm | Lmm, frame: pl.DataFrame, reference: Mapping[str, str]
) -> Mapping[str, TTest]:
    """The t test of each coefficient of a model fitted to this frame; empty without."""
    if isinstance(model, Lmm):
        return model.coefficients
    formula = model.formula
    if "arm:rater" in model.boundary and _fewest_raters(frame) >= _RATERS_PER_ZERO:
        # A variance that the ordinal model estimates as 0 must not cost degrees of freedom.
        formula = formula.replace(f" + {_ARM_BY_RATER}", "")
    try:
        return small_sample_tests(model, frame, reference=reference, formula=formula)
    except InputError:
        return {}


def model_choice(
    models: tuple[DimensionModel, ...], terms: tuple[RandomTerm, ...]
) -> ModelChoice | None:
    """The model behind the main conclusions; None with a single arm or nothing to compare."""
    main = [model for model in models if not model.by_valence]
    if not main:
        return None
    first = next((item for item in main if item.model is not None), main[0])
    if first.model is None:
        return ModelChoice(
            name="cluster-robust t test",
            reason=f"No mixed model could be fitted: {first.problem}",
        )
    scale = "ratings are ordered categories" if first.kind == "clmm" else "the scale is continuous"
    every = [simple for term in terms for simple in (term, *term.simpler)]
    fitted = [item for item in every if item.term in first.model.formula]
    reasons = [scale, *(f"{item.term} because {item.reason}" for item in fitted)]
    return ModelChoice(
        name=first.name,
        formula=first.model.formula,
        reason=f"{'; '.join(reasons).capitalize()}.",
        dropped=(*first.simplified, *first.dropped),
    )
