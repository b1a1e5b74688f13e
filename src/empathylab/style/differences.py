"""Whether respondents differ in a feature of style, with the situation as the cluster."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import polars as pl

from empathylab.errors import InputError
from empathylab.stats.arrays import Array
from empathylab.stats.corrections import benjamini_hochberg, holm
from empathylab.stats.standardised import hedges_g, paired_d
from empathylab.style.permutations import reassignment_p, sign_flip_p
from empathylab.style.responses import RESPONDENT, SITUATION, require_columns, require_respondent

_FEWEST_SHARED = 5
_NOISE = 1e-12
"""Of a mean: what sums of floating-point numbers may be off by."""
_CELLS_AT_ONCE = 20_000_000
_CELLS_TOGETHER = 4_000_000
"""Of pairs whose signs are flipped together."""
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


class _Answers(NamedTuple):
    """A respondent's means, situations × features, in the order of the situations' names."""

    situations: pl.Series
    means: Array
    size: Array
    """Responses to each situation."""
    used: list[Array]
    """Per feature: those of them that have a value."""


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
    `permutations` random ones above, of many situations fewer (5 million divided by their number,
    but at least 999). It cannot fall below 1 / (permutations + 1), so the corrections use the p
    from t.
    """
    require_columns(features, [respondent, situation], "features")
    chosen = feature_columns(features, columns, {respondent, situation})
    names = [str(name) for name in features[respondent].drop_nulls().unique(maintain_order=True)]
    if against is not None:
        require_respondent(against, names)
        pairs = [(name, against) for name in names if name != against]
    else:
        pairs = list(itertools.combinations(names, 2))
    by_pair: dict[tuple[str, str], list[FeatureDifference]] = {pair: [] for pair in pairs}
    for block in _blocks(features, chosen):
        means = _situation_means(features, block, respondent, situation)
        answers = {name: _answers(means, name, block) for name in names}
        del means
        cells = max((each.means.size for each in answers.values()), default=0)
        together = max(1, _CELLS_TOGETHER // max(1, cells))
        for first in range(0, len(pairs), together):
            some = pairs[first : first + together]
            sides = [_sides(answers[one], answers[other]) for one, other in some]
            permuted = _permuted(sides, permutations, seed)
            for pair, its_sides, p_values in zip(some, sides, permuted, strict=True):
                by_pair[pair] += _compare(*pair, block, its_sides, confidence, p_values)
    differences = list(itertools.chain.from_iterable(by_pair.values()))
    p = [each.p for each in differences]
    return [
        replace(each, p_holm=float(strict), p_benjamini_hochberg=float(loose))
        for each, strict, loose in zip(differences, holm(p), benjamini_hochberg(p), strict=True)
    ]


def feature_profile(
    features: pl.DataFrame,
    *,
    columns: Sequence[str] | None = None,
    respondent: str = RESPONDENT,
    situation: str = SITUATION,
    confidence: float = 0.95,
) -> list[FeatureStanding]:
    """Each respondent's mean of each feature, and its distance from the mean of all.

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
    standings = []
    for name, side in zip(names, sides, strict=True):
        n = (~np.isnan(side)).sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            standing = (_mean(side) - middle) / np.where(spread > 0, spread, np.nan)
            se = _sd(side) / np.sqrt(n) / spread
            margin = stdtrit(np.where(n > 1, n - 1, np.nan), (1 + confidence) / 2) * se
        standings += [
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
    return standings


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


def _blocks(features: pl.DataFrame, columns: list[str]) -> Iterator[list[str]]:
    """The columns, of very many rows a few at a time: their means are in memory together."""
    width = max(1, _CELLS_AT_ONCE // max(1, features.height))
    for first in range(0, len(columns), width):
        yield columns[first : first + width]


def _situation_means(
    frame: pl.DataFrame, columns: list[str], respondent: str, situation: str
) -> pl.DataFrame:
    """Each respondent's mean in each situation, and the responses behind it.

    `\0n` of a column, where values are missing, counts those that are there.
    """
    values = {name: pl.col(name).cast(pl.Float64).fill_nan(None) for name in columns}
    gaps = frame.select(value.has_nulls() for value in values.values()).row(0)
    keys = [
        pl.col(respondent).cast(pl.String).alias(RESPONDENT),
        pl.col(situation).cast(pl.String).alias(SITUATION),
    ]
    known = frame.filter(*(pl.col(name).is_not_null() for name in (respondent, situation)))
    return known.group_by(keys, maintain_order=True).agg(
        *(value.mean() for value in values.values()),
        *(
            value.count().alias(f"{name}\0n")
            for (name, value), incomplete in zip(values.items(), gaps, strict=True)
            if incomplete
        ),
        pl.len().alias("\0responses"),
    )


def _answers(means: pl.DataFrame, name: str, columns: list[str]) -> _Answers:
    own = means.filter(pl.col(RESPONDENT) == name).sort(SITUATION)
    size = own["\0responses"].to_numpy().astype(float)
    used = [
        own[f"{column}\0n"].to_numpy().astype(float) if f"{column}\0n" in own.columns else size
        for column in columns
    ]
    return _Answers(own[SITUATION], own.select(columns).to_numpy().astype(float), size, used)


def _sides(first: _Answers, second: _Answers) -> _Sides:
    a, b, used_a, used_b = first.means, second.means, first.used, second.used
    shared = first.situations.is_in(second.situations.implode()).to_numpy()
    paired = shared.sum() >= max(_FEWEST_SHARED, min(len(a), len(b)) / 2)
    if paired:
        back = second.situations.is_in(first.situations.implode()).to_numpy()
        # Column after column in memory, so that the order of sums stays the same.
        a, b = np.asfortranarray(a[shared]), np.asfortranarray(b[back])
        whole = ~(np.isnan(a) | np.isnan(b))
        a, b = np.where(whole, a, np.nan), np.where(whole, b, np.nan)
        used_a = [counts[shared] * there for counts, there in zip(used_a, whole.T, strict=True)]
        used_b = [counts[back] * there for counts, there in zip(used_b, whole.T, strict=True)]
    used = np.array([x.sum() + y.sum() for x, y in zip(used_a, used_b, strict=True)])
    return _Sides(a, b, bool(paired), first.size.sum() + second.size.sum() - used)


def _permuted(pairs: Sequence[_Sides], permutations: int, seed: int) -> list[Array]:
    """The permutation p of each feature of each pair.

    Each pair gets the same permutations, so its p does not depend on who else is compared; pairs
    with as many situations are permuted at once, which is several times faster.
    """
    p_values = []
    for (paired, _), group in itertools.groupby(pairs, lambda each: (each.paired, len(each.one))):
        sides = list(group)
        if paired:
            differences = np.hstack([np.nan_to_num(one - other) for one, other, *_ in sides])
            shares = sign_flip_p(differences, permutations, np.random.default_rng(seed))
            p_values += np.split(shares, len(sides))
        else:
            p_values += [
                reassignment_p(one, other, permutations, np.random.default_rng(seed))
                for one, other, *_ in sides
            ]
    return p_values


def _compare(
    one: str,
    other: str,
    columns: list[str],
    sides: _Sides,
    confidence: float,
    permuted: Array,
) -> list[FeatureDifference]:
    from scipy.special import stdtr, stdtrit

    n, m = ((~np.isnan(side)).sum(axis=0).astype(float) for side in (sides.one, sides.other))
    mean, against_mean = _mean(sides.one), _mean(sides.other)
    se, df = _standard_error(sides, n, m)
    difference = mean - against_mean
    # Differences that are the same everywhere may differ in the last digit.
    noise = _NOISE * np.maximum(np.abs(mean), np.abs(against_mean))
    se = np.where(se <= noise, 0.0, se)
    difference = np.where(np.abs(difference) <= noise, 0.0, difference)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(se > 0, difference / se, np.nan)
        # Nothing varies and nothing differs: no evidence of a difference, rather than no answer.
        p = np.where((se == 0) & (difference == 0), 1.0, 2 * stdtr(df, -np.abs(t)))
    margin = stdtrit(np.where(df > 0, df, np.nan), (1 + confidence) / 2) * se
    effect = _effect(sides, n, m, confidence)
    # Where each side is constant, t does not exist; exchanging the sides still separates them.
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
        means: Array = np.nansum(side, axis=0) / (~np.isnan(side)).sum(axis=0)
    return means


def _sd(side: Array) -> Array:
    n, mean = (~np.isnan(side)).sum(axis=0), _mean(side)
    with np.errstate(invalid="ignore", divide="ignore"):
        squares = np.nansum((side - mean) ** 2, axis=0)
        sds: Array = np.where(n > 1, np.sqrt(squares / (n - 1)), np.nan)
    # Values that are the same everywhere may differ in the last digit of their mean.
    return np.where(sds <= _NOISE * np.abs(mean), 0.0, sds)


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
