"""The charts of leaderboards and benchmarks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from empathylab.analysis.benchmark.leaderboard import LeaderboardResult
from empathylab.analysis.benchmark.prose import what
from empathylab.analysis.benchmark.result import BenchmarkResult
from empathylab.analysis.json_values import finite
from empathylab.analysis.text.names import first_capital, name_of
from empathylab.report.blocks import Figure, optional_figure
from empathylab.report.estimate_charts import estimates_chart

_RANKS = "95% intervals, each of one respondent. Ranks compare pairs: see the table `respondents`."
_DIFFERENCES = "95% intervals; above 0, {} is rated higher."


def leaderboard_figures(board: LeaderboardResult) -> Iterator[Figure]:
    """All respondents, the highest first."""
    outcome = board.entries[0].estimate.outcome
    rows = [
        _row(entry.respondent, entry.estimate.estimate, entry.estimate.low, entry.estimate.high)
        for entry in board.entries
    ]
    form = ".0%" if outcome.kind == "share" else ".2f"
    chart = estimates_chart(rows, title=what(outcome), form=form, ends=outcome.limits)
    yield from optional_figure("respondents", f"Compared on {board.study.title}", chart, _RANKS)


def benchmark_figures(result: BenchmarkResult) -> Iterator[Figure]:
    """The differences from the study's own respondents."""
    measurement = result.measurement
    outcome, who = measurement.headline.outcome, name_of(measurement.respondent)
    times, unit = (100, "percentage points") if outcome.kind == "share" else (1, "points")
    rows = [
        _row(item.other, times * item.difference, times * item.low, times * item.high)
        for item in measurement.differences
        if item.outcome == outcome and item.group.level == "all"
    ]
    if rows:
        title = f"difference in {unit}, {what(outcome)}"
        form = "+.1f" if outcome.kind == "share" else "+.2f"
        chart = estimates_chart(rows, title=title, form=form, zero=True)
        note = _DIFFERENCES.format(who)
        yield from optional_figure(
            "differences", f"{first_capital(who)} minus each respondent", chart, note
        )


def _row(respondent: str, estimate: float, low: float, high: float) -> dict[str, Any]:
    return {
        "respondent": respondent,
        "estimate": estimate,
        "low": finite(low),
        "high": finite(high),
    }
