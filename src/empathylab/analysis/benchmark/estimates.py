"""A respondent measured on a study: by people, by people and a judge, or by a judge alone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import polars as pl

from empathylab.analysis.benchmark.frames import (
    FEWEST_RATINGS,
    PREDICTIONS,
    ReferenceRatings,
    beside,
)
from empathylab.analysis.benchmark.measurements import (
    CONFIDENCE,
    Difference,
    Estimate,
    Group,
    Measurement,
    Outcome,
    outcomes,
)
from empathylab.errors import InputError
from empathylab.stats.judges.prediction_powered import (
    PredictionPowered,
    prediction_powered_difference,
    prediction_powered_mean,
)
from empathylab.stats.judges.transfer import Transferred, off_scale, transferred_mean
from empathylab.stats.notes import note

_NAN = math.nan


def measured_by_people(
    reference: ReferenceRatings, respondent: str, *, parts: bool = True
) -> Measurement:
    """Human ratings of one of the study's own respondents."""
    nothing = pl.DataFrame(schema=PREDICTIONS)
    return measure_respondent(
        reference, respondent, reference.people.clear(), nothing, judge=None, parts=parts
    )


def measure_respondent(
    reference: ReferenceRatings,
    respondent: str,
    replies: pl.DataFrame,
    predicted: pl.DataFrame,
    *,
    judge: str | None,
    left_out: Mapping[str, pl.DataFrame] | None = None,
    parts: bool = True,
) -> Measurement:
    """How people rate or would rate the respondent, and the difference from the study's own.

    `replies` are the respondent's, `predicted` the judge's ratings of them and of replies that
    people rated; `left_out` the same by a judge that was trained without this respondent, where it
    was trained on the study.

    With ten human ratings of the respondent or more these decide, and the judge only narrows the
    interval (`prediction_powered_mean`); they must be of a random part of the replies. With fewer,
    the judge is calibrated on the study's other respondents (`transferred_mean`), and the interval
    covers its errors on each of them. Without `parts`, only all situations together, and no
    differences. Raises InputError where the judge rated nothing.
    """
    frame = beside(reference, replies, predicted)
    turns = {name: beside(reference, replies, one) for name, one in (left_out or {}).items()}
    own = reference.people.filter(respondent=respondent).height
    # A respondent is not calibrated on another arm of the same author.
    own_arms = {respondent, *reference.arms_of(respondent)}
    others = tuple(name for name in reference.respondents if name not in own_arms)
    measure = _Measure(reference, respondent, others, frame, turns, by_people=own >= FEWEST_RATINGS)
    groups = list(measure.groups()) if parts else [Group()]
    estimates = [
        one
        for outcome in outcomes(reference)
        for group in groups
        if (one := measure.estimate(outcome, group)) is not None
    ]
    whole = next(estimate for estimate in estimates if estimate.group.level == "all")
    theirs = frame.filter(pl.col("respondent").is_in(others), pl.col("rating").is_not_null())
    used = theirs.filter(pl.col("predicted").is_not_null())
    estimated_groups = {estimate.group for estimate in estimates}
    return Measurement(
        study=reference.study.name,
        dimension=reference.dimension.name,
        respondent=respondent,
        judge=judge,
        basis=whole.basis,
        calibrated_on=tuple(used["respondent"].unique(maintain_order=True).to_list()),
        calibration_ratings=used.height,
        calibration_people=used["rater"].n_unique(),
        calibration_situations=used["situation"].n_unique(),
        estimates=tuple(estimates),
        differences=tuple(
            measure.difference(estimate, other)
            for estimate in estimates
            for other in (others if parts else ())
            if measure.rated(other, estimate.group) >= 2
        ),
        left_out=sum(group not in estimated_groups for group in groups),
        few=own if own < FEWEST_RATINGS else 0,
        situations=measure.situations(),
        calibration_missed=theirs.height - used.height,
    )


