"""What people would say of all responses, from many judge ratings and few human ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from empathylab.errors import InputError, UnknownName
from empathylab.stats.cluster_robust import (
    cluster_codes,
    cluster_covariance,
    fewest_clusters,
    t_margin,
)

Array = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PredictionPowered:
    """An estimate that rests on people's ratings and is sharpened by a judge's."""

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
    """Degrees of freedom: the fewest clusters of people's ratings less one (per arm)."""
    confidence: float
    ends: Callable[[float], tuple[float, float]] = field(repr=False, compare=False)
    """The interval at another confidence."""
    note: str = ""
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
    nobody rated the response, the prediction alone. For the share of Good give 0 and 1 as ratings
    and the judge's 0 and 1, or its probability of Good, as predictions. The judge may be biased
    and on any scale: people's ratings correct it. Not where the rated responses are no random
    sample of all: then both this and people's own mean are off.

    The estimate is the mean of people's ratings plus λ times (the judge's mean over unrated
    responses less its mean over rated ones). λ is `trust`, or the value that would make the
    variance smallest if ratings were independent, kept within 0 and 1. The standard error lets
    ratings of one rater and of one situation be correlated (two-way clustered); `None` for a role
    takes it as no cluster. The quantile is Student's. The mean is that of all responses and raters
    like these. With `finite` it is that of these very rows, had people rated them all, from a
    simple random sample of them: chance then lies in the sample alone, and the interval is
    narrower. Give `rater=None` with it unless whole raters were drawn.

    `limits` are the ends of the scale, 0 and 1 for a share. With them the interval is Wilson's, for
    as many independent ratings as the standard error is worth: it stays within the scale, covers
    near its ends, and has a width even where all ratings are alike (then the ratings are worth as
    many as there are raters or situations). Not used with `finite`.

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
    """The first arm's mean less the second's, each as in `prediction_powered_mean`.

    Ratings of one rater or of one situation may be correlated across the arms too, so a design
    within subjects, or with the same situations in both arms, gets the narrower interval it has
    earned. λ is found for each arm by itself. With `limits` the ends are put together from those of
    the arms' own intervals and their correlation.

    Zou, G. Y., & Donner, A. (2008). Statistics in Medicine 27, 1693–1702 (ends of a difference).
    """
    if arm not in frame.columns:
        raise UnknownName("column", arm, frame.columns)
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


@dataclass(frozen=True, slots=True)
class Part:
    """One arm: what each row adds to the estimate's error."""

    mean: float
    people_mean: float
    influence: Array
    people_influence: Array
    clusters: tuple[Codes, ...]
    trust: float
    n: int
    n_judged: int
    dropped: int
    fewest: int
    scale: _Scale | None
    """None where the ratings have no ends, or these rows are all there are."""


@dataclass(frozen=True, slots=True)
class _Scale:
    """The ends of the scale, and what is needed to say how many ratings an error is worth."""

    lowest: float
    highest: float
    n: int
    fewest: int
    variance: float
    """Of people's ratings."""

    def ends(
        self, estimate: float, se: float, people: float, people_se: float, margin: float
    ) -> tuple[float, float]:
        """Wilson's interval."""
        if math.isinf(margin):
            return self.lowest, self.highest
        width = self.highest - self.lowest
        size = self._worth(people, people_se)
        if se > 0 and people_se > 0:
            size *= (people_se / se) ** 2
        share = min(max((estimate - self.lowest) / width, 0.0), 1.0)
        pull = margin**2 / size
        centre = (share + pull / 2) / (1 + pull)
        half = math.sqrt(pull * (share * (1 - share) + pull / 4)) / (1 + pull)
        return self.lowest + width * (centre - half), self.lowest + width * (centre + half)

    def _worth(self, people: float, people_se: float) -> float:
        """How many independent shares of one would be as certain as people's mean."""
        most = (people - self.lowest) * (self.highest - people)
        if not (self.variance > 0 and most > 0):
            return float(self.fewest)
        # Never more than independent ratings: clusters that seem to even out are mostly chance.
        return most / max(people_se**2, self.variance / self.n)


