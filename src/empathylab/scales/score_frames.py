"""Scores of many administrations at once: the rules of `score`, on a frame."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from empathylab.scales.definition import Scale

_PARTS = {
    "scale_row": pl.Int64,
    "item": pl.Int64,
    "subscale": pl.String,
    "turned": pl.Float64,
    "items": pl.Int64,
    "factor": pl.Float64,
    "place": pl.Int64,
}


def score_frame(answers: pl.DataFrame, scales: Mapping[int, Scale]) -> pl.DataFrame:
    """Every subscale's score: the columns `administration`, `subscale` and `score`.

    `answers` has the columns `administration`, `scale_row` (a key of `scales`), `item` and
    `value`. A subscale that lacks an answer has no row, as with `score(…, missing="refuse")`.
    """
    parts = pl.DataFrame(
        [row for number, scale in scales.items() for row in _parts(number, scale)],
        schema=_PARTS,
        orient="row",
    )
    value = pl.when(pl.col("turned").is_null()).then(pl.col("value"))
    return (
        answers.join(parts, on=["scale_row", "item"])
        .with_columns(value=value.otherwise(pl.col("turned") - pl.col("value")))
        .group_by("administration", "subscale")
        .agg(
            pl.col("value").sum().alias("sum"),
            pl.len().alias("answered"),
            pl.col("items", "factor", "place").first(),
        )
        .filter(pl.col("answered") == pl.col("items"))
        .sort("administration", "place")
        .select("administration", "subscale", score=pl.col("sum") * pl.col("factor"))
    )


def _parts(number: int, scale: Scale) -> list[tuple[object, ...]]:
    turned = scale.minimum + scale.maximum
    return [
        (
            number,
            item,
            name,
            turned if item in scale.reversed else None,
            len(items),
            {"sum": 1.0, "double-sum": 2.0, "mean": 1 / len(items)}[scale.rule],
            place,
        )
        for place, (name, items) in enumerate(scale.scored_parts())
        for item in items
    ]