@dataclass(frozen=True, slots=True)
class _Measure:
    """One respondent's rows among all, and which method applies."""

    reference: ReferenceRatings
    respondent: str
    others: tuple[str, ...]
    frame: pl.DataFrame
    turns: dict[str, pl.DataFrame]
    by_people: bool

    def groups(self) -> Iterator[Group]:
        yield Group()
        mine = self.frame.filter(respondent=self.respondent)
        for level in ("valence", "emotion"):
            for name in mine[level].drop_nulls().unique().sort():
                yield Group(level, str(name))

    def situations(self) -> int:
        return self.frame.filter(self._used(), respondent=self.respondent)["situation"].n_unique()

    def _used(self) -> pl.Expr:
        predicted, rated = pl.col("predicted").is_not_null(), pl.col("rating").is_not_null()
        return predicted | rated if self.by_people else predicted

    def rated(self, respondent: str, group: Group) -> int:
        return group.of(self.reference.people.filter(respondent=respondent)).height

    def estimate(self, outcome: Outcome, group: Group) -> Estimate | None:
        """None for a part of the situations that has too little."""
        method = self._by_people if self.by_people else self._by_judge
        return method(outcome, group)

    def _by_people(self, outcome: Outcome, group: Group) -> Estimate | None:
        if self.rated(self.respondent, group) < FEWEST_RATINGS:
            return None
        rows = self._mine(outcome, group)
        mean = prediction_powered_mean(rows, rating=outcome.rating, limits=outcome.limits)
        n_judged = rows.filter(_predicted_only(outcome)).height
        low, high = _kept(mean.low, mean.high, *outcome.limits)
        people_low, people_high = _kept(mean.people_low, mean.people_high, *outcome.limits)
        return Estimate(
            outcome=outcome,
            group=group,
            estimate=min(max(mean.estimate, outcome.lowest), outcome.highest),
            low=low,
            high=high,
            basis="people and judge" if n_judged else "people",
            n_ratings=mean.n,
            n_judged=n_judged,
            unjudged=_unjudged(rows) if n_judged else 0,
            notes=mean.notes if n_judged else (),
            trust=mean.trust[0],
            people_low=people_low,
            people_high=people_high,
            rows=rows,
        )

    def _mine(self, outcome: Outcome, group: Group) -> pl.DataFrame:
        """The respondent's rows; those that people rated, where the judge rated no others."""
        mine = group.of(self.frame.filter(respondent=self.respondent))
        if mine.filter(_predicted_only(outcome)).is_empty():
            rated = mine.filter(pl.col(outcome.rating).is_not_null())
            return rated.with_columns(prediction=pl.lit(0.0))
        # Human ratings count also where the judge refused: there its mean is used, which is
        # uninformative. Without these rows the estimate would be of what it does not refuse.
        predicted = pl.col(outcome.prediction)
        return mine.with_columns(prediction=predicted.fill_null(strategy="mean"))

    def _by_judge(self, outcome: Outcome, group: Group) -> Estimate | None:
        rows = group.of(self._calibration(self.frame, outcome))
        predicted = pl.col("prediction").is_not_null()
        counts = rows.filter(predicted).group_by("respondent").len()
        sizes = dict(counts.iter_rows())
        if (
            group.level != "all"
            and min(sizes.get(name, 0) for name in (self.respondent, *self.others)) < FEWEST_RATINGS
        ):
            return None
        self._require_predictions(sizes)
        mean = transferred_mean(
            rows,
            self.respondent,
            rating=outcome.rating,
            left_out={
                name: group.of(self._calibration(one, outcome)) for name, one in self.turns.items()
            },
        )
        mine = rows.filter(respondent=self.respondent)
        return _judged(mean, outcome, group, _unjudged(mine))

    def _calibration(self, frame: pl.DataFrame, outcome: Outcome) -> pl.DataFrame:
        """The rows of those who count, the respondent's own without ratings."""
        own = pl.col("respondent") == self.respondent
        rows = frame.filter(own | pl.col("respondent").is_in(self.others))
        return rows.with_columns(
            pl.when(~own).then(pl.col(outcome.rating)).alias(outcome.rating),
            prediction=pl.col(outcome.prediction),
        )

    def _require_predictions(self, sizes: Mapping[str, int]) -> None:
        where = f"study {self.reference.study.name}"
        if not sizes.get(self.respondent):
            raise InputError(
                "the judge has not rated any of the replies",
                where=where,
                got=self.respondent,
                remedy="Let it rate them: run the same command again.",
            )
        if not any(sizes.get(name) for name in self.others):
            raise InputError(
                "the judge has not rated anything that people rated, so its errors are unknown",
                where=where,
                remedy="Let it rate the study's own responses: run the same command again.",
            )

    def difference(self, own: Estimate, other: str) -> Difference:
        """The estimate minus the mean of people's ratings of the other, on the same situations."""
        outcome, group = own.outcome, own.group
        rated = self._comparable(other, group)
        if own.transferred is not None:
            theirs = _people_mean(rated, outcome)
            gap = own.estimate - theirs.estimate
            also = theirs.half_width(CONFIDENCE)
            ends, narrow = own.transferred.difference_ends(
                other, theirs.estimate, also, CONFIDENCE, outcome.limits
            )
            n = theirs.n
        else:
            difference = self._both(outcome, group, other, rated)
            gap, ends, narrow = difference.estimate, (difference.low, difference.high), (_NAN, _NAN)
            n = rated.height
        most = outcome.highest - outcome.lowest
        return Difference(
            other,
            outcome,
            group,
            gap,
            *_kept(*ends, -most, most),
            *_kept(*narrow, -most, most),
            n,
            rated["situation"].n_unique(),
        )

    def _comparable(self, other: str, group: Group) -> pl.DataFrame:
        """People's ratings of the other on the situations that the respondent replied to.

        All of them where these are too few: arms that share no situations are compared as they are.
        """
        theirs = group.of(self.reference.people.filter(respondent=other))
        mine = self.frame.filter(self._used(), respondent=self.respondent)["situation"].unique()
        shared = theirs.filter(pl.col("situation").is_in(mine.to_list()))
        return shared if shared.height >= FEWEST_RATINGS else theirs

    def _both(
        self, outcome: Outcome, group: Group, other: str, rated: pl.DataFrame
    ) -> PredictionPowered:
        theirs = rated.with_columns(prediction=pl.lit(0.0))
        rows = pl.concat([self._mine(outcome, group), theirs], how="diagonal")
        return prediction_powered_difference(
            group.of(rows),
            self.respondent,
            other,
            arm="respondent",
            rating=outcome.rating,
            limits=outcome.limits,
        )


