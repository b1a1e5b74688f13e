"""Whether respondents differ in a feature of style, with the situation as the cluster."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from empathylab.errors import InputError
from empathylab.stats.corrections import benjamini_hochberg, holm
from empathylab.stats.standardised import hedges_g, paired_d
from empathylab.style.permutations import reassignment_p, sign_flip_p
from empathylab.style.responses import RESPONDENT, SITUATION, require_columns, require_respondent

Array = NDArray[np.float64]

_FEWEST_SHARED = 5
_NOT_FEATURES = {"response", "sample", "rating", "rater"}


@dataclass(frozen=True, slots=True)
class FeatureDifference:
    """One feature of one respondent compared with another; NaN if it cannot be computed."""

    feature: str
    respondent: str
    against: str
    mean: float
    """Over situations: the mean of the respondent's situation means."""
    against_mean: float
    difference: float
    low: float
    high: float
    effect: float
    """The difference in standard deviations between situations (paired: d_av; else Hedges' g)."""
    effect_low: float
    effect_high: float
    p: float
    """From t, with situations as the units; from permutation where neither side varies."""
    p_permutation: float
    """From exchanging the two respondents within situations (or situations between them)."""
    p_holm: float
    p_benjamini_hochberg: float
    paired: bool
    n: int
    """Situations used: those both answered where paired, else those of the first."""
    against_n: int
    dropped: int
    """Responses left out: no value, or, where paired, a situation that only one answered."""


@dataclass(frozen=True, slots=True)
class FeatureStanding:
    """Where one respondent stands in one feature, among all responses."""

    feature: str
    respondent: str
    mean: float
    """Over situations: the mean of the respondent's situation means."""
    standing: float
    """The mean's distance from the mean of all respondents' means, in SDs over responses; NaN
    where nothing varies."""
    low: float
    high: float
    n: int
    """Situations."""


class _Sides(NamedTuple):
    """Situation means (situations × features) of two respondents; rows match where paired."""

    one: Array
    other: Array
    paired: bool
    left_out: Array
    """Per feature: responses without a value or without a counterpart."""


def feature_differences(
    features: pl.DataFrame,
    *,
    columns: Sequence[str] | None = None,
    against: str | None = None,
    respondent: str = RESPONDENT,
    situation: str = SITUATION,
    confidence: float = 0.95,
    permutations: int = 4_999,
    seed: int = 0,
) -> list[FeatureDifference]:
    """Each feature's difference between each two respondents, corrected for all of them together.

    Responses are averaged within respondent and situation first, so many samples of one situation
    count once. Where the two share at least five situations, and half of what the one with fewer
    answered, the shared situations are compared in pairs; otherwise situation means are compared
    with Welch's test. `against` compares everybody with that respondent only. `columns` defaults
    to all numeric columns. The permutation p takes all sign flips up to 12 situations, and
    `permutations` random ones above (999 at most above 5,000 situations); it cannot fall below
    1 / (permutations + 1), so the corrections use the p from t.
    """
    require_columns(features, [respondent, situation], "features")
    chosen = feature_columns(features, columns, {respondent, situation})
    means = _situation_means(features, chosen, respondent, situation)
    names = [str(name) for name in features[respondent].drop_nulls().unique(maintain_order=True)]
    if against is not None:
        require_respondent(against, names)
        pairs = [(name, against) for name in names if name != against]
    else:
        pairs = list(itertools.combinations(names, 2))
    rng = np.random.default_rng(seed)
    found: list[FeatureDifference] = []
    for one, other in pairs:
        sides = _sides(means, one, other, chosen)
        found += _compare(one, other, chosen, sides, confidence, permutations, rng)
    p = [each.p for each in found]
    return [
        replace(each, p_holm=float(strict), p_benjamini_hochberg=float(loose))
        for each, strict, loose in zip(found, holm(p), benjamini_hochberg(p), strict=True)
    ]


