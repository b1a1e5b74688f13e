"""Whether an effect is the same at every threshold of a rating, and what it is where it is not.

The partial proportional odds model gives the columns of one term a coefficient per threshold:
P(rating ≤ j) = F(threshold_j − xγ_j − zβ). Proportional odds hold where the γ_j agree.

Peterson, B., & Harrell, F. E. (1990). Journal of the Royal Statistical Society C 39, 205–217.
Christensen, R. H. B. (2022). ordinal: Regression models for ordinal data (`nominal_test` gives the
same likelihood ratios). Clustered errors: Liang, K.-Y., & Zeger, S. L. (1986). Biometrika 73, 13.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl

from empathylab.errors import InputError, UnknownName
from empathylab.stats.arguments import require_columns, without_gaps
from empathylab.stats.arrays import Array, Codes
from empathylab.stats.clusters.robust import cluster_codes, cluster_covariance
from empathylab.stats.mixed.design import NO_REFERENCE, MixedDesign, read_design
from empathylab.stats.mixed.ordinal.clm import fit_fixed
from empathylab.stats.mixed.ordinal.likelihood import Likelihood
from empathylab.stats.mixed.ordinal.links import Link, find_link
from empathylab.stats.t_tests import z_margin

_STEPS = 60
_HALVINGS = 30


class ThresholdEffect(NamedTuple):
    """A column's effect at one threshold; positive ones raise ratings."""

    column: str
    threshold: str
    """The categories on either side, as in `1|2`; empty for the effect common to all."""
    estimate: float
    se: float
    """Cluster-robust where clusters are given."""
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ProportionalOdds:
    """Tests that a term's effect is the same at every threshold."""

    term: str
    columns: tuple[str, ...]
    statistic: float
    """Of the likelihood ratio, which takes ratings as independent."""
    df: int
    p: float
    f: float
    """Wald's F with cluster-robust covariance; NaN without clusters."""
    df_residual: float
    p_clustered: float
    effects: tuple[ThresholdEffect, ...]
    """Of each column at each threshold."""
    common: tuple[ThresholdEffect, ...]
    """Of each column if it were the same at every threshold."""
    clusters: int
    n: int
    converged: bool
    """False where no finite estimate exists, or where threshold lines would cross."""


def proportional_odds_test(
    frame: pl.DataFrame,
    formula: str,
    term: str,
    *,
    cluster: str | None = None,
    link: str = "logit",
    reference: Mapping[str, str] = NO_REFERENCE,
    levels: Sequence[str | int | float] | None = None,
    confidence: float = 0.95,
) -> ProportionalOdds:
    """Whether the effect of a term is the same at every threshold of the rating.

    `term` is a column of the formula, whose interactions then are freed with it, or a whole
    interaction. Random terms of the formula are left out: clustering enters through `cluster`, by
    which the Wald test and the intervals are robust. The likelihood ratio takes ratings as
    independent and rejects too often where a rater's ratings are correlated.
    """
    from scipy.special import chdtrc, fdtrc

    design = read_design(frame, formula, reference=reference, levels=levels, ordinal=True)
    if len(design.levels) < 3:
        raise InputError(
            "proportional odds need at least three categories",
            where=f"formula {formula!r}",
            got=", ".join(design.levels),
            remedy="With two categories there is one threshold, and nothing to test.",
        )
    freed = _freed_columns(design, term)
    codes = _clusters(frame, design, cluster)
    model = _Partial(design, freed, find_link(link))
    plain, partial = model.common(), model.maximised()
    covariance = model.covariance(partial.parameters, codes)
    count = len(np.unique(codes)) if codes is not None else 0
    contrast = model.differences()
    gaps = contrast @ partial.parameters
    f = df_residual = p_clustered = math.nan
    df = len(contrast)
    if codes is not None and count > df and partial.converged:
        wald = float(gaps @ np.linalg.solve(contrast @ covariance @ contrast.T, gaps))
        # Hotelling's correction for a covariance known from so many clusters.
        df_residual = float(count - df)
        f = wald / df * df_residual / (count - 1)
        p_clustered = float(fdtrc(df, df_residual, f))
    statistic = max(2 * (partial.log_likelihood - plain.log_likelihood), 0.0)
    return ProportionalOdds(
        term=term,
        columns=tuple(design.names[number] for number in freed),
        statistic=statistic if partial.converged else math.nan,
        df=df,
        p=float(chdtrc(df, statistic)) if partial.converged else math.nan,
        f=f,
        df_residual=df_residual,
        p_clustered=p_clustered,
        effects=model.effects(partial.parameters, covariance, confidence),
        common=model.common_effects(plain.parameters, codes, confidence),
        clusters=count,
        n=design.n,
        converged=partial.converged,
    )


