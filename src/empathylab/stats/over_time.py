"""Whether a figure moved between two occasions, with the same situations paired where there are."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

import numpy as np
import polars as pl

from empathylab.stats.arrays import Array
from empathylab.stats.corrections import corrected_by_family
from empathylab.stats.notes import Note, note
from empathylab.stats.questionnaires.appraisal import usable_scores
from empathylab.stats.t_tests import satterthwaite_df, t_test

Measure = Literal["rest", "evoked", "change"]

_MIN_SHARED = 5
_GROUP = ["respondent", "scale", "subscale"]


@dataclass(frozen=True, slots=True)
class Shift:
    """A mean on two occasions and how far it moved; NaN where that is unknown."""

    before: float
    after: float
    difference: float
    low: float
    high: float
    p: float
    df: float
    n_before: int
    """Units: situations, administrations at baseline, or people."""
    n_after: int
    paired: bool
    """Whether the same situations are compared."""
    note: Note | None = None
    """Why there is no test; empty where there is one."""


@dataclass(frozen=True, slots=True)
class ScoreShift:
    """A subscale at baseline, after situations, or its change from one to the other, twice."""

    respondent: str
    scale: str
    subscale: str
    measure: Measure
    emotion: str | None
    """None for all situations together."""
    shift: Shift
    p_holm: float = field(default=math.nan)
    p_bh: float = field(default=math.nan)


class _Moments(NamedTuple):
    before: float
    after: float
    variance: float
    """Of the difference."""
    df: float
    n_before: int
    n_after: int
    paired: bool


def score_shifts(
    before: pl.DataFrame, after: pl.DataFrame, *, confidence: float = 0.95
) -> list[ScoreShift]:
    """How each subscale moved, of respondents and scales that are on both occasions.

    Both frames have the columns of `stats.appraisal.SCORES`. At baseline administrations are the
    units, after situations the situations (repeats and item orders are averaged first). Situations
    of the same name are compared in pairs where there are at least five of them, and half of what
    the occasion with fewer has; the others are then left out. Otherwise Welch's t test compares
    the two occasions. The change from baseline adds the two variances, with degrees of freedom
    after Satterthwaite. Where scores name the person, people are the units throughout. Without two
    units on either side, or where nothing varies, there is no test, and `note` says so. p is
    corrected over all rows for all situations together, and again over those by emotion.
    """
    first, second = (_by_group(usable_scores(frame)) for frame in (before, after))
    shifts = [
        ScoreShift(*key, measure=measure, emotion=emotion, shift=shift)
        for key, earlier in first.items()
        if key in second
        for emotion in (None, *_shared_emotions(earlier, second[key]))
        for measure, shift in _measures(earlier, second[key], emotion, confidence)
    ]
    return _corrected(shifts)


def _by_group(frame: pl.DataFrame) -> dict[tuple[str, str, str], pl.DataFrame]:
    parts = frame.partition_by(_GROUP, as_dict=True, maintain_order=True)
    return {(str(key[0]), str(key[1]), str(key[2])): part for key, part in parts.items()}


def _shared_emotions(before: pl.DataFrame, after: pl.DataFrame) -> list[str]:
    there = set(after["emotion"].drop_nulls())
    return [
        name for name in before["emotion"].drop_nulls().unique(maintain_order=True) if name in there
    ]


def _measures(
    before: pl.DataFrame, after: pl.DataFrame, emotion: str | None, confidence: float
) -> list[tuple[Measure, Shift]]:
    people = all(frame["subject"].null_count() == 0 for frame in (before, after))
    sides = [_units(frame, emotion, people) for frame in (before, after)]
    (rest, evoked, change), (rest_after, evoked_after, change_after) = sides
    at_rest = _moments(rest, rest_after, pair=False)
    upset = _moments(evoked, evoked_after, pair=not people)
    moved = _moments(change, change_after, pair=False) if people else _sum(upset, at_rest)
    shown: list[tuple[Measure, Shift]] = [] if emotion else [("rest", _shift(at_rest, confidence))]
    if upset.n_before and upset.n_after:
        shown += [("evoked", _shift(upset, confidence)), ("change", _shift(moved, confidence))]
    return [(name, shift) for name, shift in shown if shift.n_before and shift.n_after]


def _units(
    frame: pl.DataFrame, emotion: str | None, people: bool
) -> tuple[dict[str, float], dict[str, float], dict[str, float]]:
    """One value per unit: at baseline, after situations, and of people the change."""
    rest = frame.filter(pl.col("phase") == "default")
    evoked = frame.filter(pl.col("phase") == "evoked")
    if emotion is not None:
        evoked = evoked.filter(pl.col("emotion") == emotion)
    if not people:
        each = {str(number): score for number, score in enumerate(rest["score"])}
        return each, _means(evoked, "situation"), {}
    at_rest, upset = _means(rest, "subject"), _means(evoked, "subject")
    changes = {who: upset[who] - at_rest[who] for who in upset if who in at_rest}
    return at_rest, upset, changes


def _means(frame: pl.DataFrame, unit: str) -> dict[str, float]:
    means = frame.drop_nulls(unit).group_by(unit, maintain_order=True).agg(pl.col("score").mean())
    return dict(means.iter_rows())


def _moments(before: Mapping[str, float], after: Mapping[str, float], pair: bool) -> _Moments:
    shared = sorted(before.keys() & after.keys())
    paired = pair and len(shared) >= max(_MIN_SHARED, min(len(before), len(after)) / 2)
    if paired:
        one, other = (np.array([side[name] for name in shared]) for side in (before, after))
        n = len(shared)
        variance = _variance(other - one) / n
        return _Moments(_mean(one), _mean(other), variance, n - 1, n, n, True)
    one, other = (np.array(list(side.values()), dtype=np.float64) for side in (before, after))
    a, b = (_variance(side) / len(side) if len(side) else math.nan for side in (one, other))
    parts = [(a, len(one) - 1), (b, len(other) - 1)]
    return _Moments(
        _mean(one), _mean(other), a + b, satterthwaite_df(parts), len(one), len(other), False
    )


def _sum(upset: _Moments, rest: _Moments) -> _Moments:
    """The moments of what situations add to rest."""
    return _Moments(
        upset.before - rest.before,
        upset.after - rest.after,
        upset.variance + rest.variance,
        satterthwaite_df([(upset.variance, upset.df), (rest.variance, rest.df)]),
        upset.n_before if rest.n_before else 0,
        upset.n_after if rest.n_after else 0,
        upset.paired,
    )


def _shift(moments: _Moments, confidence: float) -> Shift:
    difference = moments.after - moments.before
    noise = 1e-12 * max(1.0, abs(moments.before), abs(moments.after))
    difference = 0.0 if abs(difference) <= noise else difference
    se = math.sqrt(moments.variance) if moments.variance >= 0 else math.nan
    low = high = p = math.nan
    problem = None
    if math.isnan(se):
        problem = note("occasion_with_one_value")
    elif se <= noise:
        problem = note("no_variance")
    else:
        test = t_test(difference, se, moments.df, confidence)
        low, high, p = test.low, test.high, test.p
    return Shift(
        moments.before,
        moments.after,
        difference,
        low,
        high,
        p,
        moments.df,
        moments.n_before,
        moments.n_after,
        moments.paired,
        problem,
    )


def _corrected(shifts: list[ScoreShift]) -> list[ScoreShift]:
    families = [shift.emotion is not None for shift in shifts]
    corrected = corrected_by_family(families, [shift.shift.p for shift in shifts])
    return [
        replace(shift, p_holm=p.p_holm, p_bh=p.p_bh)
        for shift, p in zip(shifts, corrected, strict=True)
    ]


def _variance(values: Array) -> float:
    return float(values.var(ddof=1)) if len(values) > 1 else math.nan


def _mean(values: Array) -> float:
    return float(values.mean()) if len(values) else math.nan
