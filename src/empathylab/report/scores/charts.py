"""The chart of scores by the rubric, as a Vega-Lite specification."""

from __future__ import annotations

from typing import Any

from empathylab.analysis.scores import ScoresResult
from empathylab.report.chart_parts import estimates_chart


def score_chart(result: ScoresResult) -> dict[str, Any] | None:
    """Mean scores with intervals: a row per run of replies, a panel per dimension."""
    names = [scored.respondent for scored in result.respondents]
    rows = [
        {
            "respondent": scored.respondent
            if names.count(scored.respondent) == 1
            else f"{scored.respondent} (run {scored.run})",
            "dimension": score.dimension,
            "estimate": score.mean,
            "low": None if score.low != score.low else score.low,
            "high": None if score.high != score.high else score.high,
            "n": scored.n,
        }
        for scored in result.respondents
        for score in scored.scores
    ]
    if not rows:
        return None
    return estimates_chart(
        rows, title="mean score", form=".2f", ends=(1.0, 5.0), panels="dimension"
    )
