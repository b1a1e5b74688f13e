"""Prediction-powered inference: people's mean rating of all responses, from a few of theirs and
many of a judge's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from empathylab.errors import UnknownName
from empathylab.stats.arguments import require_columns
from empathylab.stats.arrays import Array, Codes
from empathylab.stats.clusters.robust import cluster_covariance
from empathylab.stats.judges.powered_parts import (
    OwnEnds,
    Part,
    Plan,
    difference_ends,
    part_of,
    shared_rater_margin,
    widened,
)
from empathylab.stats.notes import Note, note
from empathylab.stats.t_tests import t_margin

Ends = tuple[float, float]


@dataclass(frozen=True, slots=True)
class PredictionPowered:
    """An estimate from people's ratings that a judge's ratings make more precise."""

    estimate: float
    low: float
    high: float
    """Infinite where people's ratings come from a single rater or situation."""
    se: float
    trust: tuple[float, ...]
    """λ, how far the judge is used, from 0 (not at all) to 1; one per arm."""
    people_estimate: float
    """The same from people's ratings alone."""
    people_low: float
    people_high: float
    people_se: float
    n: int
    """People's ratings used, each with the judge's rating of the same response."""
    n_judged: int
    """Responses rated by the judge only."""
    dropped: int
    """Rows left out because the judge's rating was missing."""
    df: int
    """Degrees of freedom: the fewest clusters of people's ratings minus one (per arm)."""
    confidence: float
    ends: Callable[[float], tuple[float, float]] = field(repr=False, compare=False)
    """The interval at another confidence."""
    notes: tuple[Note, ...] = ()
    """What to know before relying on it; empty where there is nothing to say."""

    def half_width(self, confidence: float) -> float:
        """From the estimate to the farther end of the interval at that confidence."""
        low, high = self.ends(confidence)
        return max(self.estimate - low, high - self.estimate)

    @property
    def width_ratio(self) -> float:
        """The interval's width over that from people alone; below 1 where the judge helps."""
        return self.se / self.people_se if self.people_se > 0 else math.nan


def prediction_powered_mean(
    frame: pl.DataFrame,
    *,
    rating: str = "rating",
    prediction: str = "prediction",
    rater: str | None = "rater",
    situation: str | None = "situation",
    trust: float | None = None,
    finite: bool = False,
    limits: tuple[float, float] | None = None,
    confidence: float = 0.95,
) -> PredictionPowered:
    """The mean of people's ratings over all responses, from a few of them and the judge's of all.

    A row is one person's `rating` of a response beside the judge's `prediction` of it, or, where
    no person rated the response, the prediction alone. For the proportion of Good give 0 and 1 as
    ratings and the judge's 0 and 1, or its probability of Good, as predictions. The judge may be
    biased and on any scale: people's ratings correct it. Not where the rated responses are no
    random sample of all: then both this and people's own mean are off.

    The estimate is the mean of people's ratings plus λ times (the judge's mean over unrated
    responses minus its mean over rated ones). λ is `trust`, or the value that would make the
    variance smallest if ratings were independent, kept within 0 and 1. The standard error lets
    ratings of one rater and of one situation be correlated (two-way clustered); `None` for a role
    takes it as no cluster. The quantile is Student's. The mean is that of all responses and raters
    like these. With `finite` it is that of these very rows, had people rated them all, from a
    simple random sample of them: chance then lies in the sample alone, and the interval is
    narrower. Give `rater=None` with it unless whole raters were drawn.

    `limits` are the ends of the scale, 0 and 1 for a share. With them the interval is Wilson's, for
    as many independent ratings as the standard error is worth: it stays within the scale, covers
    near its ends, and has a width even where all ratings are the same (then the ratings are worth
    as many as there are raters or situations). Not used with `finite`.

    A row without prediction is left out and counted. Raises InputError with fewer than 2 rated
    rows. Without rows that only the judge rated it is people's mean, and a note says so.

    Angelopoulos, A. N., Bates, S., Fannjiang, C., Jordan, M. I., & Zrnic, T. (2023). Science 382,
    669–674. Angelopoulos, A. N., Duchi, J. C., & Zrnic, T. (2023). arXiv 2311.01453 (λ).
    Cameron, A. C., Gelbach, J. B., & Miller, D. L. (2011). JBES 29, 238–249 (clusters).
    Cochran, W. G. (1977). Sampling Techniques (3rd ed.), chapter 7 (finite populations).
    Wilson, E. B. (1927). JASA 22, 209–212. Korn, E. L., & Graubard, B. I. (1998). Survey
    Methodology 24, 193–201 (shares from as many independent ratings).
    """
    plan = Plan(rating, prediction, rater, situation, trust, finite, limits)
    chosen = np.ones(len(frame), dtype=np.bool_)
    part = part_of(frame, plan, plan.clusters(frame), arm="", chosen=chosen)
    return _combined([part], [1.0], confidence)