def _freed_columns(design: MixedDesign, term: str) -> list[int]:
    wanted = set(term.split(":"))
    columns = [
        number
        for name, numbers in design.terms.items()
        if wanted <= set(name.split(":"))
        for number in numbers
    ]
    if not columns:
        raise UnknownName("term of the formula", term, design.terms)
    return sorted(columns)


def _clusters(frame: pl.DataFrame, design: MixedDesign, cluster: str | None) -> Codes | None:
    if cluster is None:
        return None
    require_columns(frame, cluster)
    return cluster_codes(without_gaps(frame, *design.formula.columns)[cluster])


class _Fit(NamedTuple):
    parameters: Array
    log_likelihood: float
    converged: bool


class _Place(NamedTuple):
    log_likelihood: float
    scores: Array
    """Per rating, the gradient of its log-likelihood."""
    information: Array


class _Partial:
    """The partial proportional odds model: thresholds, effects per threshold, common effects."""

    def __init__(self, design: MixedDesign, freed: list[int], link: Link) -> None:
        self.design, self.link, self.freed = design, link, freed
        self.y = np.asarray(design.y, dtype=np.int64)
        self.cut = len(design.levels) - 1
        self.names = [f"{a}|{b}" for a, b in itertools.pairwise(design.levels)]
        self.others = [k for k in range(design.x.shape[1]) if k not in freed]
        self.nominal, self.shared = design.x[:, freed], design.x[:, self.others]
        self.width = len(freed)

    def common(self) -> _Fit:
        """The model in which effects are the same at every threshold."""
        ratings = Likelihood(self.y, self.cut + 1, self.link)
        fit = fit_fixed(ratings, np.asfortranarray(self.design.x[ratings.order]))
        return _Fit(fit.parameters, fit.log_likelihood, fit.converged)

    def _expanded(self, plain: Array) -> Array:
        """The common model's parameters as those of the partial one."""
        slopes = plain[self.cut :]
        return np.concatenate(
            [plain[: self.cut], np.tile(slopes[self.freed], self.cut), slopes[self.others]]
        )

    def _rows(self, rows: Codes, threshold: int) -> Array:
        """The derivative of threshold − linear predictor, per rating and parameter."""
        derivatives = np.zeros((len(rows), self.cut + self.cut * self.width + len(self.others)))
        derivatives[:, threshold] = 1
        first = self.cut + threshold * self.width
        derivatives[:, first : first + self.width] = -self.nominal[rows]
        derivatives[:, self.cut + self.cut * self.width :] = -self.shared[rows]
        return derivatives

    def at(self, parameters: Array) -> _Place | None:
        """Likelihood, scores and information; None where threshold lines cross."""
        size = len(parameters)
        total, scores = 0.0, np.zeros((len(self.y), size))
        information = np.zeros((size, size))
        for category in range(self.cut + 1):
            rows = np.flatnonzero(self.y == category)
            above = self._rows(rows, category) if category < self.cut else None
            below = self._rows(rows, category - 1) if category > 0 else None
            upper = None if above is None else above @ parameters
            lower = None if below is None else below @ parameters
            if upper is not None and lower is not None and np.any(upper <= lower):
                return None
            zero = np.zeros(len(rows))
            total += self.link.slopes(lower, upper, zero).log_likelihood
            derivatives = self.link.derivatives(lower, upper, zero)
            sides = (
                (above, derivatives.la, derivatives.laa),
                (below, derivatives.lb, derivatives.lbb),
            )
            for side, first, second in sides:
                if side is not None and first is not None and second is not None:
                    scores[rows] += np.broadcast_to(first, zero.shape)[:, None] * side
                    weight = np.broadcast_to(second, zero.shape)[:, None]
                    information -= side.T @ (weight * side)
            if above is not None and below is not None and derivatives.lab is not None:
                weight = np.broadcast_to(derivatives.lab, zero.shape)[:, None]
                cross = above.T @ (weight * below)
                information -= cross + cross.T
        return _Place(total, scores, information)

    def maximised(self) -> _Fit:
        """Maximum likelihood by Newton's method, from the common model."""
        parameters = self._expanded(self.common().parameters)
        here = self.at(parameters)
        if here is None:
            return _Fit(parameters, math.nan, False)
        for _ in range(_STEPS):
            gradient = here.scores.sum(axis=0)
            try:
                step = np.linalg.solve(here.information, gradient)
            except np.linalg.LinAlgError:
                break
            if float(gradient @ step) < 1e-12 * max(1.0, abs(here.log_likelihood)):
                return _Fit(parameters, here.log_likelihood, True)
            for halvings in range(_HALVINGS):
                moved = self.at(parameters + step / 2**halvings)
                if moved is not None and moved.log_likelihood >= here.log_likelihood:
                    parameters, here = parameters + step / 2**halvings, moved
                    break
            else:
                # The last step gains less than rounding where it is not the lines that cross.
                return _Fit(parameters, here.log_likelihood, bool(gradient @ step < 1e-8))
        return _Fit(parameters, here.log_likelihood, False)

    def covariance(self, parameters: Array, codes: Codes | None) -> Array:
        """Cluster-robust, or from the information; NaN where it cannot be had."""
        here = self.at(parameters)
        nothing = np.full((len(parameters), len(parameters)), np.nan)
        if here is None:
            return nothing
        try:
            inverse: Array = np.linalg.inv(here.information).astype(np.float64)
        except np.linalg.LinAlgError:
            return nothing
        if codes is None:
            return inverse
        return np.asarray(inverse @ cluster_covariance(here.scores, [codes]) @ inverse)

    def differences(self) -> Array:
        """Rows that are 0 where every column's effect agrees with that at the first threshold."""
        size = self.cut + self.cut * self.width + len(self.others)
        rows = np.zeros(((self.cut - 1) * self.width, size))
        for row, (threshold, column) in enumerate(
            itertools.product(range(1, self.cut), range(self.width))
        ):
            rows[row, self.cut + threshold * self.width + column] = 1
            rows[row, self.cut + column] = -1
        return rows

    def effects(
        self, parameters: Array, covariance: Array, confidence: float
    ) -> tuple[ThresholdEffect, ...]:
        places = [
            (column, threshold, self.cut + threshold * self.width + column)
            for column in range(self.width)
            for threshold in range(self.cut)
        ]
        return tuple(
            _effect(
                self.design.names[self.freed[column]],
                self.names[threshold],
                float(parameters[place]),
                float(covariance[place, place]),
                confidence,
            )
            for column, threshold, place in places
        )

    def common_effects(
        self, plain: Array, codes: Codes | None, confidence: float
    ) -> tuple[ThresholdEffect, ...]:
        # The common model is the partial one with parameters tied together.
        size = len(self._expanded(plain))
        tie = np.zeros((size, len(plain)))
        for number in range(len(plain)):
            one = np.zeros(len(plain))
            one[number] = 1
            tie[:, number] = self._expanded(one)
        here = self.at(self._expanded(plain))
        covariance = np.full((len(plain), len(plain)), np.nan)
        if here is not None:
            inverse = np.linalg.pinv(tie.T @ here.information @ tie)
            covariance = inverse
            if codes is not None:
                middle = cluster_covariance(here.scores @ tie, [codes])
                covariance = inverse @ middle @ inverse
        return tuple(
            _effect(
                self.design.names[number],
                "",
                float(plain[self.cut + number]),
                float(covariance[self.cut + number, self.cut + number]),
                confidence,
            )
            for number in self.freed
        )


def _effect(
    column: str, threshold: str, estimate: float, variance: float, confidence: float
) -> ThresholdEffect:
    se = math.sqrt(variance) if variance >= 0 else math.nan
    margin = z_margin(confidence) * se
    return ThresholdEffect(column, threshold, estimate, se, estimate - margin, estimate + margin)