@dataclass(frozen=True, slots=True)
class Plan:
    """Which columns play which role, and how the judge is to be used."""

    rating: str
    prediction: str
    rater: str | None
    situation: str | None
    trust: float | None
    finite: bool
    limits: tuple[float, float] | None

    def clusters(self, frame: pl.DataFrame) -> list[Codes]:
        """The cluster of each row, by rater and by situation, where they were named."""
        for column in (self.rating, self.prediction, self.rater, self.situation):
            if column is not None and column not in frame.columns:
                raise UnknownName("column", column, frame.columns)
        ways = []
        if self.rater is not None:
            # The judge is no rater: a row that only it rated stands for itself.
            rated = pl.col(self.rating).is_not_null()
            people = pl.when(rated).then(pl.col(self.rater).cast(pl.String))
            ways.append(cluster_codes(frame.select(rater=people)["rater"]))
        if self.situation is not None:
            ways.append(cluster_codes(frame[self.situation]))
        return ways


def part_of(
    frame: pl.DataFrame, plan: Plan, ways: Sequence[Codes], arm: str, chosen: NDArray[np.bool_]
) -> Part:
    """The chosen rows as one arm; `ways` are the clusters of all rows."""
    y = frame[plan.rating].cast(pl.Float64).fill_null(np.nan).to_numpy()
    f = frame[plan.prediction].cast(pl.Float64).fill_null(np.nan).to_numpy()
    kept = chosen & ~np.isnan(f)
    y, f = y[kept], f[kept]
    ways = [codes[kept] for codes in ways]
    rated = ~np.isnan(y)
    n, n_judged = int(rated.sum()), int((~rated).sum())
    if n < 2:
        raise InputError(
            "prediction-powered estimates need at least 2 ratings by people"
            + (f" of arm {arm!r}" if arm else ""),
            got=n,
            remedy="Collect some human ratings of a random sample of the responses.",
        )
    weight = _tuned(y, f, rated) if plan.trust is None else _checked(plan.trust)
    weight = weight if n_judged else 0.0
    fewest = fewest_clusters(n, [codes[rated] for codes in ways])
    influences = _finite if plan.finite else _infinite
    own, people = influences(y, f, rated, weight, fewest)
    shift = float(f[~rated].mean() - f[rated].mean()) if n_judged else 0.0
    return Part(
        mean=float(y[rated].mean()) + weight * shift,
        people_mean=float(y[rated].mean()),
        influence=own,
        people_influence=people,
        clusters=tuple(ways),
        trust=weight,
        n=n,
        n_judged=n_judged,
        dropped=int((chosen & ~kept).sum()),
        fewest=fewest,
        scale=None
        if plan.limits is None or plan.finite or not plan.limits[0] < plan.limits[1]
        else _Scale(*plan.limits, n, fewest, float(np.var(y[rated], ddof=1))),
    )


def _infinite(
    y: Array, f: Array, rated: NDArray[np.bool_], weight: float, fewest: int
) -> tuple[Array, Array]:
    """What each row adds to the error of the estimate, and to that of people's mean."""
    n, n_judged = int(rated.sum()), int((~rated).sum())
    # The correction for few clusters, for each sample by its own number.
    few, many = _few(fewest), _few(n_judged)
    people = np.where(rated, few * (y - y[rated].mean()) / n, 0.0)
    judge = np.where(rated, few * (f - f[rated].mean()) / n, 0.0)
    if n_judged:
        judge = judge - np.where(rated, 0.0, many * (f - f[~rated].mean()) / n_judged)
    return people - weight * judge, people


