"""The charts of judges, as Vega-Lite specifications."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np

from empathylab.analysis.json_values import finite
from empathylab.analysis.judges.cards import JudgeBias, JudgeCard
from empathylab.analysis.judges.prose import bias_title
from empathylab.report.chart_parts import cells, number_tooltip, spec_of
from empathylab.report.colours import ESTIMATE, FOUND, GUIDE, NOT_FOUND, ordered_colours
from empathylab.report.estimate_charts import estimates_chart

_SHORT = {"position": "place", "scale_order": "scale turned"}
"""Of biases whose names are too long for the side of a chart on a phone."""
_MOST_BARS = 11
_GRID = 41


Labels = Mapping[float, str]
"""The words for the points of a scale."""


def agreement_chart(cards: Sequence[JudgeCard]) -> dict[str, Any] | None:
    """How well each judge agrees with people: weighted κ with intervals, a panel per dimension."""
    rows = [
        {
            "judge": card.judge,
            "dimension": card.dimension,
            "estimate": card.weighted_kappa.estimate,
            "low": finite(card.weighted_kappa.low),
            "high": finite(card.weighted_kappa.high),
            "n": card.n,
        }
        for card in cards
        if not math.isnan(card.weighted_kappa.estimate)
    ]
    if not rows:
        return None
    several = len({row["dimension"] for row in rows}) > 1
    lows = [card.weighted_kappa.low for card in cards if not math.isnan(card.weighted_kappa.low)]
    lowest = min(0.0, *lows) if lows else 0.0
    return estimates_chart(
        rows,
        who="judge",
        # A panel has less room, and its neighbour's title beside it.
        title="weighted κ (0 chance, 1 perfect)"
        if several
        else "weighted κ with people: 0 is chance, 1 is perfect agreement",
        form=".2f",
        ends=(lowest, 1.0),
        panels="dimension" if several else None,
        coloured=False,
    )


def point_names(values: Sequence[float], labels: Labels) -> list[str]:
    """The points as the study calls them, else as numbers."""
    return [labels.get(value) or f"{value:g}" for value in values]


def confusion_chart(card: JudgeCard, labels: Labels) -> dict[str, Any] | None:
    """What the judge says where people say so; None for ratings in degrees."""
    if card.confusion is None:
        return None
    names = point_names(card.confusion.categories, labels)
    rows = [
        {"people": name, "judge": rating, "count": count, "share": count / (sum(counts) or 1)}
        for name, counts in zip(names, card.confusion.counts, strict=True)
        for rating, count in zip(names, counts, strict=True)
    ]
    axis = alt.Axis(orient="top", labelAngle=0)
    base = alt.Chart().encode(
        alt.X("judge:O", sort=names, title="judge's rating", axis=axis),
        alt.Y("people:O", sort=names[::-1], title="people's rating", axis=alt.Axis(labelAngle=0)),
        tooltip=[
            alt.Tooltip("people:O", title="people's rating"),
            alt.Tooltip("judge:O", title="judge's rating"),
            alt.Tooltip("count:Q", title="ratings", format=","),
            alt.Tooltip("share:Q", title="of people's", format=".1%"),
        ],
    )
    return spec_of(cells(base, "share", [0, 1], ".0%", None), 36 * max(3, len(names)), rows)


def curve_chart(card: JudgeCard) -> dict[str, Any] | None:
    """People's mean rating where the judge says so much, against the diagonal."""
    if card.curve is None:
        return None
    rows = [
        {"judge": point.judge, "people": point.people.estimate, "n": point.n}
        | (
            {}
            if math.isnan(point.people.low)
            else {"low": point.people.low, "high": point.people.high}
        )
        for point in card.curve.points
    ]
    ends = _ends(card, rows)
    scale = alt.Scale(domain=ends, nice=False, zero=False, clamp=True)
    x = alt.X("judge:Q", title="judge's rating", scale=scale, axis=alt.Axis(grid=True, tickCount=5))
    y_axis = alt.Axis(grid=True)
    base = alt.Chart().encode(
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
    bars = base.mark_rule(strokeWidth=2, color=ESTIMATE).encode(low, alt.Y2("high:Q"))
    points = base.mark_point(filled=True, size=60, opacity=1, color=ESTIMATE).encode(y)
    line = [{"judge": end, "people": end} for end in ends]
    perfect = (
        alt.Chart(alt.InlineData(values=line))
        .mark_line(strokeDash=[4, 3], color=GUIDE)
        .encode(alt.X("judge:Q", scale=scale), alt.Y("people:Q", scale=scale))
    )
    return spec_of(alt.layer(perfect, bars, points), 220, rows)


def map_chart(card: JudgeCard, labels: Labels) -> dict[str, Any] | None:
    """The calibration map: the proportions of people's answers at each value of the judge."""
    if card.map is None or not card.points or len(card.map.at) < 2:
        return None
    few = len(card.map.at) <= _MOST_BARS
    at = (
        np.asarray(card.map.at)
        if few
        else np.linspace(card.map.at[0], card.map.at[-1], _GRID, dtype=np.float64)
    )
    names = point_names(card.map.categories, labels)
    ticks = point_names(at.tolist(), labels) if few else [round(float(item), 6) for item in at]
    rows = [
        {"judge": tick, "people": name, "share": float(share), "place": place}
        for tick, shares in zip(ticks, card.map.shares(at), strict=True)
        for place, (name, share) in enumerate(zip(names, shares, strict=True))
    ]
    steps = alt.Scale(domain=names, range=ordered_colours(len(names)))
    x = (
        alt.X("judge:O", sort=ticks, title="judge's rating", axis=alt.Axis(labelAngle=0))
        if few
        else alt.X(
            "judge:Q",
            title="judge's rating",
            scale=alt.Scale(zero=False, nice=False),
            axis=alt.Axis(tickCount=5),
        )
    )
    chart = alt.Chart().encode(
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
            alt.Tooltip("judge:N", title="judge's rating"),
            alt.Tooltip("people:O", title="people's rating"),
            alt.Tooltip("share:Q", format=".1%", title="proportion"),
        ],
    )
    return spec_of(chart.mark_bar() if few else chart.mark_area(), 220, rows)


def bias_chart(biases: Sequence[JudgeBias]) -> dict[str, Any] | None:
    """The biases with their intervals, 0 being none; those found stand out."""
    rows = [
        {
            "bias": _SHORT.get(bias.name) or bias_title(bias),
            "estimate": bias.estimate,
            "low": finite(bias.low),
            "high": finite(bias.high),
            "p": bias.p_corrected,
            "found": "found" if bias.found else "not found",
        }
        for bias in biases
        if not math.isnan(bias.p)
    ]
    if not rows:
        return None
    color = alt.Color(
        "found:N",
        scale=alt.Scale(domain=["found", "not found"], range=[FOUND, NOT_FOUND]),
        legend=alt.Legend(title=None, orient="top"),
    )
    return estimates_chart(
        rows,
        who="bias",
        title="judge minus people",
        form="+.2f",
        zero=True,
        color=color,
        more=[number_tooltip("p", "p (Holm)", ".3f")],
    )


def _ends(card: JudgeCard, rows: Sequence[dict[str, float]]) -> list[float]:
    seen = [value for row in rows for name, value in row.items() if name in ("judge", "people")]
    within = [*card.points, *seen]
    return [min(within), max(within) if max(within) > min(within) else min(within) + 1]