def feature_profile(
    features: pl.DataFrame,
    *,
    columns: Sequence[str] | None = None,
    respondent: str = RESPONDENT,
    situation: str = SITUATION,
    confidence: float = 0.95,
) -> list[FeatureStanding]:
    """Each respondent's mean of each feature, and how far it lies from the mean of all.

    The interval is that of the respondent's own mean, with situations as the units.
    """
    from scipy.special import stdtrit

    require_columns(features, [respondent, situation], "features")
    chosen = feature_columns(features, columns, {respondent, situation})
    means = _situation_means(features, chosen, respondent, situation)
    names = means[RESPONDENT].unique(maintain_order=True).to_list()
    sides = [
        means.filter(pl.col(RESPONDENT) == name).select(chosen).to_numpy().astype(float)
        for name in names
    ]
    spread = _sd(features.select(pl.col(chosen).cast(pl.Float64)).to_numpy().astype(float))
    middle = _mean(np.array([_mean(side) for side in sides])) if sides else np.zeros(0)
    found = []
    for name, side in zip(names, sides, strict=True):
        n = (~np.isnan(side)).sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            standing = (_mean(side) - middle) / np.where(spread > 0, spread, np.nan)
            se = _sd(side) / np.sqrt(n) / spread
            margin = stdtrit(np.where(n > 1, n - 1, np.nan), (1 + confidence) / 2) * se
        found += [
            FeatureStanding(
                feature=feature,
                respondent=name,
                mean=float(_mean(side)[i]),
                standing=float(standing[i]),
                low=float(standing[i] - margin[i]),
                high=float(standing[i] + margin[i]),
                n=int(n[i]),
            )
            for i, feature in enumerate(chosen)
        ]
    return found


def feature_columns(
    frame: pl.DataFrame, columns: Sequence[str] | None, roles: set[str]
) -> list[str]:
    """The columns asked for, or all that hold numbers and have no other role."""
    if columns is not None:
        require_columns(frame, list(columns), "features")
        wrong = [name for name in columns if not _is_numeric(frame.schema[name])]
        if wrong:
            raise InputError(
                "a feature must be numeric",
                where=f"features, column {wrong[0]!r}",
                got=str(frame.schema[wrong[0]]),
                remedy="Leave the column out, or turn it into numbers.",
            )
        return list(columns)
    return [
        name
        for name, kind in frame.schema.items()
        if _is_numeric(kind) and name not in roles | _NOT_FEATURES
    ]


def _is_numeric(kind: pl.DataType) -> bool:
    return kind.is_numeric() or kind == pl.Boolean


def _situation_means(
    frame: pl.DataFrame, columns: list[str], respondent: str, situation: str
) -> pl.DataFrame:
    values = [pl.col(name).cast(pl.Float64).fill_nan(None) for name in columns]
    return (
        frame.select(
            pl.col(respondent).cast(pl.String).alias(RESPONDENT),
            pl.col(situation).cast(pl.String).alias(SITUATION),
            *values,
        )
        .drop_nulls([RESPONDENT, SITUATION])
        .group_by(RESPONDENT, SITUATION, maintain_order=True)
        .agg(
            *(pl.col(name).mean() for name in columns),
            *(pl.col(name).count().alias(f"{name}\0n") for name in columns),
            pl.len().alias("\0responses"),
        )
    )


def _sides(means: pl.DataFrame, one: str, other: str, columns: list[str]) -> _Sides:
    first = means.filter(pl.col(RESPONDENT) == one).sort(SITUATION)
    second = means.filter(pl.col(RESPONDENT) == other).sort(SITUATION)
    shared = first.join(second, on=SITUATION, how="semi")[SITUATION]
    fewer = min(first.height, second.height)
    paired = len(shared) >= max(_FEWEST_SHARED, fewer / 2)
    responses = sum(int(side["\0responses"].sum()) for side in (first, second))
    if paired:
        first, second = (
            side.filter(pl.col(SITUATION).is_in(shared.implode())) for side in (first, second)
        )
    a, b = (side.select(columns).to_numpy().astype(float) for side in (first, second))
    used_a, used_b = (
        side.select(f"{name}\0n" for name in columns).to_numpy().astype(float)
        for side in (first, second)
    )
    if paired:
        whole = ~(np.isnan(a) | np.isnan(b))
        a, b = np.where(whole, a, np.nan), np.where(whole, b, np.nan)
        used_a, used_b = used_a * whole, used_b * whole
    return _Sides(a, b, paired, responses - used_a.sum(axis=0) - used_b.sum(axis=0))


