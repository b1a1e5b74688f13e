"""Simulated feelings compared with people's ratings of the same transcripts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl

from empathylab.analysis.conversations.frames import PEOPLE
from empathylab.analysis.json_values import interval_columns, picked
from empathylab.analysis.text.apa import bounded, counted
from empathylab.analysis.text.numbers import signed
from empathylab.columns import numbers
from empathylab.errors import InputError
from empathylab.stats.clusters.correlations import clustered_correlation, pearson
from empathylab.stats.conversations import ClusteredMean, clustered_mean
from empathylab.tables import require_columns

Level = Literal["conversation", "turn"]
Verdict = Literal["agrees with people", "does not agree with people", "too little to tell"]
_LEAST_UNITS = 20
_LEAST_CORRELATION = 0.5
_SEED = 1


@dataclass(frozen=True, slots=True)
class PeopleCard:
    """Agreement of one simulator's feelings with people's ratings of the same texts."""

    simulator: str
    level: Level
    units: int
    """Conversations or turns that people rated and the simulator felt."""
    conversations: int
    raters: int
    ratings: int
    correlation: float
    """Pearson's, of the simulated feeling with people's mean on 0 to 100."""
    low: float
    high: float
    """Ends of the percentile bootstrap over conversations."""
    spearman: float
    bias: ClusteredMean
    """Simulated feeling minus people's mean, in points of 100, clustered by conversation."""
    people_correlation: float
    """Of one rater with the mean of the others, as a mark to compare with; NaN with one rater."""
    verdict: Verdict

    @property
    def sentence(self) -> str:
        what = counted(self.units, self.level)
        if not math.isfinite(self.correlation):
            return f"{self.simulator} cannot be compared with people: {what}, too few or constant."
        ends = mark = ""
        if math.isfinite(self.low):
            ends = f", 95% CI [{bounded(self.low)}, {bounded(self.high)}]"
        if math.isfinite(self.people_correlation):
            mark = (
                f"; one rater's correlation with the others is {bounded(self.people_correlation)}"
            )
        verdict: str = self.verdict
        if verdict == "too little to tell":
            verdict = "has too few ratings to say whether it agrees with people"
        return (
            f"As a simulator, {self.simulator} {verdict}: its feelings correlate with people's "
            f"ratings of the same {self.level}s at {bounded(self.correlation)}{ends}{mark}. "
            f"On average it differs by {signed(self.bias.estimate)} points from people ({what}, "
            f"{counted(self.raters, 'rater')})."
        )

    def to_dict(self) -> dict[str, Any]:
        return (
            picked(self, "simulator level units conversations raters ratings")
            | picked(self, "correlation low high spearman")
            | interval_columns("bias", self.bias)
            | picked(self, "people_correlation verdict sentence")
        )


def people_cards(
    conversations: pl.DataFrame,
    feelings: pl.DataFrame,
    ratings: pl.DataFrame,
    *,
    scale: tuple[float, float],
    where: str = "ratings",
    confidence: float = 0.95,
) -> list[PeopleCard]:
    """A card for each simulator whose conversations people rated.

    `ratings` has the columns conversation (the key, or the id in the lab), rating, and if wanted
    turn (how many replies there had been) and rater. Without turns, people's ratings are compared
    with the final feeling. `scale` are the ends of people's scale.
    """
    joined = _joined(conversations, feelings, ratings, scale, where)
    level: Level = "turn" if "turn" in ratings.columns else "conversation"
    return [
        _card(str(name), part, level, confidence)
        for (name,), part in joined.group_by("simulator", maintain_order=True)
    ]


