"""How close a respondent's changes are to people's.

All figures start from the rows of `scale_changes`. The unit is the standard deviation of people's
own changes on the subscale: a distance of 1 is one person's usual distance from the others.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from empathylab.stats.arrays import ranks
from empathylab.stats.questionnaires.appraisal import Level, ScaleChange
from empathylab.stats.t_tests import t_margin, z_margin


@dataclass(frozen=True, slots=True)
class Distance:
    """The distance of a respondent's change from people's, on one subscale at one level."""

    respondent: str
    scale: str
    subscale: str
    level: Level
    emotion: str | None
    factor: str | None
    delta: float
    people_delta: float
    distance: float
    """(delta − people_delta) / SD of people's changes; above 0: higher than people's."""
    low: float
    high: float
    se: float


@dataclass(frozen=True, slots=True)
class RankAgreement:
    """Whether the factors that move people most also move the respondent most."""

    respondent: str
    scale: str
    subscale: str
    factors: int
    rho: float
    """Spearman's rank correlation of the changes across factors; NaN where a side is constant."""
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class AlignmentSummary:
    """One figure for a respondent on a scale; see `alignment_summary`."""

    respondent: str
    scale: str
    distance: float
    low: float
    high: float
    factors: int
    subscales: int


def distances(
    changes: Iterable[ScaleChange], *, people: str = "human", confidence: float = 0.95
) -> list[Distance]:
    """Distances from people at every level where both have changes.

    The unit is the SD of all people's changes on the subscale, and taken as known. The standard
    errors of both sides are those clustered by situation and item order; where there is a single
    situation and orders are not known, the plain ones. Empty where the people's scores are not
    paired by person.
    """
    changes = list(changes)
    by_place = {_place(change): change for change in changes if change.respondent == people}
    units = {place[:2]: one.change_sd for place, one in by_place.items() if one.level == "overall"}
    rows = []
    for change in changes:
        other = by_place.get(_place(change))
        unit = units.get((change.scale, change.subscale), math.nan)
        if other is None or change.respondent == people or not unit > 0:
            continue
        (se, df), (other_se, other_df) = change.error, other.error
        both = math.hypot(se, other_se)
        parts = se**4 / df + other_se**4 / other_df if both > 0 else math.nan
        margin = t_margin(both**4 / parts, confidence) * both / unit
        estimate = (change.cluster_delta - other.cluster_delta) / unit
        rows.append(
            Distance(
                change.respondent,
                change.scale,
                change.subscale,
                change.level,
                change.emotion,
                change.factor,
                delta=change.cluster_delta,
                people_delta=other.cluster_delta,
                distance=estimate,
                low=estimate - margin,
                high=estimate + margin,
                se=both / unit,
            )
        )
    return rows


def _place(change: ScaleChange) -> tuple[object, ...]:
    return change.scale, change.subscale, change.level, change.emotion, change.factor


def rank_agreements(
    distances: Iterable[Distance], *, confidence: float = 0.95
) -> list[RankAgreement]:
    """Spearman's correlation across factors, per respondent and subscale.

    Interval by Fisher's z with the variance (1 + ρ²/2)/(k − 3) of Bonett & Wright (2000,
    Psychometrika 65, 23–28); NaN below four factors. Says nothing of the size of the changes.
    """
    agreements = []
    for (respondent, scale, subscale), group in _grouped(distances).items():
        k = len(group)
        rho = _rank_correlation(
            [item.delta for item in group], [item.people_delta for item in group]
        )
        low = high = math.nan
        if k > 3 and not math.isnan(rho):
            margin = z_margin(confidence) * math.sqrt((1 + rho**2 / 2) / (k - 3))
            z = math.atanh(max(-1 + 1e-12, min(1 - 1e-12, rho)))
            low, high = math.tanh(z - margin), math.tanh(z + margin)
        agreements.append(RankAgreement(respondent, scale, subscale, k, rho, low, high))
    return agreements


def _rank_correlation(own: Sequence[float], others: Sequence[float]) -> float:
    """NaN where a side is constant, or has a change that is not known."""
    a, b = np.array(own), np.array(others)
    if len(a) < 2 or not np.ptp(a) * np.ptp(b) > 0:
        return math.nan
    return float(np.corrcoef(ranks(a), ranks(b))[0, 1])


def alignment_summaries(
    distances: Iterable[Distance], *, confidence: float = 0.95
) -> list[AlignmentSummary]:
    """One figure per respondent and scale: the typical distance from people, without noise.

    Definition: over all factors and subscales, D = √ max(0, mean(d² − se²)), with d the
    standardised signed distance and se its standard error. The mean of d² alone grows with noise;
    subtracting se² makes the figure 0, on average, for a respondent whose true changes are
    people's. It says how far, not in which direction, and a respondent with no default answers
    has none. The interval is a jackknife over factors of the mean, its ends rooted likewise; it
    is NaN below three factors.
    """
    by_respondent: dict[tuple[str, str], list[Distance]] = {}
    for distance in distances:
        if distance.level == "factor" and not math.isnan(distance.se):
            by_respondent.setdefault((distance.respondent, distance.scale), []).append(distance)
    summaries = []
    for (respondent, scale), group in by_respondent.items():
        parts: dict[object, list[float]] = {}
        for item in group:
            parts.setdefault((item.emotion, item.factor), []).append(item.distance**2 - item.se**2)
        means = np.array([np.mean(values) for values in parts.values()])
        k, centre = len(means), float(means.mean())
        low = high = math.nan
        if k >= 3:
            # Leaving out one of k equally weighted parts: the jackknife is the mean's own error.
            spread = float(means.std(ddof=1)) / math.sqrt(k)
            margin = t_margin(k - 1, confidence) * spread
            low, high = _rooted(centre - margin), _rooted(centre + margin)
        subscales = len({item.subscale for item in group})
        summaries.append(
            AlignmentSummary(respondent, scale, _rooted(centre), low, high, k, subscales)
        )
    return summaries


def _rooted(value: float) -> float:
    return math.sqrt(max(0.0, value))


def _grouped(distances: Iterable[Distance]) -> dict[tuple[str, str, str], Sequence[Distance]]:
    groups: dict[tuple[str, str, str], list[Distance]] = {}
    for distance in distances:
        if distance.level == "factor":
            groups.setdefault((distance.respondent, distance.scale, distance.subscale), []).append(
                distance
            )
    return dict(groups)
