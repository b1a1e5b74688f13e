"""Recipients, onlookers and judges on the same replies."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from empathylab.analysis.recipients.columns import NAMES, RecipientTable
from empathylab.columns import numbers
from empathylab.errors import InputError
from empathylab.stats.clusters.correlations import clustered_correlation
from empathylab.tables import missing_as_null, require_columns

RECIPIENTS, ONLOOKERS = "recipients", "onlookers"


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How far two groups of raters agree on the same replies."""

    first: str
    """`recipients` or `onlookers`."""
    second: str
    """`onlookers`, or the name of a judge."""
    outcome: str
    """What the first rated."""
    dimension: str
    """What the second rated."""
    n: int
    """Replies that both rated."""
    participants: int
    """Recipients of these replies; the interval draws them again."""
    raters: int
    """Raters of the second group."""
    correlation: float
    low: float
    high: float
    spearman: float


def agreements(
    table: RecipientTable,
    ratings: pl.DataFrame,
    *,
    where: str = "ratings",
    seed: int = 1,
    confidence: float = 0.95,
) -> tuple[Agreement, ...]:
    """Correlations over replies of what recipients, onlookers and judges say.

    `ratings` is long: `reply` and `rating`, and where there are several `rater`, `rater_kind`
    (`person` or `model`) and `dimension`. Means over raters are compared. The bootstrap interval
    draws recipients, so that the replies to one person stay together.
    """
    key = "reply" if "reply" in table.columns else "participant"
    if key not in table.columns:
        raise InputError(
            "the recipients' table does not say which reply is which",
            remedy="Add a column reply, with the ids that the ratings use.",
        )
    own = _recipients(table, key)
    rated = _rated(ratings, key, where)
    unknown = rated.join(own, on="reply", how="anti")
    if unknown.height == rated.height:
        raise InputError(
            "no rated reply is among those of the recipients",
            where=where,
            got=unknown["reply"][0] if unknown.height else "no rows",
            remedy=f"Use the ids of the column {table.columns[key]!r}.",
        )
    groups = list(dict.fromkeys(rated["group"]))
    ordered = [ONLOOKERS] * (ONLOOKERS in groups) + [name for name in groups if name != ONLOOKERS]
    people = own.select("reply", "participant").unique("reply", maintain_order=True)
    pairs = [(RECIPIENTS, name) for name in ordered]
    pairs += [(ONLOOKERS, name) for name in ordered[1:] if ordered[0] == ONLOOKERS]
    both = pl.concat([own.drop("participant"), rated], how="vertical_relaxed")
    return tuple(
        agreement
        for first, second in pairs
        for agreement in _pair(both, people, first, second, seed, confidence)
    )


def _recipients(table: RecipientTable, key: str) -> pl.DataFrame:
    """Long: reply, participant, group, dimension, rating, rater."""
    participant = "participant" if "participant" in table.columns else key
    frame = table.frame.select(
        pl.col(key).alias("reply"), pl.col(participant).alias("participant"), *table.outcomes
    )
    return (
        frame.unpivot(
            index=["reply", "participant"],
            on=list(table.outcomes),
            variable_name="dimension",
            value_name="rating",
        )
        .drop_nulls()
        .select(
            "reply",
            "participant",
            pl.lit(RECIPIENTS).alias("group"),
            "dimension",
            "rating",
            pl.col("participant").alias("rater"),
        )
    )


def _rated(ratings: pl.DataFrame, key: str, where: str) -> pl.DataFrame:
    ratings = missing_as_null(ratings)
    column = next((name for name in NAMES[key] if name in ratings.columns), key)
    require_columns(ratings.columns, (column, "rating"), where=where)
    rater = pl.col("rater").cast(pl.String) if "rater" in ratings.columns else pl.lit("rater")
    judge = pl.lit(value=False)
    if "rater_kind" in ratings.columns:
        judge = pl.col("rater_kind").cast(pl.String) == "model"
    return ratings.select(
        pl.col(column).cast(pl.String).str.strip_chars().alias("reply"),
        pl.when(judge).then(rater).otherwise(pl.lit(ONLOOKERS)).alias("group"),
        (pl.col("dimension") if "dimension" in ratings.columns else pl.lit("rating")).alias(
            "dimension"
        ),
        numbers(ratings, "rating", where=where).alias("rating"),
        rater.alias("rater"),
    ).drop_nulls(["reply", "rating"])


def _pair(
    both: pl.DataFrame,
    people: pl.DataFrame,
    first: str,
    second: str,
    seed: int,
    confidence: float,
) -> Iterator[Agreement]:
    """All pairs of dimensions; of onlookers and judges those that both rated."""
    sides = [both.filter(group=name) for name in (first, second)]
    names = [list(dict.fromkeys(side["dimension"])) for side in sides]
    for outcome, dimension in itertools.product(*names):
        if first == ONLOOKERS and outcome != dimension:
            continue
        means = [
            side.filter(dimension=name)
            .group_by("reply", maintain_order=True)
            .agg(pl.col("rating").mean())
            for side, name in zip(sides, (outcome, dimension), strict=True)
        ]
        joined = means[0].join(means[1], on="reply").join(people, on="reply")
        correlation = clustered_correlation(
            joined["rating"].to_numpy(),
            joined["rating_right"].to_numpy(),
            joined["participant"].to_numpy(),
            seed=seed,
            confidence=confidence,
        )
        raters = sides[1].filter(pl.col("reply").is_in(joined["reply"].implode()))
        yield Agreement(
            first=first,
            second=second,
            outcome=outcome,
            dimension=dimension,
            n=correlation.n,
            participants=correlation.clusters,
            raters=raters.filter(dimension=dimension)["rater"].n_unique(),
            correlation=correlation.pearson,
            low=correlation.low,
            high=correlation.high,
            spearman=correlation.spearman,
        )