def _people_mean(rows: pl.DataFrame, outcome: Outcome) -> PredictionPowered:
    return prediction_powered_mean(
        rows.with_columns(prediction=pl.lit(0.0)), rating=outcome.rating, limits=outcome.limits
    )


def _predicted_only(outcome: Outcome) -> pl.Expr:
    return pl.col(outcome.rating).is_null() & pl.col(outcome.prediction).is_not_null()


def _unjudged(rows: pl.DataFrame) -> int:
    return rows.filter(pl.col("predicted").is_null())["response"].n_unique()


def _judged(mean: Transferred, outcome: Outcome, group: Group, unjudged: int) -> Estimate:
    low, high = _kept(*mean.ends_on(outcome.limits, mean.confidence), *outcome.limits)
    exchangeable = _on_scale(mean.exchangeable_low, mean.exchangeable_high, outcome)
    same_error = _on_scale(mean.same_error_low, mean.same_error_high, outcome)
    fits = mean.fits(outcome.limits)
    return Estimate(
        outcome=outcome,
        group=group,
        estimate=min(max(mean.estimate, outcome.lowest), outcome.highest),
        low=low,
        high=high,
        basis="judge",
        n_ratings=0,
        n_judged=mean.n_judged,
        unjudged=unjudged,
        notes=mean.notes if fits else (*mean.notes, note("no_consistent_level")),
        exchangeable_low=exchangeable[0],
        exchangeable_high=exchangeable[1],
        same_error_low=same_error[0],
        same_error_high=same_error[1],
        errors=mean.errors,
        transferred=mean,
    )


def _on_scale(low: float, high: float, outcome: Outcome) -> tuple[float, float]:
    """The part of the interval on the scale; NaN where there is none."""
    if off_scale((low, high), outcome.limits):
        return _NAN, _NAN
    return _kept(low, high, *outcome.limits)


def _kept(low: float, high: float, lowest: float, highest: float) -> tuple[float, float]:
    """The interval within what is possible; NaN stays."""
    if math.isnan(low):
        return low, high
    return min(max(low, lowest), highest), max(min(high, highest), lowest)