def _compare(
    one: str,
    other: str,
    columns: list[str],
    sides: _Sides,
    confidence: float,
    permutations: int,
    rng: np.random.Generator,
) -> list[FeatureDifference]:
    from scipy.special import stdtr, stdtrit

    n, m = ((~np.isnan(side)).sum(axis=0).astype(float) for side in (sides.one, sides.other))
    mean, against_mean = _mean(sides.one), _mean(sides.other)
    se, df = _standard_error(sides, n, m)
    difference = mean - against_mean
    # Differences that are the same everywhere may differ in the last digit.
    noise = 1e-12 * np.maximum(np.abs(mean), np.abs(against_mean))
    se = np.where(se <= noise, 0.0, se)
    difference = np.where(np.abs(difference) <= noise, 0.0, difference)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(se > 0, difference / se, np.nan)
        # Nothing varies and nothing differs: no evidence of a difference, rather than no answer.
        p = np.where((se == 0) & (difference == 0), 1.0, 2 * stdtr(df, -np.abs(t)))
    margin = stdtrit(np.where(df > 0, df, np.nan), (1 + confidence) / 2) * se
    effect = _effect(sides, n, m, confidence)
    if sides.paired:
        permuted = sign_flip_p(np.nan_to_num(sides.one - sides.other), permutations, rng)
    else:
        permuted = reassignment_p(sides.one, sides.other, permutations, rng)
    # Where each side is constant, t does not exist; exchanging the sides still tells them apart.
    p = np.where((se == 0) & (difference != 0), permuted, p)
    return [
        FeatureDifference(
            feature=name,
            respondent=one,
            against=other,
            mean=float(mean[i]),
            against_mean=float(against_mean[i]),
            difference=float(difference[i]),
            low=float(difference[i] - margin[i]),
            high=float(difference[i] + margin[i]),
            effect=float(effect[0][i]),
            effect_low=float(effect[1][i]),
            effect_high=float(effect[2][i]),
            p=float(p[i]),
            p_permutation=float(permuted[i]),
            p_holm=math.nan,
            p_benjamini_hochberg=math.nan,
            paired=sides.paired,
            n=int(n[i]),
            against_n=int(m[i]),
            dropped=int(sides.left_out[i]),
        )
        for i, name in enumerate(columns)
    ]


def _mean(side: Array) -> Array:
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Array = np.nansum(side, axis=0) / (~np.isnan(side)).sum(axis=0)
    return found


def _sd(side: Array) -> Array:
    n = (~np.isnan(side)).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        squares = np.nansum((side - _mean(side)) ** 2, axis=0)
        found: Array = np.where(n > 1, np.sqrt(squares / (n - 1)), np.nan)
    return found


def _standard_error(sides: _Sides, n: Array, m: Array) -> tuple[Array, Array]:
    with np.errstate(divide="ignore", invalid="ignore"):
        if sides.paired:
            return _sd(sides.one - sides.other) / np.sqrt(n), n - 1
        a, b = _sd(sides.one) ** 2 / n, _sd(sides.other) ** 2 / m
        df = (a + b) ** 2 / (a**2 / (n - 1) + b**2 / (m - 1))
        return np.sqrt(a + b), df


def _effect(sides: _Sides, n: Array, m: Array, confidence: float) -> tuple[Array, Array, Array]:
    moments = (_mean(sides.one), _sd(sides.one)), (_mean(sides.other), _sd(sides.other))
    if not sides.paired:
        (mean, sd), (against_mean, against_sd) = moments
        g = hedges_g(mean, sd, n, against_mean, against_sd, m, confidence=confidence)
        return g.estimate, g.low, g.high
    with np.errstate(divide="ignore", invalid="ignore"):
        a, b = (side - mean for side, (mean, _) in zip(sides[:2], moments, strict=True))
        covariance = np.nansum(a * b, axis=0) / (n - 1)
        # One side that never varies leaves nothing to correlate; then the pairing gains nothing.
        correlation = np.nan_to_num(covariance / (moments[0][1] * moments[1][1]))
    d = paired_d(*moments[0], *moments[1], n, correlation, confidence=confidence)
    return d.estimate, d.low, d.high
