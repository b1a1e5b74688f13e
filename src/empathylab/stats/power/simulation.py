"""The power of a planned study of ratings, by inventing it many times and analysing each.

Formulas for power know nothing of raters who differ and situations that are harder to answer. Here
ratings are drawn from the ordinal mixed model itself, and each invented study gets three tests: the
mixed model, a cluster-robust difference, and the plain chi-square. With an odds ratio of 1 the
shares that reject are false-positive rates.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
import polars as pl

from empathylab.compute import map_ordered, random_stream
from empathylab.errors import InputError
from empathylab.stats.arms.clustered import clustered_difference
from empathylab.stats.arms.contingency import cross_table, independence_test
from empathylab.stats.arms.effects import proportion
from empathylab.stats.arrays import Array
from empathylab.stats.estimates import Estimate

REFERENCE, ARM = "reference", "arm"
_NODES = 61


@dataclass(frozen=True, slots=True)
class PlannedStudy:
    """The plan of a study with two arms."""

    raters: int
    """Per arm between subjects; all of them within subjects."""
    ratings_per_rater: int
    odds_ratio: float
    """How much higher the arm is rated than the reference, for one rater and situation."""
    rater_sd: float = 0.5
    """How much raters differ, on the logit scale."""
    situation_sd: float = 0.0
    """How much situations differ, on the logit scale."""
    shares: tuple[float, ...] = (0.17, 0.34, 0.49)
    """Of the reference's ratings, from worst to best, over all raters and situations."""
    situations: int | None = None
    """None: as many as there are ratings per arm, so that each reply is rated once."""
    design: Literal["between", "within"] = "between"
    """Within: every rater sees both arms in turn, each on other situations."""

    def __post_init__(self) -> None:
        _check(self.raters >= 2, "there must be two raters or more", self.raters)
        fewest = 1 if self.design == "between" else 2
        _check(
            self.ratings_per_rater >= fewest,
            f"a rater must give at least {fewest} rating{'s' if fewest > 1 else ''}",
            self.ratings_per_rater,
        )
        _check(self.odds_ratio > 0, "the odds ratio must be above 0", self.odds_ratio)
        spread = (self.rater_sd, self.situation_sd)
        _check(min(spread) >= 0, "standard deviations must be 0 or more", spread)
        whole = len(self.shares) > 1 and min(self.shares) > 0
        _check(
            whole and math.isclose(sum(self.shares), 1, abs_tol=0.01),
            "there must be two or more proportions above 0 that add up to 1",
            self.shares,
        )
        _check(
            self.situations is None or self.situations >= self.ratings_per_rater,
            "a rater cannot rate a situation twice: there must be as many situations as ratings "
            "per rater",
            self.situations,
        )


class Fitted(NamedTuple):
    """What a model says of an invented study."""

    p: float
    converged: bool


@dataclass(frozen=True, slots=True)
class SimulatedPower:
    """How often the tests reject in simulated studies."""

    plan: PlannedStudy
    alpha: float
    simulations: int
    failed: int
    """Studies without a fitted model; they count in none of the shares."""
    mixed_model: Estimate
    """The share that the mixed model rejects, with Wilson's interval."""
    clustered: Estimate
    chi_square: Estimate
    seed: int


def simulate_ratings(plan: PlannedStudy, seed: int) -> pl.DataFrame:
    """The ratings of one simulated study: rater, situation, arm, rating, the reference first."""
    return _invented(plan, thresholds(plan), np.random.default_rng(seed))


def simulated_power(
    plan: PlannedStudy,
    *,
    simulations: int = 200,
    alpha: float = 0.05,
    seed: int = 1,
    fit: Callable[[pl.DataFrame], Fitted] | None = None,
    workers: int | None = None,
    tick: Callable[[], None] | None = None,
) -> SimulatedPower:
    """The proportion of simulated studies in which each test rejects at alpha.

    `fit` takes a study's ratings and gives the p of its arm; if left out it is the cumulative link
    mixed model with crossed raters and situations. `workers` is as in `map_ordered`; `tick` is
    called after each study. The interval says how far the share may be off for having invented no
    more studies.
    """
    _check(simulations >= 1, "there must be at least one simulation", simulations)
    _check(0 < alpha < 1, "alpha must be between 0 and 1", alpha)
    work = partial(_tested, plan, thresholds(plan), fit or fit_mixed_model, seed)
    rejected, failed = np.zeros(3, dtype=int), 0
    for p_values in map_ordered(work, range(simulations), workers=workers):
        if p_values is None:
            failed += 1
        else:
            rejected += [p < alpha for p in p_values]
        if tick is not None:
            tick()
    made = simulations - failed
    mixed_model, clustered, chi_square = (proportion(int(count), made) for count in rejected)
    return SimulatedPower(
        plan, alpha, simulations, failed, mixed_model, clustered, chi_square, seed
    )


