"""All respondents measured against one study, in an order that claims no more than is known."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

import polars as pl

from empathylab.judging.against import CONFIDENCE, Against, Estimate
from empathylab.judging.against_frames import Ground
from empathylab.stats.prediction_powered import prediction_powered_difference


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


def ranked(ground: Ground, entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """The entries from the highest estimate to the lowest, each with the ranks it may have.

    All pairs are compared, each at 1 − 0.05 / pairs, so that with a chance of 95% no claim of a
    difference is wrong. A respondent ranks below as many as are shown to be better, and above as
    many as are shown to be worse. Who has no interval can have any rank.

    Mogstad, M., Romano, J. P., Shaikh, A. M., & Wilhelm, D. (2024). Review of Economic Studies 91,
    476–518 (ranks from differences).
    """
    order = sorted(entries, key=lambda one: (-one.estimate.estimate, one.respondent))
    pairs = list(itertools.combinations(range(len(order)), 2))
    confidence = 1 - (1 - CONFIDENCE) / max(1, len(pairs))
    better, worse = [0] * len(order), [0] * len(order)
    for upper, lower in pairs:
        if _apart(ground, order[upper], order[lower], confidence):
            better[lower] += 1
            worse[upper] += 1
    values = [one.estimate.estimate for one in order]
    return tuple(
        replace(
            one,
            place=1 + values.index(values[number]),
            rank_low=1 + better[number],
            rank_high=len(order) - worse[number],
        )
        for number, one in enumerate(order)
    )


def _apart(ground: Ground, upper: Entry, lower: Entry, confidence: float) -> bool:
    """Whether the upper one is shown to be better."""
    first, second = upper.estimate, lower.estimate
    if first.basis == second.basis == "people":
        rows = ground.people.with_columns(prediction=pl.lit(0.0))
        found = prediction_powered_difference(
            rows,
            upper.respondent,
            lower.respondent,
            arm="respondent",
            rating=first.outcome.rating,
            limits=first.outcome.limits,
            confidence=confidence,
        )
        return found.low > 0
    # Without what they share, which errs on the wide side.
    margin = math.hypot(first.half_width(confidence), second.half_width(confidence))
    return first.estimate - second.estimate > margin
