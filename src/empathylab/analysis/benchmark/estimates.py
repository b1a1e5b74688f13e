"""A respondent measured against a study: by people, by people and a judge, or by a judge alone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import polars as pl

from empathylab.analysis.benchmark.frames import FEWEST_RATINGS, TOLD, Ground, beside
from empathylab.analysis.benchmark.measurements import (
    CONFIDENCE,
    Against,
    Basis,
    Difference,
    Estimate,
    Group,
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

_NAN = math.nan


def measured_by_people(ground: Ground, respondent: str, *, parts: bool = True) -> Against:
    """What people said of one of the study's own respondents."""
    nothing = pl.DataFrame(schema=TOLD)
    return against(ground, respondent, ground.people.clear(), nothing, judge=None, parts=parts)


def against(
    ground: Ground,
    respondent: str,
    replies: pl.DataFrame,
    told: pl.DataFrame,
    *,
    judge: str | None,
    left_out: Mapping[str, pl.DataFrame] | None = None,
    parts: bool = True,
) -> Against:
    """What people say or would say of the respondent, and how that differs from the study's own.

    `replies` are the respondent's, `told` what the judge says of them and of replies that people
    rated; `left_out` the same by a judge that was trained without this respondent, where it was
    trained on the study.

    With ten ratings of the respondent by people or more they decide, and the judge only sharpens
    them (`prediction_powered_mean`); they must be of a random part of the replies. With fewer, the
    judge is calibrated on the study's other respondents (`transferred_mean`), and the interval says
    how far it missed each of them. Without `parts`, only all situations together, and no
    differences. Raises InputError where the judge rated nothing.
    """
    frame = beside(ground, replies, told)
    turns = {name: beside(ground, replies, one) for name, one in (left_out or {}).items()}
    own = ground.people.filter(respondent=respondent).height
    # Nobody is calibrated on another arm of the same writer.
    own_arms = {respondent, *ground.arms_of(respondent)}
    others = tuple(name for name in ground.respondents if name not in own_arms)
    measure = _Measure(ground, respondent, others, frame, turns, by_people=own >= FEWEST_RATINGS)
    groups = list(measure.groups()) if parts else [Group()]
    estimates = [
        one
        for outcome in outcomes(ground)
        for group in groups
        if (one := measure.estimate(outcome, group)) is not None
    ]
    whole = next(one for one in estimates if one.group.level == "all")
    theirs = frame.filter(pl.col("respondent").is_in(others), pl.col("rating").is_not_null())
    used = theirs.filter(pl.col("told").is_not_null())
    told_groups = {one.group for one in estimates}
    return Against(
        study=ground.study.name,
        dimension=ground.dimension.name,
        respondent=respondent,
        judge=judge,
        basis=whole.basis,
        calibrated_on=tuple(used["respondent"].unique(maintain_order=True).to_list()),
        calibration_ratings=used.height,
        calibration_people=used["rater"].n_unique(),
        calibration_situations=used["situation"].n_unique(),
        estimates=tuple(estimates),
        differences=tuple(
            measure.difference(one, other)
            for one in estimates
            for other in (others if parts else ())
            if measure.rated(other, one.group) >= 2
        ),
        left_out=sum(group not in told_groups for group in groups),
        few=own if own < FEWEST_RATINGS else 0,
        situations=measure.situations(),
        calibration_missed=theirs.height - used.height,
    )


