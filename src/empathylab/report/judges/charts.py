"""The figures of a judge's card, as Vega-Lite specifications. The page chooses the colours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from empathylab.analysis.judges.cards import JudgeBias, JudgeCard
from empathylab.analysis.judges.prose import bias_title
from empathylab.report.chart_parts import spec_of, zero_line

_DARK, _LIGHT = "#1f2328", "#ffffff"
_CALM, _FOUND = "#0072B2", "#D55E00"
_SHORT = {"position": "place", "scale_order": "scale turned"}
"""Of biases whose names are too long for the side of a chart on a phone."""
_ROW = 24
_MOST_BARS = 11
_GRID = 41


def confusion_chart(card: JudgeCard) -> dict[str, Any] | None:
    """What the judge says where people say so; None for ratings in degrees."""
    if card.confusion is None:
        return None
    names = [f"{one:g}" for one in card.confusion.categories]
    rows = [
        {"people": name, "judge": rating, "count": count, "share": count / (sum(counts) or 1)}
        for name, counts in zip(names, card.confusion.counts, strict=True)
        for rating, count in zip(names, counts, strict=True)
    ]
    axis = alt.Axis(orient="top", labelAngle=0)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        alt.X("judge:O", sort=names, title="judge's rating", axis=axis),
        alt.Y("people:O", sort=names[::-1], title="people's rating", axis=alt.Axis(labelAngle=0)),
        tooltip=[
            alt.Tooltip("people:O", title="people's rating"),
            alt.Tooltip("judge:O", title="judge's rating"),
            alt.Tooltip("count:Q", title="ratings", format=","),
            alt.Tooltip("share:Q", title="of people's", format=".1%"),
        ],
    )
    color = alt.Color(
        "share:Q", scale=alt.Scale(scheme="blues", domain=[0, 1]), legend=None, title=None
    )
    ink = alt.condition(alt.datum["share"] > 0.6, alt.value(_LIGHT), alt.value(_DARK))
    numbers = base.mark_text(fontSize=12).encode(alt.Text("share:Q", format=".0%"), color=ink)
    return spec_of(alt.layer(base.mark_rect().encode(color), numbers), 36 * max(3, len(names)))


def curve_chart(card: JudgeCard) -> dict[str, Any] | None:
    """People's mean rating where the judge says so much, against the diagonal."""
    if card.curve is None:
        return None
    rows = [
        {"judge": one.judge, "people": one.people.estimate, "n": one.n}
        | ({} if math.isnan(one.people.low) else {"low": one.people.low, "high": one.people.high})
        for one in card.curve.points
    ]
    ends = _ends(card, rows)
    scale = alt.Scale(domain=ends, nice=False, zero=False, clamp=True)
    x = alt.X("judge:Q", title="judge's rating", scale=scale, axis=alt.Axis(grid=True, tickCount=5))
    y_axis = alt.Axis(grid=True)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x,
        tooltip=[
            alt.Tooltip("judge:Q", format=".2f", title="judge's rating"),
            alt.Tooltip("people:Q", format=".2f", title="people's rating"),
            alt.Tooltip("low:Q", format=".2f", title="95% from"),
            alt.Tooltip("high:Q", format=".2f", title="to"),
            alt.Tooltip("n:Q", format=",", title="ratings"),
        ],
    )
    y = alt.Y("people:Q", title="people's mean", scale=scale, axis=y_axis)
    low = alt.Y("low:Q", title="people's mean", scale=scale, axis=y_axis)
    bars = base.mark_rule(strokeWidth=2, color=_CALM).encode(low, alt.Y2("high:Q"))
    points = base.mark_point(filled=True, size=60, opacity=1, color=_CALM).encode(y)
    line = [{"judge": one, "people": one} for one in ends]
    perfect = (
        alt.Chart(alt.InlineData(values=line))
        .mark_line(strokeDash=[4, 3], color="gray")
        .encode(alt.X("judge:Q", scale=scale), alt.Y("people:Q", scale=scale))
    )
    return spec_of(alt.layer(perfect, bars, points), 220)