def _joined(
    conversations: pl.DataFrame,
    feelings: pl.DataFrame,
    ratings: pl.DataFrame,
    scale: tuple[float, float],
    where: str,
) -> pl.DataFrame:
    require_columns(ratings.columns, ("conversation", "rating"), where=where)
    low, high = scale
    if not high > low:
        raise InputError(
            "the low end of the scale must be below its high end",
            where=where,
            got=scale,
            remedy="Write the low end first: --scale 1 7.",
        )
    values = numbers(ratings, "rating", where=where)
    outside = values.drop_nulls().filter((values.drop_nulls() < low) | (values.drop_nulls() > high))
    if len(outside):
        raise InputError(
            f"a rating is outside the scale from {low:g} to {high:g}",
            where=where,
            got=outside[0],
            remedy="Give the ends of people's scale with --scale.",
        )
    scaled = ratings.with_columns(
        pl.col("conversation").cast(pl.String).alias("named"),
        people=100 * (values - low) / (high - low),
        rater=pl.col("rater").cast(pl.String) if "rater" in ratings.columns else pl.lit("1"),
        exchange=numbers(ratings, "turn", where=where).cast(pl.Int64)
        if "turn" in ratings.columns
        else pl.lit(None, dtype=pl.Int64),
    ).select("named", "people", "rater", "exchange")
    simulated = conversations.filter(pl.col("scored") & (pl.col("simulator") != PEOPLE))
    named = simulated.select("conversation", "simulator", "final", named=pl.col("key"))
    # A key is unique in its run or file only; where two share it, the id must be used.
    by_key = named.filter(~pl.col("named").is_duplicated())
    by_id = named.with_columns(named=pl.col("conversation").cast(pl.String))
    known = pl.concat([by_key, by_id]).unique(["named", "conversation"], maintain_order=True)
    unknown = set(scaled["named"].drop_nulls()) - set(known["named"])
    if unknown:
        raise InputError(
            f"{len(unknown)} conversations of the ratings are not among the scored ones",
            where=where,
            got=sorted(unknown)[0],
            remedy="Use the keys or the ids that the lab shows.",
        )
    joined = scaled.join(known, on="named").drop_nulls("people")
    if "turn" not in ratings.columns:
        return joined.with_columns(pl.col("final").alias("feeling"))
    return joined.join(feelings.drop("reply", "change"), on=["conversation", "exchange"])


def _card(name: str, part: pl.DataFrame, level: Level, confidence: float) -> PeopleCard:
    keys = ["conversation", "exchange"] if level == "turn" else ["conversation"]
    units = part.group_by(keys, maintain_order=True).agg(
        pl.col("feeling").first(), pl.col("people").mean()
    )
    felt, people = units["feeling"].to_numpy(), units["people"].to_numpy()
    clusters = units["conversation"].to_numpy()
    correlation = clustered_correlation(felt, people, clusters, seed=_SEED, confidence=confidence)
    return PeopleCard(
        simulator=name,
        level=level,
        units=units.height,
        conversations=units["conversation"].n_unique(),
        raters=part["rater"].n_unique(),
        ratings=part.height,
        correlation=correlation.pearson,
        low=correlation.low,
        high=correlation.high,
        spearman=correlation.spearman,
        bias=clustered_mean(felt - people, clusters.tolist(), confidence=confidence),
        people_correlation=_one_with_others(part, keys),
        verdict=_verdict(units.height, correlation.low, correlation.pearson),
    )


def _verdict(units: int, low: float, correlation: float) -> Verdict:
    if units < _LEAST_UNITS or not math.isfinite(low):
        return "too little to tell"
    if low >= _LEAST_CORRELATION:
        return "agrees with people"
    return (
        "does not agree with people" if correlation < _LEAST_CORRELATION else "too little to tell"
    )


def _one_with_others(part: pl.DataFrame, keys: list[str]) -> float:
    """The mean correlation of each rater with the mean of the others on the same units."""
    sums = part.with_columns(
        total=pl.col("people").sum().over(keys), count=pl.len().over(keys)
    ).filter(pl.col("count") > 1)
    if not sums.height:
        return math.nan
    others = sums.with_columns(others=(pl.col("total") - pl.col("people")) / (pl.col("count") - 1))
    correlations = [
        pearson(ratings["people"].to_numpy(), ratings["others"].to_numpy())
        for ratings in others.partition_by("rater")
    ]
    known = [value for value in correlations if math.isfinite(value)]
    return float(np.mean(known)) if known else math.nan