@dataclass(frozen=True, slots=True)
class _Measure:
    """One respondent's rows among all, and which road is taken."""

    ground: Ground
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
        told, rated = pl.col("told").is_not_null(), pl.col("rating").is_not_null()
        used = told | rated if self.by_people else told
        return self.frame.filter(used, respondent=self.respondent)["situation"].n_unique()

    def rated(self, respondent: str, group: Group) -> int:
        return group.of(self.ground.people.filter(respondent=respondent)).height

    def estimate(self, outcome: Outcome, group: Group) -> Estimate | None:
        """None for a part of the situations that has too little."""
        road = self._by_people if self.by_people else self._by_judge
        return road(outcome, group)

    def _by_people(self, outcome: Outcome, group: Group) -> Estimate | None:
        if self.rated(self.respondent, group) < FEWEST_RATINGS:
            return None
        rows = self._mine(outcome, group)
        found = prediction_powered_mean(rows, rating=outcome.rating, limits=outcome.limits)
        n_judged = rows.filter(_told_only(outcome)).height
        basis: Basis = "people and judge" if n_judged else "people"
        low, high = _kept(found.low, found.high, outcome.lowest, outcome.highest)
        people = _kept(found.people_low, found.people_high, outcome.lowest, outcome.highest)
        return Estimate(
            outcome=outcome,
            group=group,
            estimate=min(max(found.estimate, outcome.lowest), outcome.highest),
            low=low,
            high=high,
            like_low=_NAN,
            like_high=_NAN,
            alike_low=_NAN,
            alike_high=_NAN,
            basis=basis,
            n_ratings=found.n,
            n_judged=n_judged,
            unjudged=_unjudged(rows) if n_judged else 0,
            trust=found.trust[0],
            people_low=people[0],
            people_high=people[1],
            errors=(),
            note=found.note if n_judged else "",
            ends=found.ends,
            rows=rows,
        )

    def _mine(self, outcome: Outcome, group: Group) -> pl.DataFrame:
        """The respondent's rows; those that people rated, where the judge rated no others."""
        mine = group.of(self.frame.filter(respondent=self.respondent))
        if mine.filter(_told_only(outcome)).is_empty():
            rated = mine.filter(pl.col(outcome.rating).is_not_null())
            return rated.with_columns(prediction=pl.lit(0.0))
        # People's ratings hold also where the judge refused: there it foretells nothing, and its
        # mean says just that. Without these rows the estimate would be of what it does not refuse.
        told = pl.col(outcome.prediction)
        return mine.with_columns(prediction=told.fill_null(strategy="mean"))

    def _by_judge(self, outcome: Outcome, group: Group) -> Estimate | None:
        rows = group.of(self._calibration(self.frame, outcome))
        told = pl.col("prediction").is_not_null()
        counts = rows.filter(told).group_by("respondent").len()
        sizes = dict(counts.iter_rows())
        if (
            group.level != "all"
            and min(sizes.get(name, 0) for name in (self.respondent, *self.others)) < FEWEST_RATINGS
        ):
            return None
        self._require_told(sizes)
        found = transferred_mean(
            rows,
            self.respondent,
            rating=outcome.rating,
            left_out={
                name: group.of(self._calibration(one, outcome)) for name, one in self.turns.items()
            },
        )
        mine = rows.filter(respondent=self.respondent)
        return _judged(found, outcome, group, _unjudged(mine))

    def _calibration(self, frame: pl.DataFrame, outcome: Outcome) -> pl.DataFrame:
        """The rows of those who count, the respondent's own without ratings."""
        own = pl.col("respondent") == self.respondent
        rows = frame.filter(own | pl.col("respondent").is_in(self.others))
        return rows.with_columns(
            pl.when(~own).then(pl.col(outcome.rating)).alias(outcome.rating),
            prediction=pl.col(outcome.prediction),
        )

    def _require_told(self, sizes: Mapping[str, int]) -> None:
        where = f"study {self.ground.study.name}"
        if not sizes.get(self.respondent):
            raise InputError(
                "the judge has rated none of the replies",
                where=where,
                got=self.respondent,
                remedy="Let it rate them: the same command goes on.",
            )
        if not any(sizes.get(name) for name in self.others):
            raise InputError(
                "the judge has rated nothing that people rated, so its errors are not known",
                where=where,
                remedy="Let it rate the study's own responses: the same command goes on.",
            )

    def difference(self, own: Estimate, other: str) -> Difference:
        """The estimate less the mean of people's ratings of the other."""
        outcome, group = own.outcome, own.group
        if own.transferred is not None:
            theirs = _people_mean(group.of(self.ground.people.filter(respondent=other)), outcome)
            apart = own.estimate - theirs.estimate
            also = theirs.half_width(CONFIDENCE)
            ends, narrow = own.transferred.apart_ends(
                other, theirs.estimate, also, CONFIDENCE, outcome.limits
            )
            n = theirs.n
        else:
            found = self._both(outcome, group, other)
            apart, ends, narrow = found.estimate, (found.low, found.high), (_NAN, _NAN)
            n = self.rated(other, group)
        most = outcome.highest - outcome.lowest
        return Difference(
            other,
            outcome,
            group,
            apart,
            *_kept(*ends, -most, most),
            *_kept(*narrow, -most, most),
            n,
        )

    def _both(self, outcome: Outcome, group: Group, other: str) -> PredictionPowered:
        theirs = self.ground.people.filter(respondent=other).with_columns(prediction=pl.lit(0.0))
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


def _told_only(outcome: Outcome) -> pl.Expr:
    return pl.col(outcome.rating).is_null() & pl.col(outcome.prediction).is_not_null()


def _unjudged(rows: pl.DataFrame) -> int:
    return rows.filter(pl.col("told").is_null())["response"].n_unique()


def _judged(found: Transferred, outcome: Outcome, group: Group, unjudged: int) -> Estimate:
    ends = partial(found.ends_on, outcome.limits)
    low, high = _kept(*ends(found.confidence), outcome.lowest, outcome.highest)
    like = _on_scale(found.like_low, found.like_high, outcome)
    alike = _on_scale(found.alike_low, found.alike_high, outcome)
    notes = [found.note] if found.note else []
    if not found.fits(outcome.limits):
        notes.append("no level of the scale goes with what the judge says on this line")
    return Estimate(
        outcome=outcome,
        group=group,
        estimate=min(max(found.estimate, outcome.lowest), outcome.highest),
        low=low,
        high=high,
        like_low=like[0],
        like_high=like[1],
        alike_low=alike[0],
        alike_high=alike[1],
        basis="judge",
        n_ratings=0,
        n_judged=found.n_judged,
        unjudged=unjudged,
        trust=_NAN,
        people_low=_NAN,
        people_high=_NAN,
        errors=found.errors,
        note="; ".join(notes),
        ends=ends,
        transferred=found,
    )


def _on_scale(low: float, high: float, outcome: Outcome) -> tuple[float, float]:
    """What of the interval lies on the scale; NaN where nothing does."""
    if off_scale((low, high), outcome.limits):
        return _NAN, _NAN
    return _kept(low, high, outcome.lowest, outcome.highest)


def _kept(low: float, high: float, lowest: float, highest: float) -> tuple[float, float]:
    """The interval within what is possible; NaN stays."""
    if math.isnan(low):
        return low, high
    return min(max(low, lowest), highest), max(min(high, highest), lowest)
