"""The figure of what in the style goes with ratings, as a Vega-Lite specification."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt

from empathylab.analysis.style.analysis import RatedStyle

_ROW = 22
_ADJUSTMENTS = ("alone", "same length and writer")


def relation_chart(rated: RatedStyle, titles: Mapping[str, str]) -> dict[str, Any] | None:
    """How the rating changes with one SD more of each feature, with intervals; None without any.

    Beside the plain relation stands that at equal length within a respondent: where the two part,
    the feature is a mark of who wrote, or of how much.
    """
    rows: list[dict[str, Any]] = [
        {
            "feature": titles[one.feature],
            "adjustment": name,
            "slope": slope.estimate,
            "low": slope.low,
            "high": slope.high,
            "ratings": one.n,
        }
        for one in rated.relations
        if one.feature in titles and one.within.low == one.within.low
        for name, slope in zip(_ADJUSTMENTS, (one.alone, one.within), strict=True)
        if slope.low == slope.low
    ]
    if not rows:
        return None
    last: dict[str, float] = {row["feature"]: row["slope"] for row in rows}
    order = sorted(last, key=lambda name: -last[name])
    axis = alt.Axis(title="points of the rating per SD of the feature", grid=True, tickCount=6)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        alt.Y("feature:N", sort=order, title=None, axis=alt.Axis(grid=False, labelLimit=260)),
        alt.Color(
            "adjustment:N",
            scale=alt.Scale(domain=list(_ADJUSTMENTS), range=["#8c8c8c", "#0a84c6"]),
            legend=alt.Legend(title=None, orient="top"),
        ),
        yOffset=alt.YOffset("adjustment:N", sort=list(_ADJUSTMENTS)),
        tooltip=[
            alt.Tooltip("feature:N"),
            alt.Tooltip("adjustment:N", title="held fixed"),
            alt.Tooltip("slope:Q", format="+.3f"),
            alt.Tooltip("low:Q", title="95% from", format="+.3f"),
            alt.Tooltip("high:Q", title="to", format="+.3f"),
            alt.Tooltip("ratings:Q"),
        ],
    )
    lines = base.mark_rule(strokeWidth=2).encode(alt.X("low:Q", axis=axis), alt.X2("high:Q"))
    points = base.mark_point(filled=True, size=55, opacity=1).encode(alt.X("slope:Q", axis=axis))
    zero = (
        alt.Chart(alt.InlineData(values=[{"zero": 0}]))
        .mark_rule(strokeDash=[2, 2])
        .encode(alt.X("zero:Q", axis=axis), color=alt.value("gray"))
    )
    chart = alt.layer(zero, lines, points).properties(width="container", height=_ROW * len(order))
    spec: dict[str, Any] = chart.to_dict(validate=False)
    spec.pop("config", None)
    return spec
