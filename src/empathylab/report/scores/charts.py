"""The chart of scores by the rubric, as a Vega-Lite specification."""

from __future__ import annotations

from typing import Any

from empathylab.analysis.scores import ScoresResult
from empathylab.report.estimate_charts import estimates_chart

MOST_DRAWN = 12
_HALF = MOST_DRAWN // 2


def score_chart(result: ScoresResult) -> dict[str, Any] | None:
    """Mean scores with intervals: a row per run of replies, a panel per dimension."""
    names = [scored.respondent for scored in result.respondents]
    order = sorted(result.respondents, key=lambda scored: -scored.scores[0].mean)
    shown = order if len(order) <= MOST_DRAWN else [*order[:_HALF], *order[-_HALF:]]
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
        for scored in shown
        for score in scored.scores
    ]
    if not rows:
        return None
    return estimates_chart(
        rows, title="mean score", form=".2f", ends=(1.0, 5.0), panels="dimension"
    )