def _finite(
    y: Array, f: Array, rated: NDArray[np.bool_], weight: float, fewest: int
) -> tuple[Array, Array]:
    """The same where these rows are all there are: only the choice of the rated ones is chance."""
    n, n_judged = int(rated.sum()), int((~rated).sum())
    left = math.sqrt(n_judged / (n + n_judged)) * _few(fewest) / n
    # The judge's mean over all rows moves by a part of its mean over the unrated ones.
    against_all = weight * (n + n_judged) / n_judged if n_judged else 0.0
    rest = y - against_all * f
    own = np.where(rated, left * (rest - rest[rated].mean()), 0.0)
    return own, np.where(rated, left * (y - y[rated].mean()), 0.0)


def _few(clusters: int) -> float:
    return math.sqrt(clusters / (clusters - 1)) if clusters > 1 else 1.0


def _tuned(y: Array, f: Array, rated: NDArray[np.bool_]) -> float:
    """The λ of PPI++ for a mean, within 0 and 1."""
    n, n_judged = int(rated.sum()), int((~rated).sum())
    spread = float(np.var(f, ddof=1))
    if n_judged == 0 or not spread > 0:
        return 0.0
    shared = float(((y[rated] - y[rated].mean()) * (f[rated] - f[rated].mean())).mean())
    return min(max(shared / ((1 + n / n_judged) * spread), 0.0), 1.0)


def _checked(trust: float) -> float:
    if not 0 <= trust <= 1:
        raise InputError("trust must lie between 0 and 1", got=trust, remedy="Leave it out.")
    return trust


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

    def ends(level: float) -> tuple[float, float]:
        return _interval(parts, [p.influence for p in parts], own, t_margin(df, level))

    trustless = [replace(part, mean=part.people_mean) for part in parts]
    influences = [part.people_influence for part in parts]
    low, high = ends(confidence)
    people_low, people_high = _interval(trustless, influences, alone, t_margin(df, confidence))
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
        note=_note(parts, df),
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
        apart = own[0].mean - own[1].mean
        return apart - margin * se, apart + margin * se
    return difference_ends(own[0], own[1], se)


class OwnEnds(NamedTuple):
    """One arm's mean with its standard error and the ends of its interval."""

    mean: float
    error: float
    low: float
    high: float

    @classmethod
    def of(cls, part: Part, error: float, people_error: float, margin: float) -> OwnEnds:
        """So many standard errors to both sides, or Wilson's on a scale."""
        low, high = part.mean - margin * error, part.mean + margin * error
        if part.scale is not None:
            low, high = part.scale.ends(part.mean, error, part.people_mean, people_error, margin)
        return cls(part.mean, error, low, high)


def difference_ends(first: OwnEnds, second: OwnEnds, se: float) -> tuple[float, float]:
    """The ends of the first mean less the second, from those of both and the difference's error."""
    error, other = first.error, second.error
    shared = (error**2 + other**2 - se**2) / (2 * error * other) if error * other > 0 else 0.0
    shared = min(max(shared, -1.0), 1.0)
    apart = first.mean - second.mean
    return (
        apart - _together(first.mean - first.low, second.high - second.mean, shared),
        apart + _together(first.high - first.mean, second.mean - second.low, shared),
    )


def _together(one: float, other: float, shared: float) -> float:
    return math.sqrt(max(one**2 + other**2 - 2 * shared * one * other, 0.0))


def _se(influence: Array, clusters: Sequence[Codes]) -> float:
    return math.sqrt(float(cluster_covariance(influence[:, None], clusters, adjust=False)[0, 0]))


def _note(parts: Sequence[Part], df: int) -> str:
    notes = []
    if all(part.n_judged == 0 for part in parts):
        notes.append("no response was rated by the judge alone, so this is people's own mean")
    elif all(part.trust == 0 for part in parts):
        notes.append("the judge does not go with people's ratings, so it adds nothing")
    if 0 < df < 9:
        notes.append(f"only {df + 1} raters or situations: the interval is rough")
    elif df == 0:
        notes.append("all ratings come from one rater or one situation: there is no interval")
    return "; ".join(notes)
