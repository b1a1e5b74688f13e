"""Whether a judge favours its own family, or the reply that is shown first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import polars as pl

from empathylab.errors import InputError, UnknownName
from empathylab.stats.arguments import require_columns, without_gaps
from empathylab.stats.arrays import Array, Codes
from empathylab.stats.clusters.robust import cluster_ways, least_squares
from empathylab.stats.notes import Note, note
from empathylab.stats.t_tests import t_test


@dataclass(frozen=True, slots=True)
class Bias:
    """How much a judge leans, beyond people, with its interval and test."""

    estimate: float
    """In points of the rating scale; 0 is no bias."""
    low: float
    high: float
    se: float
    p: float
    """Two-sided, of no bias."""
    df: int
    n: int
    """Rows used."""
    dropped: int
    """Rows left out because something was missing."""
    confidence: float
    note: Note | None = None
    """Why there is no estimate; empty where there is one."""


@dataclass(frozen=True, slots=True)
class SelfPreference(Bias):
    """How much more than people a judge favours its own family."""

    judge_gap: float = math.nan
    """The judge's mean of its own family minus that of the others."""
    people_gap: float = math.nan
    """People's, on the same responses."""
    n_own: int = 0


def self_preference(
    frame: pl.DataFrame,
    own: Sequence[str],
    *,
    respondent: str = "respondent",
    rating: str = "rating",
    prediction: str = "prediction",
    rater: str | None = "rater",
    situation: str | None = "situation",
    confidence: float = 0.95,
) -> SelfPreference:
    """How much more than people the judge favours the respondents of its own family.

    The difference in differences (judge, own − others) − (people, own − others) over the same
    responses, so that a family that is truly better is no bias. One row is one person's `rating`
    beside the judge's `prediction` of the same response; `own` names the respondents of the
    judge's family. Both must be on one scale: map the judge's values first if it stretches or
    shrinks the scale, or that shows here too. Ratings of one rater and of one situation may be
    correlated (two-way clustered standard error, Student's t).

    A row with a missing value is left out and counted. NaN, with a note, where there is no own or
    no other respondent. Raises UnknownName for an own respondent that is not there.
    """
    require_columns(frame, respondent, rating, prediction, rater, situation)
    known = frame[respondent].drop_nulls().cast(pl.String).unique().to_list()
    for name in own:
        if name not in known:
            raise UnknownName("respondent", name, known)
    whole = without_gaps(frame, respondent, rating, prediction)
    people = whole[rating].cast(pl.Float64).to_numpy()
    judge = whole[prediction].cast(pl.Float64).to_numpy()
    mine = whole[respondent].cast(pl.String).is_in(list(own)).to_numpy().astype(np.float64)
    dropped = len(frame) - len(whole)
    problem = "few_rows" if len(whole) < 3 else ""
    if mine.all() or not mine.any():
        problem = "no_other_responses" if mine.any() else "no_own_responses"
    if problem:
        bias = untested_bias(problem, len(whole), dropped, confidence)
    else:
        design = np.column_stack([np.ones(len(whole)), mine - mine.mean()])
        ways = cluster_ways(whole, rater, situation)
        bias = _estimated(judge - people, design, 1, ways, dropped, confidence)
    gaps = [_gap(values, mine) for values in (judge, people)]
    tested = {field.name: getattr(bias, field.name) for field in fields(bias)}
    return SelfPreference(**tested, judge_gap=gaps[0], people_gap=gaps[1], n_own=int(mine.sum()))


def position_bias(
    frame: pl.DataFrame,
    *,
    outcome: str = "outcome",
    rater: str | None = None,
    situation: str | None = "situation",
    confidence: float = 0.95,
) -> Bias:
    """How much the reply shown first is preferred, as a proportion above one half.

    `outcome` is `first`, `second` or `tie` (half a preference). Each pair should be shown in both
    orders, or in random order: else a better reply that often stands first looks like bias.
    Comparisons of one situation (and rater, where named) may be correlated. Where one place always
    wins, the test is the sign test over situations, and the interval the exact one.
    """
    require_columns(frame, outcome, rater, situation)
    whole = frame.drop_nulls([outcome])
    values = {"first": 0.5, "second": -0.5, "tie": 0.0}
    strange = whole.filter(~pl.col(outcome).cast(pl.String).is_in(list(values)))
    if len(strange):
        raise InputError(
            f"{outcome!r} must be first, second or tie",
            got=strange[outcome][0],
            remedy="Write first or second for the preferred reply, or tie.",
        )
    lean = whole[outcome].cast(pl.String).replace_strict(values, return_dtype=pl.Float64)
    design = np.ones((len(whole), 1))
    clusters = cluster_ways(whole, rater, situation)
    bias = _estimated(lean.to_numpy(), design, 0, clusters, len(frame) - len(whole), confidence)
    return _one_sided(bias) if lean.n_unique() == 1 and lean[0] != 0 else bias


def _one_sided(bias: Bias) -> Bias:
    """The bias of a judge that always prefers one position, with exact interval and p value."""
    clusters = bias.df + 1
    nearest = ((1 - bias.confidence) / 2) ** (1 / clusters) - 0.5
    sign = math.copysign(1.0, bias.estimate)
    low, high = sorted((sign * nearest, sign * 0.5))
    always = note("first_always_preferred" if sign > 0 else "second_always_preferred")
    return replace(bias, low=low, high=high, p=min(1.0, 2.0 * 0.5**clusters), note=always)


def _gap(values: Array, mine: Array) -> float:
    own, others = values[mine > 0], values[mine == 0]
    return float(own.mean() - others.mean()) if len(own) and len(others) else math.nan


def _estimated(
    outcome: Array,
    design: Array,
    column: int,
    clusters: Sequence[Codes],
    dropped: int,
    confidence: float,
) -> Bias:
    if len(outcome) == 0:
        raise InputError("there are no rows to test", remedy="Give rated responses.")
    fit = least_squares(design, outcome, clusters)
    return tested_bias(
        float(fit.coefficients[column]),
        float(fit.covariance[column, column]),
        fit.df,
        largest=float(np.abs(outcome).max()),
        n=len(outcome),
        dropped=dropped,
        confidence=confidence,
    )


def untested_bias(code: str, n: int, dropped: int, confidence: float) -> Bias:
    """No estimate, and why."""
    nan = math.nan
    return Bias(nan, nan, nan, nan, nan, 0, n, dropped, confidence, note(code))


def tested_bias(
    estimate: float,
    variance: float,
    df: int,
    *,
    largest: float,
    n: int,
    dropped: int,
    confidence: float,
) -> Bias:
    """The estimate with its t test; `largest` is the size of the values, to tell rounding."""
    nan, se = math.nan, math.sqrt(max(variance, 0.0))
    if df < 1:
        untested = (nan, nan, nan, nan, df, n, dropped, confidence)
        return Bias(estimate, *untested, note("one_cluster"))
    if se <= 1e-12 * max(1.0, largest):
        exact = round(estimate, 12) + 0.0
        p = 0.0 if exact else 1.0
        constant = note("constant_bias")
        return Bias(exact, exact, exact, 0.0, p, df, n, dropped, confidence, constant)
    test = t_test(estimate, se, df, confidence)
    return Bias(estimate, test.low, test.high, se, test.p, df, n, dropped, confidence)
