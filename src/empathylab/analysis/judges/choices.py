"""A judge's choices between two replies, compared with people's ratings of both."""

from __future__ import annotations

import polars as pl

from empathylab.stats.judges.preference_agreement import PreferenceAgreement, preference_agreement


def choice_agreement(
    compared: pl.DataFrame,
    people: pl.DataFrame,
    responses: pl.DataFrame,
    *,
    confidence: float = 0.95,
) -> PreferenceAgreement | None:
    """How often the judge prefers the reply that people rate higher; None where it chose nothing.

    `compared` are its choices on one dimension, `people` their ratings on it, and `responses` says
    who wrote which response to which situation, for choices that name only the respondents.
    """
    if compared.is_empty():
        return None
    means = people.group_by("response").agg(mean=pl.col("rating").mean())
    rows = compared
    for place in ("first", "second"):
        rows = _identified(rows, responses, place).join(
            means.select(
                pl.col("response").alias(f"{place}_response"),
                pl.col("mean").alias(f"people_{place}"),
            ),
            on=f"{place}_response",
            how="left",
            maintain_order="left",
        )
    # Replies without a rating, which no response of people's stands for, still make a pair.
    shown = [
        pl.coalesce(f"{place}_response", pl.format("{}\x1f{}", "situation", place))
        for place in ("first", "second")
    ]
    named = rows.with_columns(one=shown[0], other=shown[1])
    pair = pl.format(
        "{}\x1f{}", pl.min_horizontal("one", "other"), pl.max_horizontal("one", "other")
    )
    return preference_agreement(
        named.with_columns(pair=pair).drop("first").rename({"one": "first"}),
        confidence=confidence,
    )


def _identified(rows: pl.DataFrame, responses: pl.DataFrame, place: str) -> pl.DataFrame:
    """With the response shown in that place, where one alone can be meant."""
    known = (
        responses.drop_nulls(["situation", "respondent"])
        .group_by("situation", "respondent")
        .agg(pl.col("response").first().alias("only"), pl.len().alias("many"))
        .filter(pl.col("many") == 1)
        .select("situation", pl.col("respondent").alias(place), "only")
    )
    identified = rows.join(known, on=["situation", place], how="left", maintain_order="left")
    return identified.with_columns(
        pl.coalesce(f"{place}_response", "only").alias(f"{place}_response")
    ).drop("only")
