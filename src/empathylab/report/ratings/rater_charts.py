"""Charts of the raters of a study: who they are, how long they took, how carefully they answer."""

from __future__ import annotations

from typing import Any

import altair as alt

from empathylab.report.chart_parts import (
    Values,
    grouped_bars,
    panels_spec,
    respondent_color,
    spec_of,
)
from empathylab.report.colours import ESTIMATE
from empathylab.stats.questionnaires.inconsistency import Inconsistencies
from empathylab.stats.raters.comparability import CategoricalComparison, NumericComparison

_MOST_LEVELS = 25
_UNITS = {"seconds": ("minutes taken", 60.0)}
_WORDS = {
    "seconds": "seconds taken",
    "teq": "total of the Toronto Empathy Questionnaire",
    "inconsistencies": "answers that contradict the others",
}


def variable_name(variable: str) -> str:
    """What a variable about raters is called, with the unit of the data."""
    return _WORDS.get(variable, variable.replace("_", " "))


def variable_title(variable: str) -> str:
    """What it is called in a figure, with the figure's unit."""
    return _UNITS[variable][0] if variable in _UNITS else variable_name(variable)


def levels_chart(comparison: CategoricalComparison) -> dict[str, Any]:
    """The proportion of each arm's raters at each level of a property, the most frequent first."""
    rows = []
    for arm, counts in zip(comparison.arms, comparison.counts, strict=True):
        total = sum(counts)
        for level, count in list(zip(comparison.levels, counts, strict=True))[:_MOST_LEVELS]:
            rows.append(
                {
                    "arm": arm,
                    "level": level,
                    "raters": count,
                    "n": total,
                    "share": count / total if total else 0.0,
                }
            )
    levels = list(dict.fromkeys(str(row["level"]) for row in rows))
    arms = list(comparison.arms)
    return grouped_bars(
        rows,
        group="level",
        groups=levels,
        series="arm",
        names=arms,
        value="share",
        axis=alt.Axis(format="%", title="proportion of the arm's raters"),
        tooltip=[
            alt.Tooltip("arm:N"),
            alt.Tooltip("level:N", title=variable_title(comparison.variable)),
            alt.Tooltip("raters:Q", format=","),
            alt.Tooltip("n:Q", title="of", format=","),
            alt.Tooltip("share:Q", format=".1%"),
        ],
    )


def numbers_chart(comparison: NumericComparison) -> dict[str, Any]:
    """A number that raters have, as a histogram for each arm, one below the other."""
    title, divisor = _UNITS.get(comparison.variable, (variable_title(comparison.variable), 1.0))
    edges = [edge / divisor for edge in comparison.bins]
    # An arm whose raters did not say gets no empty panel.
    known = [arm for arm in comparison.arms if arm.n]
    arms = [arm.arm for arm in known]
    rows = [
        {
            "arm": arm.arm,
            "from": low,
            "to": high,
            "raters": count,
            "n": arm.n,
            "share": count / arm.n,
        }
        for arm in known
        for low, high, count in zip(edges[:-1], edges[1:], arm.histogram, strict=True)
    ]
    return _histogram(rows, arms, title)


def inconsistency_chart(inconsistencies: Inconsistencies) -> dict[str, Any] | None:
    """Raters by how often they contradict themselves; None without answers."""
    counts = [int(count) for count in inconsistencies.counts if count >= 0]
    if not counts:
        return None
    rows = [
        {
            "answers": value,
            "raters": counts.count(value),
            "n": len(counts),
            "share": counts.count(value) / len(counts),
        }
        for value in range(max(counts) + 1)
    ]
    title = f"answers that contradict the others (at most {inconsistencies.most_possible})"
    chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar(size=22, color=ESTIMATE)
        .encode(
            alt.X("answers:O", title=title, axis=alt.Axis(labelAngle=0)),
            alt.Y("share:Q", axis=alt.Axis(format="%", title="raters", tickCount=5)),
            tooltip=[
                alt.Tooltip("answers:O", title="contradicting answers"),
                alt.Tooltip("raters:Q", format=","),
                alt.Tooltip("n:Q", title="of", format=","),
                alt.Tooltip("share:Q", format=".1%"),
            ],
        )
    )
    return spec_of(chart, 200)


def _histogram(rows: Values, arms: list[str], title: str) -> dict[str, Any]:
    """Bars over the same axis, a panel for each arm: bars behind each other would mix colours."""
    chart = (
        alt.Chart()
        .mark_bar(opacity=0.9)
        .encode(
            alt.X("from:Q", title=title, bin="binned", axis=alt.Axis(tickCount=6, grid=False)),
            alt.X2("to:Q"),
            alt.Y("share:Q", stack=None, axis=alt.Axis(format="%", title="raters", tickCount=3)),
            respondent_color(arms, field="arm", legend=False),
            tooltip=[
                alt.Tooltip("arm:N"),
                alt.Tooltip("from:Q", format=".4~g"),
                alt.Tooltip("to:Q", format=".4~g"),
                alt.Tooltip("raters:Q", format=","),
                alt.Tooltip("n:Q", title="of", format=","),
                alt.Tooltip("share:Q", format=".1%"),
            ],
        )
    )
    if len(arms) == 1:
        return spec_of(chart, 220, rows)
    return panels_spec(chart, "arm", arms, max(50, 200 // len(arms)), rows) | {"columns": 1}
