"""The report's figures, as Vega-Lite specifications."""

from __future__ import annotations

from typing import Any

import altair as alt
import polars as pl


def affect_chart(
    scores: pl.DataFrame, subscale: str, *, lowest: float, highest: float
) -> dict[str, Any]:
    """One subscale: a band for rest, a dot per situation, and each emotion's mean."""
    mine = scores.filter(pl.col("subscale") == subscale)
    rest = (
        mine.filter(pl.col("phase") == "default")
        .group_by("respondent", maintain_order=True)
        .agg(
            pl.col("score").mean().alias("mean"),
            pl.col("score").std().fill_null(0.0).alias("sd"),
            pl.len().alias("n"),
        )
        .with_columns(
            (pl.col("mean") - pl.col("sd")).clip(lowest, highest).alias("low"),
            (pl.col("mean") + pl.col("sd")).clip(lowest, highest).alias("high"),
        )
    )
    evoked = mine.filter(pl.col("phase") == "evoked").select(
        "respondent", "emotion", "situation", "score", "text"
    )
    respondents = mine["respondent"].unique(maintain_order=True).to_list()
    legend = alt.Legend(title=None, orient="top") if len(respondents) > 1 else None
    # The page chooses the colours, for light and for dark.
    color = alt.Color("respondent:N", scale=alt.Scale(domain=respondents), legend=legend)
    scale = alt.Scale(domain=[lowest, highest], nice=False)
    axis = alt.Axis(title=f"score ({lowest:g} to {highest:g})", tickCount=5, grid=True)
    x = alt.X("score:Q", scale=scale, axis=axis)
    emotions = evoked["emotion"].unique(maintain_order=True).to_list()
    y = alt.Y("emotion:N", sort=emotions, title=None, axis=alt.Axis(grid=False))
    band = (
        alt.Chart(_values(rest))
        .mark_rect(opacity=0.13)
        .encode(alt.X("low:Q", scale=scale, axis=axis), alt.X2("high:Q"), color)
    )
    line = (
        alt.Chart(_values(rest))
        .mark_rule(strokeDash=[4, 3], strokeWidth=1.5)
        .encode(
            alt.X("mean:Q", scale=scale, axis=axis),
            color,
            tooltip=[
                alt.Tooltip("respondent:N"),
                alt.Tooltip("mean:Q", title="mean at rest", format=".1f"),
                alt.Tooltip("sd:Q", title="SD at rest", format=".1f"),
                alt.Tooltip("n:Q", title="administrations"),
            ],
        )
    )
    base = alt.Chart(_values(evoked)).encode(y, color)
    dots = base.mark_circle(size=46, opacity=0.45).encode(
        x,
        yOffset=alt.YOffset("respondent:N"),
        tooltip=[
            alt.Tooltip("respondent:N"),
            alt.Tooltip("emotion:N"),
            alt.Tooltip("score:Q", format=".1f"),
            alt.Tooltip("situation:N"),
            alt.Tooltip("text:N", title="text"),
        ],
    )
    means = base.mark_tick(thickness=3, size=20).encode(
        alt.X("mean(score):Q", scale=scale, axis=axis),
        yOffset=alt.YOffset("respondent:N"),
        tooltip=[
            alt.Tooltip("respondent:N"),
            alt.Tooltip("emotion:N"),
            alt.Tooltip("mean(score):Q", title="mean", format=".1f"),
            alt.Tooltip("count():Q", title="situations"),
        ],
    )
    height = 30 * len(emotions) * max(1, min(4, rest.height))
    chart = alt.layer(band, line, dots, means).properties(width="container", height=height)
    spec: dict[str, Any] = chart.to_dict()
    spec.pop("config", None)  # the page sets colours for light and dark
    return spec


def _values(frame: pl.DataFrame) -> alt.InlineData:
    return alt.InlineData(values=frame.to_dicts())
