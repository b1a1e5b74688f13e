"""All respondents measured against one study, in an order that claims no more than is known."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

import polars as pl

from empathylab.judging.measurements import CONFIDENCE, Against, Estimate
from empathylab.stats.prediction_powered import prediction_powered_difference
from empathylab.stats.transfer import reach


@dataclass(frozen=True, slots=True)
class Entry:
    """A respondent's line."""

    respondent: str
    found: Against
    replies: int
    """The respondent's replies that people or the judge rated."""
    rated_first: date | None
    """The day of the first rating by people of this respondent, where it is known."""
    rated_last: date | None
    judged_first: date | None
    """The day of the judge's first judgement of this respondent, where a judge was used."""
    judged_last: date | None
    place: int = 0
    """By the estimate alone, from 1; alike estimates share one."""
    rank_low: int = 0
    rank_high: int = 0
    """The ranks that cannot be ruled out."""

    @property
    def estimate(self) -> Estimate:
        return self.found.headline


@dataclass(frozen=True, slots=True)
class Compared:
    """Two respondents, held against each other."""

    upper: str
    lower: str
    difference: float
    low: float
    high: float
    """At the confidence that leaves all pairs together 95%; NaN where one has no interval."""
    paired: bool
    """Whether what both share, situations and raters, was taken into account."""
    shared: int
    """Situations in which people rated both."""

    @property
    def apart(self) -> bool:
        """Whether the upper one is shown to be better."""
        return self.low > 0


@dataclass(frozen=True, slots=True)
class Ranking:
    """Respondents from the highest estimate to the lowest, and how each two compare."""

    entries: tuple[Entry, ...]
    pairs: tuple[Compared, ...]


def ranked(entries: Sequence[Entry]) -> Ranking:
    """The entries from the highest estimate to the lowest, each with the ranks it may have.

    All pairs are compared, each at 1 − 0.05 / pairs, so that with a chance of 95% no claim of a
    difference is wrong. A respondent ranks below as many as are shown to be better, and above as
    many as are shown to be worse. Who has no interval can have any rank.

    Mogstad, M., Romano, J. P., Shaikh, A. M., & Wilhelm, D. (2024). Review of Economic Studies 91,
    476–518 (ranks from differences).
    """
    order = sorted(entries, key=lambda one: (-one.estimate.estimate, one.respondent))
    places = list(itertools.combinations(range(len(order)), 2))
    confidence = 1 - (1 - CONFIDENCE) / max(1, len(places))
    pairs = [compared(order[upper], order[lower], confidence) for upper, lower in places]
    better, worse = [0] * len(order), [0] * len(order)
    for (upper, lower), pair in zip(places, pairs, strict=True):
        better[lower] += pair.apart
        worse[upper] += pair.apart
    values = [one.estimate.estimate for one in order]
    found = tuple(
        replace(
            one,
            place=1 + values.index(values[number]),
            rank_low=1 + better[number],
            rank_high=len(order) - worse[number],
        )
        for number, one in enumerate(order)
    )
    return Ranking(found, tuple(pairs))


def compared(upper: Entry, lower: Entry, confidence: float = CONFIDENCE) -> Compared:
    """The upper one's estimate less the lower one's.

    Where people rated both, ratings of one situation or rater may be correlated across the two, and
    a situation that is hard for both does not blur their difference: it is paired, as far as they
    share situations and raters. Where a judge stands alone for one, its interval is mostly about
    how the judge leans toward the one it rated, which no situation shares, and what the line takes
    from the other is not known for every pair: the two are taken as independent.

    Zou, G. Y., & Donner, A. (2008). Statistics in Medicine 27, 1693–1702 (a difference's ends).
    """
    first, second = upper.estimate, lower.estimate
    if first.rows is not None and second.rows is not None:
        return _paired(upper, lower, first.rows, second.rows, confidence)
    apart = first.estimate - second.estimate
    lowest, highest = first.outcome.limits
    down = _both(_below(first, lowest, confidence), _above(second, highest, confidence))
    up = _both(_above(first, highest, confidence), _below(second, lowest, confidence))
    ends = apart - down, apart + up
    return Compared(upper.respondent, lower.respondent, apart, *ends, paired=False, shared=0)


def _below(one: Estimate, lowest: float, confidence: float) -> tuple[float, float]:
    """How far down it may reach, and how far the scale does."""
    return one.estimate - one.ends(confidence)[0], one.estimate - lowest


def _above(one: Estimate, highest: float, confidence: float) -> tuple[float, float]:
    return one.ends(confidence)[1] - one.estimate, highest - one.estimate


def _both(one: tuple[float, float], other: tuple[float, float]) -> float:
    if math.isnan(one[0]) or math.isnan(other[0]):
        return math.nan
    return max(reach(*one, min(other)), reach(*other, min(one)))


def _paired(
    upper: Entry, lower: Entry, mine: pl.DataFrame, theirs: pl.DataFrame, confidence: float
) -> Compared:
    outcome = upper.estimate.outcome
    columns = [outcome.rating, "prediction", "rater", "situation"]
    both = pl.concat(
        [
            mine.select(*columns, arm=pl.lit("upper")),
            theirs.select(*columns, arm=pl.lit("lower")),
        ]
    )
    found = prediction_powered_difference(
        both,
        "upper",
        "lower",
        rating=outcome.rating,
        limits=outcome.limits,
        confidence=confidence,
    )
    rated = [one.filter(pl.col(outcome.rating).is_not_null()) for one in (mine, theirs)]
    situations = [set(one["situation"].drop_nulls()) for one in rated]
    raters = [set(one["rater"].drop_nulls()) for one in rated]
    shared = len(situations[0] & situations[1])
    return Compared(
        upper.respondent,
        lower.respondent,
        found.estimate,
        found.low,
        found.high,
        paired=bool(shared or raters[0] & raters[1]),
        shared=shared,
    )
