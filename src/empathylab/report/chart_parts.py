"""What all charts share, as Vega-Lite. The page chooses the colours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt


def spec_of(chart: Any, height: int) -> dict[str, Any]:
    """The chart's specification, as wide as its container."""
    return plain_spec(chart.properties(width="container", height=height))


def plain_spec(chart: Any) -> dict[str, Any]:
    """The chart's specification without Altair's own configuration."""
    spec: dict[str, Any] = chart.to_dict(validate=False)
    spec.pop("config", None)
    return spec


def zero_line(axis: alt.Axis) -> alt.Chart:
    """A dashed line at 0."""
    chart: alt.Chart = (
        alt.Chart(alt.InlineData(values=[{"zero": 0}]))
        .mark_rule(strokeDash=[2, 2])
        .encode(alt.X("zero:Q", axis=axis), color=alt.value("gray"))
    )
    return chart


def respondent_color(respondents: Sequence[str], *, legend: bool = True) -> alt.Color:
    """A colour per respondent; no legend for a single one."""
    shown = alt.Legend(title=None, orient="top") if legend and len(respondents) > 1 else None
    return alt.Color("respondent:N", scale=alt.Scale(domain=list(respondents)), legend=shown)


def number_tooltip(field: str, title: str, form: str = ".2f") -> alt.Tooltip:
    """A rounded number in a tooltip."""
    return alt.Tooltip(f"{field}:Q", title=title, format=form)
