"""The charts of conversations, as Vega-Lite specifications."""

from __future__ import annotations

from typing import Any

import altair as alt
import polars as pl

from empathylab.report.chart_parts import (
    labelled,
    number_tooltip,
    panels_spec,
    respondent_color,
    spec_of,
)
from empathylab.report.colours import GROUND
from empathylab.report.estimate_charts import estimates_chart

_HEIGHT = 230
_APART = 7.0
"""Points of feeling between two names, so that they can be read."""


def curves_chart(curves: pl.DataFrame) -> dict[str, Any] | None:
    """Mean feeling after each reply, by respondent, with intervals; a panel per simulator."""
    if curves.is_empty():
        return None
    names = curves["respondent"].unique(maintain_order=True).to_list()
    simulators = curves["simulator"].unique(maintain_order=True).to_list()
    scale = alt.Scale(domain=[0, 100], clamp=True)
    base = alt.Chart().encode(
        alt.X("exchange:Q", title="replies so far", axis=alt.Axis(tickMinStep=1, format="d")),
        respondent_color(names, legend=not labelled(names)),
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
    rows = curves.to_dicts()
    named = labelled(names)
    text = base.mark_text(align="right", fontSize=12, fontWeight=600).transform_filter(
        "isValid(datum.name)"
    )
    halo = text.mark_text(
        align="right", fontSize=12, fontWeight=600, stroke=GROUND, strokeWidth=4, strokeJoin="round"
    )
    at = alt.Y("name_at:Q", title="mean feeling", scale=scale)
    labels = [
        halo.encode(at, text="name:N", color=alt.value(GROUND)),
        text.encode(at, text="name:N"),
    ]
    if named:
        _name_ends(rows)
    layered = alt.layer(band, line, *(labels if named else []))
    if len(simulators) == 1:
        return spec_of(layered, _HEIGHT, rows)
    return panels_spec(layered, "simulator", simulators, _HEIGHT, rows)


def _name_ends(rows: list[dict[str, Any]]) -> None:
    """Names the last point of each curve, above it and apart from the names of other curves."""
    ends: dict[str, dict[str, dict[str, Any]]] = {}
    for row in rows:
        last = ends.setdefault(row["simulator"], {}).setdefault(row["respondent"], row)
        if row["exchange"] >= last["exchange"]:
            ends[row["simulator"]][row["respondent"]] = row
    for mine in ends.values():
        lowest = 0.0
        for row in sorted(mine.values(), key=lambda row: float(row["mean"])):
            at = max(row["mean"] + _APART / 2, lowest)
            row |= {"name": row["respondent"], "name_at": at}
            lowest = at + _APART


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
