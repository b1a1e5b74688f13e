"""How often a judge that chooses between two replies prefers the one that people rate higher."""

from __future__ import annotations

import math
from dataclasses import dataclass

import polars as pl

from empathylab.stats.judges.prediction_powered import prediction_powered_mean

_ROUNDING = 1e-9
"""Of the ratings' size: means of thirds and tenths differ by less where they are the same."""


@dataclass(frozen=True, slots=True)
class Agreeing:
    """A proportion of choices, or of pairs."""

    share: float
    """NaN without any."""
    low: float
    high: float
    """NaN where there are fewer than two, or all are of one situation."""
    n: int


@dataclass(frozen=True, slots=True)
class PreferenceAgreement:
    """A judge's choices compared with people's mean ratings of the same replies."""

    choices: Agreeing
    """Every choice, each order and repeat for itself."""
    consistent: Agreeing
    """Pairs shown in both orders of which the same reply was always preferred, once each."""
    ties: int
    """Choices of neither, left out; of pairs that people do not rate the same."""
    inconsistent: int
    """Pairs shown in both orders of which now the one and now the other was preferred; a tie is
    neither's."""
    even: int
    """Choices left out because people's mean ratings of both replies are the same, but for
    rounding."""
    unrated: int
    """Choices left out because people have not rated both replies."""
    confidence: float


def preference_agreement(
    frame: pl.DataFrame,
    *,
    confidence: float = 0.95,
) -> PreferenceAgreement:
    """The proportion of choices in which the reply that people rate higher is preferred.

    A row is one choice: its `situation` and `outcome` (first, second or tie), the `pair` of
    replies, which of them was shown `first`, and people's mean rating of the one shown first
    (`people_first`) and of the other (`people_second`). How far the
    means differ plays no part, so with few ratings of each reply even a judge that chooses as
    people do agrees in less than all. Choices of one situation may be correlated; the interval is
    Wilson's, for as many independent choices as the clustered standard error is worth.

    Ties, replies that people rate the same, and replies without ratings are left out and counted.
    """
    first, second = (pl.col(f"people_{side}").cast(pl.Float64) for side in ("first", "second"))
    rows = frame.select(
        "pair",
        pl.col("first", "situation", "outcome").cast(pl.String),
        difference=(first - second).fill_nan(None),
        size=pl.max_horizontal(first.abs(), second.abs()),
    )
    rated = rows.drop_nulls("difference")
    differ = pl.col("difference").abs() > _ROUNDING * pl.col("size")
    higher = pl.when(pl.col("difference") > 0).then(pl.lit("first")).otherwise(pl.lit("second"))
    uneven = rated.filter(differ).with_columns(agrees=pl.col("outcome") == higher)
    decided = uneven.filter(pl.col("outcome") != "tie")
    # Right in one order and wrong in the other is the same place twice, not the same reply.
    both = uneven.group_by("pair", maintain_order=True).agg(
        pl.col("situation").first(),
        orders=pl.col("first").n_unique(),
        ties=(pl.col("outcome") == "tie").sum(),
        right=pl.col("agrees").sum(),
        times=pl.len(),
    )
    turned = both.filter(pl.col("orders") == 2)
    right, wrong = pl.col("right"), pl.col("times") - pl.col("ties") - pl.col("right")
    steady = (right == pl.col("times")) | (wrong == pl.col("times"))
    same = turned.filter(steady).with_columns(agrees=(right > 0).cast(pl.Float64))
    return PreferenceAgreement(
        choices=_agreeing(decided.with_columns(pl.col("agrees").cast(pl.Float64)), confidence),
        consistent=_agreeing(same, confidence),
        ties=uneven.height - decided.height,
        inconsistent=turned.filter(right > 0, wrong > 0).height,
        even=rated.height - uneven.height,
        unrated=rows.height - rated.height,
        confidence=confidence,
    )


def _agreeing(rows: pl.DataFrame, confidence: float) -> Agreeing:
    if rows.height < 2 or rows["situation"].n_unique() < 2:
        values = rows["agrees"].to_list()
        share = sum(values) / len(values) if values else math.nan
        return Agreeing(share, math.nan, math.nan, rows.height)
    mean = prediction_powered_mean(
        rows.select("situation", rating="agrees", prediction=pl.lit(0.0)),
        rater=None,
        limits=(0.0, 1.0),
        confidence=confidence,
    )
    return Agreeing(mean.estimate, max(mean.low, 0.0), min(mean.high, 1.0), rows.height)
