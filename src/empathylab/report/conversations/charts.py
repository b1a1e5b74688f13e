"""The charts of conversations, as Vega-Lite specifications."""

from __future__ import annotations

from typing import Any

import altair as alt
import polars as pl

from empathylab.report.chart_parts import (
    estimates_chart,
    number_tooltip,
    panels_spec,
    respondent_color,
    spec_of,
)


def curves_chart(curves: pl.DataFrame) -> dict[str, Any] | None:
    """Mean feeling after each reply, by respondent, with intervals; a panel per simulator."""
    if curves.is_empty():
        return None
    names = curves["respondent"].unique(maintain_order=True).to_list()
    simulators = curves["simulator"].unique(maintain_order=True).to_list()
    scale = alt.Scale(domain=[0, 100], clamp=True)
    base = alt.Chart().encode(
        alt.X("exchange:Q", title="replies so far", axis=alt.Axis(tickMinStep=1, format="d")),
        respondent_color(names),
        tooltip=[
            alt.Tooltip("respondent:N"),
            alt.Tooltip("simulator:N"),
            alt.Tooltip("exchange:Q", title="replies"),
            number_tooltip("mean", "mean feeling", ".1f"),
            number_tooltip("low", "95% from", ".1f"),
            number_tooltip("high", "to", ".1f"),
            alt.Tooltip("going_on:Q", title="still going on"),
        ],
    )
    band = base.mark_area(opacity=0.18).encode(
        alt.Y("low:Q", title="mean feeling", scale=scale), alt.Y2("high:Q")
    )
    line = base.mark_line(point=True, strokeWidth=2).encode(
        alt.Y("mean:Q", title="mean feeling", scale=scale, axis=alt.Axis(grid=True, tickCount=5))
    )
    layered, rows = alt.layer(band, line), curves.to_dicts()
    if len(simulators) == 1:
        return spec_of(layered, 240, rows)
    return panels_spec(layered, "simulator", simulators, 220, rows)


def final_chart(respondents: pl.DataFrame) -> dict[str, Any] | None:
    """Final feelings with intervals, one row per respondent; a panel per simulator."""
    rows = [
        {
            "respondent": row["respondent"],
            "simulator": row["simulator"],
            "estimate": row["mean_final"],
            "low": None if row["low"] is None else max(0.0, row["low"]),
            "high": None if row["high"] is None else min(100.0, row["high"]),
            "n": row["n"],
        }
        for row in respondents.drop_nulls("mean_final").to_dicts()
    ]
    if not rows:
        return None
    several = len({row["simulator"] for row in rows}) > 1
    return estimates_chart(
        rows,
        title="mean feeling at the end, from 0 to 100",
        ends=(0.0, 100.0),
        panels="simulator" if several else None,
    )