def _tested(
    plan: PlannedStudy,
    cuts: Array,
    fit: Callable[[pl.DataFrame], Fitted],
    seed: int,
    number: int,
) -> tuple[float, float, float] | None:
    """p of the three tests in one invented study; None where the model has no fit."""
    ratings = _invented(plan, cuts, random_stream(seed, number))
    fitted = fit(ratings)
    if not fitted.converged or not math.isfinite(fitted.p):
        return None
    return (fitted.p, *_plain_tests(ratings, top=len(plan.shares)))


def fit_mixed_model(ratings: pl.DataFrame) -> Fitted:
    """The arm's p in the cumulative link mixed model with crossed raters and situations.

    A study that cannot have a model (everybody gave the same rating) has not converged.
    """
    from empathylab.stats.mixed.ordinal.clmm import clmm

    varying = [name for name in ("rater", "situation") if ratings[name].n_unique() < ratings.height]
    groups = "".join(f" + (1|{name})" for name in varying)
    try:
        model = clmm(ratings, f"rating ~ arm{groups}")
    except InputError:
        return Fitted(math.nan, False)
    return Fitted(
        next(effect.p for name, effect in model.coefficients.items() if name.startswith("arm")),
        model.converged,
    )


def thresholds(plan: PlannedStudy) -> Array:
    """Where the latent scale is cut so that the reference gets the planned shares.

    The shares are over all raters and situations, so the thresholds lie farther out than the
    shares' logits: each solves E[expit(θ − u)] = share below, u normal with both variances.
    """
    from scipy.optimize import brentq
    from scipy.special import expit

    below = np.cumsum(plan.shares)[:-1] / sum(plan.shares)
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    spread = nodes * math.hypot(plan.rater_sd, plan.situation_sd)
    weights = weights / weights.sum()
    reach = 40 + 12 * float(np.ptp(spread))
    return np.array(
        [
            brentq(lambda at, to=share: float(weights @ expit(at - spread)) - to, -reach, reach)
            for share in below
        ]
    )


def _invented(plan: PlannedStudy, cuts: Array, generator: np.random.Generator) -> pl.DataFrame:
    m = plan.ratings_per_rater
    both = plan.design == "within"
    raters = plan.raters if both else 2 * plan.raters
    rater = np.repeat(np.arange(raters), m)
    place = np.tile(np.arange(m), raters)
    # Between subjects the arms share their situations: the second half starts again.
    in_arm = (place + rater) % 2 == 1 if both else rater >= plan.raters
    turn = rater if both else rater % plan.raters
    situations = plan.situations or plan.raters * m
    situation = (turn * m + place) % situations
    of_rater = generator.normal(0, plan.rater_sd, raters)
    of_situation = generator.normal(0, plan.situation_sd, situations)
    centre = of_rater[rater] + of_situation[situation] + math.log(plan.odds_ratio) * in_arm
    latent = centre + generator.logistic(size=len(centre))
    return pl.DataFrame(
        {
            "rater": rater,
            "situation": situation,
            "arm": np.where(in_arm, ARM, REFERENCE),
            "rating": np.searchsorted(cuts, latent) + 1,
        }
    ).sort(pl.col("arm") == ARM, maintain_order=True)


def _plain_tests(ratings: pl.DataFrame, top: int) -> tuple[float, float]:
    """p of the cluster-robust difference and of the plain chi-square, of the top rating."""
    good = (ratings["rating"] == top).to_numpy()
    in_arm = (ratings["arm"] == ARM).to_numpy()
    clustered = clustered_difference(good, in_arm, ratings["rater"].to_numpy())
    table, _, _ = cross_table(in_arm.tolist(), good.tolist())
    return clustered.p, independence_test(table).p


def _check(fine: bool, what: str, got: object) -> None:
    if not fine:
        raise InputError(what, got=got, remedy="Change the plan.")
