"""The charts of conversations, each with its name, title and note."""

from __future__ import annotations

from collections.abc import Iterator

from empathylab.analysis.conversations import ConversationsAnalysis
from empathylab.report.blocks import Figure
from empathylab.report.conversations.charts import curves_chart, final_chart

_NOTE = "Mean with 95% interval over personas; ended conversations keep their value."


def figures(result: ConversationsAnalysis) -> Iterator[Figure]:
    """All charts that the result has something for."""
    final = final_chart(result.tables["respondents"])
    if final is not None:
        yield Figure(name="final", title="Feeling at the end", spec=final, note=_NOTE)
    curves = curves_chart(result.tables["curves"])
    if curves is not None:
        title = "Feeling in the course of conversations"
        yield Figure(name="curves", title=title, spec=curves, note=_NOTE)