def map_chart(card: JudgeCard) -> dict[str, Any] | None:
    """The calibration map: the shares of people's categories at each value of the judge."""
    if card.map is None or not card.points or len(card.map.at) < 2:
        return None
    few = len(card.map.at) <= _MOST_BARS
    at = (
        np.asarray(card.map.at)
        if few
        else np.linspace(card.map.at[0], card.map.at[-1], _GRID, dtype=np.float64)
    )
    names = [f"{one:g}" for one in card.map.categories]
    rows = [
        {"judge": round(float(value), 6), "people": name, "share": float(share), "place": place}
        for value, shares in zip(at, card.map.shares(at), strict=True)
        for place, (name, share) in enumerate(zip(names, shares, strict=True))
    ]
    steps = alt.Scale(domain=names, scheme="blues")
    x = (
        alt.X("judge:O", title="judge's rating", axis=alt.Axis(labelAngle=0, format="~g"))
        if few
        else alt.X(
            "judge:Q",
            title="judge's rating",
            scale=alt.Scale(zero=False, nice=False),
            axis=alt.Axis(tickCount=5),
        )
    )
    chart = alt.Chart(alt.InlineData(values=rows)).encode(
        x,
        alt.Y(
            "share:Q",
            stack="normalize",
            title="people's rating",
            axis=alt.Axis(format="%", grid=True, tickCount=5),
        ),
        alt.Color("people:O", scale=steps, sort=names, legend=alt.Legend(title=None, orient="top")),
        order=alt.Order("place:Q"),
        tooltip=[
            alt.Tooltip("judge:Q", format=".2f", title="judge's rating"),
            alt.Tooltip("people:O", title="people's rating"),
            alt.Tooltip("share:Q", format=".1%"),
        ],
    )
    return spec_of(chart.mark_bar() if few else chart.mark_area(), 220)


def bias_chart(biases: Sequence[JudgeBias]) -> dict[str, Any] | None:
    """The biases with their intervals, 0 being none; those found stand out."""
    rows = [
        {
            "bias": _SHORT.get(one.name) or bias_title(one),
            "estimate": one.estimate,
            "low": one.estimate if math.isnan(one.low) else one.low,
            "high": one.estimate if math.isnan(one.high) else one.high,
            "p": one.p_corrected,
            "found": "found" if one.found else "not found",
        }
        for one in biases
        if not math.isnan(one.p)
    ]
    if not rows:
        return None
    order = [str(row["bias"]) for row in rows]
    color = alt.Color(
        "found:N",
        scale=alt.Scale(domain=["found", "not found"], range=[_FOUND, _CALM]),
        legend=alt.Legend(title=None, orient="top"),
    )
    axis = alt.Axis(title="judge minus people", grid=True, tickCount=5)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        alt.Y("bias:N", sort=order, title=None, axis=alt.Axis(grid=False, labelLimit=150)),
        color,
        tooltip=[
            alt.Tooltip("bias:N"),
            alt.Tooltip("estimate:Q", format="+.2f"),
            alt.Tooltip("low:Q", format="+.2f", title="95% from"),
            alt.Tooltip("high:Q", format="+.2f", title="to"),
            alt.Tooltip("p:Q", format=".3f", title="p (Holm)"),
        ],
    )
    lines = base.mark_rule(strokeWidth=2).encode(alt.X("low:Q", axis=axis), alt.X2("high:Q"))
    points = base.mark_point(filled=True, size=60, opacity=1).encode(alt.X("estimate:Q", axis=axis))
    return spec_of(alt.layer(zero_line(axis), lines, points), max(2, len(order)) * _ROW)


def _ends(card: JudgeCard, rows: Sequence[dict[str, float]]) -> list[float]:
    seen = [value for row in rows for name, value in row.items() if name in ("judge", "people")]
    within = [*card.points, *seen]
    return [min(within), max(within) if max(within) > min(within) else min(within) + 1]
