"""The main chart of the first screen."""

from __future__ import annotations

from empathylab.analysis.overview.main_chart import MainChart
from empathylab.report.blocks import Figure
from empathylab.report.estimate_charts import estimates_chart

_FEW_ROWS = 2


def main_figure(chart: MainChart) -> Figure:
    """The estimates behind the first conclusion, a row per respondent."""
    panels = len({row.panel for row in chart.rows}) > 1
    several = len({row.respondent for row in chart.rows}) > 1
    form = ".0%" if chart.percent else "+.1f" if chart.zero else ".1f"
    if chart.highest is not None and chart.highest - (chart.lowest or 0) < 10 and not chart.percent:
        form = ".2f"
    ends = None
    if chart.lowest is not None and chart.highest is not None:
        ends = (chart.lowest, chart.highest)
    spec = estimates_chart(
        [
            {
                "respondent": row.respondent,
                "panel": row.panel,
                "estimate": row.estimate,
                "low": row.low,
                "high": row.high,
                "n": row.n,
            }
            for row in chart.rows
        ],
        title="",
        form=form,
        ends=ends,
        zero=chart.zero,
        guide=chart.guide,
        panels="panel" if panels else None,
        coloured=chart.coloured,
        interval=chart.interval,
        compact=chart.compact,
        large=not (panels and several) and len(chart.rows) <= _FEW_ROWS,
    )
    note = "" if not chart.omitted else f"{chart.omitted} respondents in between are not shown."
    title = f"{chart.title} ({chart.interval})" if chart.interval else chart.title
    return Figure(name="main", title=title, spec=spec, note=note)
