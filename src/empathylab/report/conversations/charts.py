"""The figures of conversations, as Vega-Lite specifications. The page chooses the colours."""

from __future__ import annotations

from typing import Any

import altair as alt
import polars as pl

from empathylab.report.chart_parts import spec_of


def curve_chart(curves: pl.DataFrame) -> dict[str, Any] | None:
    """Mean feeling after each reply, by respondent, with intervals; for one simulator."""
    if curves.is_empty():
        return None
    names = curves["respondent"].unique(maintain_order=True).to_list()
    legend = alt.Legend(title=None, orient="top") if len(names) > 1 else None
    tooltip = [
        alt.Tooltip("respondent:N"),
        alt.Tooltip("exchange:Q", title="replies"),
        alt.Tooltip("mean:Q", format=".1f", title="mean feeling"),
        alt.Tooltip("low:Q", format=".1f", title="95% from"),
        alt.Tooltip("high:Q", format=".1f", title="to"),
        alt.Tooltip("going_on:Q", title="still going on"),
    ]
    scale = alt.Scale(domain=[0, 100], clamp=True)
    base = alt.Chart(alt.InlineData(values=curves.to_dicts())).encode(
        alt.X("exchange:Q", title="replies so far", axis=alt.Axis(tickMinStep=1, format="d")),
        alt.Color("respondent:N", scale=alt.Scale(domain=names), legend=legend),
        tooltip=tooltip,
    )
    band = base.mark_area(opacity=0.18).encode(
        alt.Y("low:Q", title="mean feeling", scale=scale), alt.Y2("high:Q")
    )
    line = base.mark_line(point=True, strokeWidth=2).encode(
        alt.Y("mean:Q", title="mean feeling", scale=scale, axis=alt.Axis(grid=True, tickCount=5))
    )
    return spec_of(alt.layer(band, line), 240)


def final_chart(respondents: pl.DataFrame) -> dict[str, Any] | None:
    """Final feelings with intervals, one row per respondent and simulator."""
    rows = [
        {
            "respondent": row["respondent"],
            "simulator": row["simulator"],
            "mean": row["mean_final"],
            "low": row["mean_final"] if row["low"] is None else max(0.0, row["low"]),
            "high": row["mean_final"] if row["high"] is None else min(100.0, row["high"]),
            "n": row["n"],
        }
        for row in respondents.drop_nulls("mean_final").to_dicts()
    ]
    if not rows:
        return None
    names = list(dict.fromkeys(row["respondent"] for row in rows))
    tooltip = [
        alt.Tooltip("respondent:N"),
        alt.Tooltip("simulator:N"),
        alt.Tooltip("mean:Q", format=".1f", title="mean final feeling"),
        alt.Tooltip("low:Q", format=".1f", title="95% from"),
        alt.Tooltip("high:Q", format=".1f", title="to"),
        alt.Tooltip("n:Q", format=",", title="conversations"),
    ]
    scale = alt.Scale(domain=[0, 100])
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        alt.Y("respondent:N", title=None, sort=names),
        alt.YOffset("simulator:N"),
        alt.Color("simulator:N", legend=alt.Legend(title="simulator", orient="top", columns=1)),
        tooltip=tooltip,
    )
    title = "mean final feeling"
    bars = base.mark_rule(strokeWidth=2).encode(
        alt.X("low:Q", title=title, scale=scale), alt.X2("high:Q")
    )
    points = base.mark_point(filled=True, size=70, opacity=1).encode(
        alt.X("mean:Q", title=title, scale=scale)
    )
    return spec_of(alt.layer(bars, points), 36 * len(names) + 30)
