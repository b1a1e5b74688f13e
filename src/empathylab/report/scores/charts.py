"""The figure of scores by the rubric, in Vega-Lite. The page chooses the colours."""

from __future__ import annotations

from typing import Any

import altair as alt

from empathylab.analysis.scores import ScoresResult
from empathylab.report.chart_parts import number_tooltip, respondent_color, spec_of


def score_chart(result: ScoresResult) -> dict[str, Any] | None:
    """Mean scores with intervals: one row per dimension, one mark per run of replies."""
    names = [scored.respondent for scored in result.respondents]
    rows = [
        {
            "respondent": scored.respondent
            if names.count(scored.respondent) == 1
            else f"{scored.respondent} (run {scored.run})",
            "dimension": score.dimension,
            "mean": score.mean,
            "low": score.mean if score.low != score.low else score.low,
            "high": score.mean if score.high != score.high else score.high,
            "n": scored.n,
        }
        for scored in result.respondents
        for score in scored.scores
    ]
    if not rows:
        return None
    shown = list(dict.fromkeys(str(row["respondent"]) for row in rows))
    dimensions = list(dict.fromkeys(str(row["dimension"]) for row in rows))
    scale = alt.Scale(domain=[1, 5])
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        alt.Y("dimension:N", title=None, sort=dimensions),
        alt.YOffset("respondent:N", sort=shown),
        respondent_color(shown),
        tooltip=[
            alt.Tooltip("respondent:N"),
            alt.Tooltip("dimension:N"),
            number_tooltip("mean", "mean score"),
            number_tooltip("low", "95% from"),
            number_tooltip("high", "to"),
            number_tooltip("n", "replies", ",.0f"),
        ],
    )
    title = "mean score, 1 to 5"
    axis = alt.Axis(tickMinStep=1, format="d")
    rules = base.mark_rule(strokeWidth=2).encode(
        alt.X("low:Q", title=title, scale=scale, axis=axis), alt.X2("high:Q")
    )
    points = base.mark_point(filled=True, size=60, opacity=1).encode(
        alt.X("mean:Q", title=title, scale=scale, axis=axis)
    )
    return spec_of(alt.layer(rules, points), (14 + 10 * len(shown)) * len(dimensions) + 20)
