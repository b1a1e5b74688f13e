"""How people rate or would rate a respondent, with all that it rests on."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

import polars as pl

from empathylab.analysis.benchmark.frames import ReferenceRatings
from empathylab.stats.judges.leave_one_out import TransferError
from empathylab.stats.judges.prediction_powered import prediction_powered_mean
from empathylab.stats.judges.transfer import Transferred
from empathylab.stats.notes import Note

Basis = Literal["people", "people and judge", "judge"]
Kind = Literal["share", "mean"]
Level = Literal["all", "valence", "emotion"]
CONFIDENCE = 0.95
_NAN = math.nan


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is estimated: the proportion of the highest point, or the mean rating."""

    kind: Kind
    label: str
    """Of the highest point, or of the dimension."""
    rating: str
    prediction: str
    lowest: float
    highest: float
    scale: str = ""
    """The points from the lowest to the highest, if the highest has no word."""

    @property
    def limits(self) -> tuple[float, float]:
        return self.lowest, self.highest


@dataclass(frozen=True, slots=True)
class Group:
    """Which situations: all, those of a valence, or of an emotion."""

    level: Level = "all"
    name: str = ""

    def of(self, frame: pl.DataFrame) -> pl.DataFrame:
        return frame if self.level == "all" else frame.filter(pl.col(self.level) == self.name)


@dataclass(frozen=True, slots=True)
class Estimate:
    """How people rate or would rate a respondent."""

    outcome: Outcome
    group: Group
    estimate: float
    low: float
    high: float
    """NaN where a judge alone was calibrated on a single respondent."""
    basis: Basis
    n_ratings: int
    """People's ratings of this respondent that were used."""
    n_judged: int
    """Replies that only the judge rated."""
    unjudged: int
    """Replies, rated by people or not, that the judge should have rated and did not."""
    notes: tuple[Note, ...]
    exchangeable_low: float = math.nan
    exchangeable_high: float = math.nan
    """By a judge alone, assuming the respondent is exchangeable with the others. NaN where this is
    off the scale altogether, so that it is not."""
    same_error_low: float = math.nan
    same_error_high: float = math.nan
    """By a judge alone, assuming the same judge error as on the others. NaN as above."""
    trust: float = math.nan
    """λ, the weight of the judge beside people, from 0 to 1; NaN for a judge alone."""
    people_low: float = math.nan
    people_high: float = math.nan
    """The interval from people's ratings of this respondent alone; NaN without enough."""
    errors: tuple[TransferError, ...] = ()
    """The judge's error on each of the others, when it was calibrated on the rest."""
    rows: pl.DataFrame | None = field(default=None, repr=False, compare=False)
    """Where people rated: their ratings, and the judge's, as they were used."""
    transferred: Transferred | None = field(default=None, repr=False, compare=False)
    """Of a judge alone: how it was calibrated."""

    def ends(self, confidence: float) -> tuple[float, float]:
        """The interval at another confidence, before it is kept within the scale; infinite where no
        level of the scale fits."""
        if self.transferred is not None:
            return self.transferred.ends_on(self.outcome.limits, confidence)
        if self.rows is None:
            return _NAN, _NAN
        mean = prediction_powered_mean(
            self.rows,
            rating=self.outcome.rating,
            limits=self.outcome.limits,
            confidence=confidence,
        )
        return mean.low, mean.high

    @property
    def beyond(self) -> bool:
        """Whether a judge alone puts the respondent outside all that it was calibrated on."""
        return self.transferred is not None and self.transferred.outside

    @property
    def fits(self) -> bool:
        """Whether any level of the scale is consistent with the ratings of a judge alone."""
        return self.transferred is None or self.transferred.fits(self.outcome.limits)

    @property
    def rules_out(self) -> bool:
        """Whether the interval excludes a part of the scale."""
        return self.low > self.outcome.lowest or self.high < self.outcome.highest

    @property
    def typical_error(self) -> float:
        """The root mean square of the errors; NaN without any."""
        squares = [error.error**2 for error in self.errors]
        return math.sqrt(sum(squares) / len(squares)) if squares else _NAN


@dataclass(frozen=True, slots=True)
class Difference:
    """The respondent's estimate minus the human ratings of another."""

    other: str
    outcome: Outcome
    group: Group
    difference: float
    low: float
    high: float
    same_error_low: float
    same_error_high: float
    """As in `Estimate`."""
    other_n: int
    """People's ratings of the other that were used: on the situations that both replied to."""
    situations: int = 0
    """Of the other, to which these are."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """One respondent measured on a study, by one judge."""

    study: str
    dimension: str
    respondent: str
    judge: str | None
    """None where people rated every reply."""
    basis: Basis
    calibrated_on: tuple[str, ...]
    """The respondents whose human ratings the judge was calibrated on."""
    calibration_ratings: int
    calibration_people: int
    calibration_situations: int
    estimates: tuple[Estimate, ...]
    differences: tuple[Difference, ...]
    left_out: int
    """Emotions and valences with too few replies or ratings for an estimate."""
    few: int
    """People's ratings of the respondent that are too few to be used."""
    situations: int
    """To which the replies used are given."""
    calibration_missed: int
    """Human ratings of the others that are not used: the judge did not rate these replies."""
    members: tuple[str, ...] = ()
    """Whose mean the judge is, where it is a panel."""
    notes: tuple[str, ...] = ()
    """What else to know before relying on it, in sentences."""

    def estimate(self, kind: Kind, group: Group | None = None) -> Estimate | None:
        """The estimate of that kind, for all situations unless a group is given."""
        wanted = group or Group()
        return next(
            (
                estimate
                for estimate in self.estimates
                if estimate.outcome.kind == kind and estimate.group == wanted
            ),
            None,
        )

    @property
    def headline(self) -> Estimate:
        """The proportion of the highest point, the mean where there is none; of all situations."""
        return self.estimate("share") or self.estimates[0]


def outcomes(reference: ReferenceRatings) -> tuple[Outcome, ...]:
    """What can be estimated on the study's scale."""
    mean = Outcome(
        "mean", reference.dimension.name, "rating", "predicted", reference.lowest, reference.top
    )
    if reference.top_label is None:
        return (mean,)
    top = f"{reference.top:g}"
    # A number alone does not say that it is the highest.
    scale = f"{reference.lowest:g} to {top}" if reference.top_label == top else ""
    return (Outcome("share", reference.top_label, "top", "predicted_top", 0.0, 1.0, scale), mean)