def prediction_powered_difference(
    frame: pl.DataFrame,
    first: str,
    second: str,
    *,
    arm: str = "arm",
    rating: str = "rating",
    prediction: str = "prediction",
    rater: str | None = "rater",
    situation: str | None = "situation",
    trust: float | None = None,
    finite: bool = False,
    limits: tuple[float, float] | None = None,
    confidence: float = 0.95,
) -> PredictionPowered:
    """The first arm's mean minus the second's, each as in `prediction_powered_mean`.

    Ratings of one rater or of one situation may be correlated across the arms too, so a design
    within subjects, or with the same situations in both arms, gets the narrower interval it has
    earned. λ is found for each arm by itself. With `limits` the ends are put together from those of
    the arms' own intervals and their correlation.

    Zou, G. Y., & Donner, A. (2008). Statistics in Medicine 27, 1693–1702 (ends of a difference).
    """
    require_columns(frame, arm)
    known = frame[arm].drop_nulls().cast(pl.String).unique().to_list()
    plan = Plan(rating, prediction, rater, situation, trust, finite, limits)
    parts = []
    # Clusters are numbered over both arms, so that what they share is seen.
    both = frame.filter(pl.col(arm).cast(pl.String).is_in([first, second]))
    ways = plan.clusters(both)
    for name in (first, second):
        if name not in known:
            raise UnknownName("arm", name, known)
        chosen = (both[arm].cast(pl.String) == name).to_numpy()
        parts.append(part_of(both, plan, ways, name, chosen))
    return _combined(parts, [1.0, -1.0], confidence)


def _combined(
    parts: Sequence[Part], signs: Sequence[float], confidence: float
) -> PredictionPowered:
    clusters = [np.concatenate(way) for way in zip(*(p.clusters for p in parts), strict=True)]

    def se(influences: Sequence[Array]) -> float:
        terms = np.concatenate([s * one for s, one in zip(signs, influences, strict=True)])
        return _se(terms, clusters)

    df = min(part.fewest for part in parts) - 1
    estimate = sum(s * p.mean for s, p in zip(signs, parts, strict=True))
    people = sum(s * p.people_mean for s, p in zip(signs, parts, strict=True))
    own, alone = se([p.influence for p in parts]), se([p.people_influence for p in parts])

    def cautious(
        interval: tuple[float, float], difference: float, error: float, level: float
    ) -> Ends:
        margin = shared_rater_margin(parts[0], parts[1], level) if len(parts) == 2 else None
        if margin is None:
            return interval
        return widened(
            interval, difference, margin * (error / alone if alone else 1), parts[0].scale
        )

    def ends(level: float) -> Ends:
        interval = _interval(parts, [p.influence for p in parts], own, t_margin(df, level))
        return cautious(interval, estimate, own, level)

    trustless = [replace(part, mean=part.people_mean) for part in parts]
    influences = [part.people_influence for part in parts]
    low, high = ends(confidence)
    plain = _interval(trustless, influences, alone, t_margin(df, confidence))
    people_low, people_high = cautious(plain, people, alone, confidence)
    return PredictionPowered(
        estimate=estimate,
        low=low,
        high=high,
        se=own,
        trust=tuple(part.trust for part in parts),
        people_estimate=people,
        people_low=people_low,
        people_high=people_high,
        people_se=alone,
        n=sum(part.n for part in parts),
        n_judged=sum(part.n_judged for part in parts),
        dropped=sum(part.dropped for part in parts),
        df=df,
        confidence=confidence,
        ends=ends,
        notes=tuple(_notes(parts, df)),
    )


def _interval(
    parts: Sequence[Part], influences: Sequence[Array], se: float, margin: float
) -> tuple[float, float]:
    """Of one arm's mean, or of the first arm's less the second's, whose standard error is `se`."""
    own = [
        OwnEnds.of(
            part, _se(influence, part.clusters), _se(part.people_influence, part.clusters), margin
        )
        for part, influence in zip(parts, influences, strict=True)
    ]
    if len(own) == 1:
        return own[0].low, own[0].high
    if any(part.scale is None for part in parts):
        difference = own[0].mean - own[1].mean
        return difference - margin * se, difference + margin * se
    return difference_ends(own[0], own[1], se)


def _se(influence: Array, clusters: Sequence[Codes]) -> float:
    return math.sqrt(float(cluster_covariance(influence[:, None], clusters, adjust=False)[0, 0]))


def _notes(parts: Sequence[Part], df: int) -> Iterator[Note]:
    if all(part.n_judged == 0 for part in parts):
        yield note("nothing_judged_alone")
    elif all(part.trust == 0 for part in parts):
        yield note("judge_adds_nothing")
    if 0 < df < 9:
        yield note("few_clusters", clusters=df + 1)
    elif df == 0:
        yield note("ratings_of_one_cluster")
