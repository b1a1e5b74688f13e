"""The charts of conversations, each with its name, title and note."""

from __future__ import annotations

from collections.abc import Iterator

from empathylab.analysis.conversations import ConversationsAnalysis
from empathylab.analysis.conversations.prose import title_with_simulator
from empathylab.report.blocks import Figure
from empathylab.report.conversations.charts import curves_chart, final_chart

_NOTE = "Mean with 95% interval over personas"


def figures(result: ConversationsAnalysis) -> Iterator[Figure]:
    """All charts that the result has something for."""
    final = final_chart(result.tables["respondents"])
    if final is not None:
        title = title_with_simulator("Feeling at the end", result.respondents)
        yield Figure(name="final", title=title, spec=final, note=f"{_NOTE}.")
    curves = curves_chart(result.tables["curves"])
    if curves is not None:
        title = title_with_simulator("Feeling in the course of conversations", result.respondents)
        note = f"{_NOTE}; conversations that have ended keep their last value."
        yield Figure(name="curves", title=title, spec=curves, note=note)
