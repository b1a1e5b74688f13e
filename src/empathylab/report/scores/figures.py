"""The charts of scores by the rubric, each with its name, title and note."""

from __future__ import annotations

from collections.abc import Iterator

from empathylab.analysis.scores import ScoresResult
from empathylab.report.blocks import Figure
from empathylab.report.scores.charts import MOST_DRAWN, score_chart

_NOTE = "Mean scores from 1 to 5 with 95% intervals that treat situations as the random sample."


def figures(result: ScoresResult) -> Iterator[Figure]:
    """The mean scores."""
    spec = score_chart(result)
    if spec is not None:
        title = f"Mean scores of replies, scored by {result.judge}"
        many = len(result.respondents) > MOST_DRAWN
        note = f"{_NOTE} The highest and the lowest are shown." if many else _NOTE
        yield Figure(name="scores", title=title, spec=spec, note=note)
