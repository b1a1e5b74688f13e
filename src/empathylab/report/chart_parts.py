"""What all charts share, as Vega-Lite. `colours` gives respondents theirs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from empathylab.report.colours import GROUND, GUIDE, INK, PAPER, SEQUENTIAL

PANEL = 250
"""Pixels of a small multiple; the page makes it as wide as there is room for."""
_MOST_IN_ROW = 3
_CLOSE, _GROUP = 12, 22
"""Pixels of a row in a group, and of a group at least."""
_NAME, _LIFT = 13, 3
"""Pixels of a name, and how much higher than the middle of their row names stand."""
_MOST_LABELLED = 5
_NAMES = " "
"""The row that names what the groups below it compare."""


Values = Sequence[Mapping[str, Any]]


def spec_of(chart: Any, height: int, rows: Values | None = None) -> dict[str, Any]:
    """The chart's specification, as wide as its container."""
    return plain_spec(chart.properties(width="container", height=height), rows)


def plain_spec(chart: Any, rows: Values | None = None) -> dict[str, Any]:
    """The chart's specification without Altair's own configuration.

    `rows` are the data of all layers that have none: Altair would copy them with every layer.
    """
    spec: dict[str, Any] = chart.to_dict(validate=False)
    spec.pop("config", None)
    if rows is None:
        return spec
    cleaned: dict[str, Any] = _without_empty(spec)
    named = cleaned.pop("datasets", {}).items()
    kept = {name: known for name, known in named if known and name != "empty"}
    return cleaned | {"data": {"values": list(rows)}} | ({"datasets": kept} if kept else {})


def _without_empty(value: Any) -> Any:
    """Without the name that Altair gives to data it does not know, in every layer."""
    if isinstance(value, list):
        return [_without_empty(part) for part in value]
    if isinstance(value, dict):
        return {
            name: _without_empty(part)
            for name, part in value.items()
            if not (name == "data" and part == {"name": "empty"})
        }
    return value


def panels_spec(
    chart: Any, field: str, order: Sequence[str], height: int, rows: Values
) -> dict[str, Any]:
    """Small multiples: the same chart for each value of a field, with common axes."""
    found = chart.properties(width=PANEL, height=height).facet(
        data=alt.InlineData(values=[]),
        facet=alt.Facet(f"{field}:N", sort=list(order), title=None),
        columns=len(order) if len(order) <= _MOST_IN_ROW else 2,
    )
    return plain_spec(found, rows)


def guide_line(value: float, axis: alt.Axis, scale: alt.Scale | None = None) -> alt.Chart:
    """A dashed line to compare with."""
    chart: alt.Chart = (
        alt.Chart(alt.InlineData(values=[{"guide": value}]))
        .mark_rule(strokeDash=[2, 2])
        .encode(alt.X("guide:Q", axis=axis, scale=scale or alt.Undefined), color=alt.value(GUIDE))
    )
    return chart


def respondent_color(
    respondents: Sequence[str], *, field: str = "respondent", legend: bool = True
) -> alt.Color:
    """A colour per respondent or arm; no legend for a single one."""
    shown = alt.Legend(title=None, orient="top") if legend and len(respondents) > 1 else None
    return alt.Color(f"{field}:N", scale=alt.Scale(domain=list(respondents)), legend=shown)


def number_tooltip(field: str, title: str, form: str = ".2f") -> alt.Tooltip:
    """A rounded number in a tooltip."""
    return alt.Tooltip(f"{field}:Q", title=title, format=form)


def interval_tooltips(form: str, interval: str = "95%") -> list[alt.Tooltip]:
    """The ends of an interval in a tooltip."""
    return [number_tooltip("low", f"{interval} from", form), number_tooltip("high", "to", form)]


def labelled(names: Sequence[str]) -> bool:
    """Whether a chart names these itself: they are few, so that no legend is needed."""
    return 1 < len(names) <= _MOST_LABELLED


def names_layer(
    at: Mapping[str, float],
    *,
    series: str,
    groups: Sequence[str],
    side: alt.Axis,
    x: alt.X,
    color: alt.Color,
    ends: tuple[float, float],
) -> list[alt.Chart]:
    """The names in the first row, each in its colour, above its value in the first group."""
    if not labelled(list(at)):
        return []
    first, last = ends
    short = [name.rsplit("/", 1)[-1] or name for name in at]
    rows = []
    for place, (name, value) in enumerate(at.items()):
        position = (value - first) / ((last - first) or 1.0)
        right = position <= 0.5
        rows.append(
            {
                series: name,
                "name": short[place] if len(set(short)) == len(short) else name,
                "group": _NAMES,
                "at": value,
                "align": "left" if right else "right",
                "shift": _NAME * (place - (len(at) - 1) / 2) - _LIFT,
                "room": 1 - position if right else position,
            }
        )
    look: dict[str, Any] = {
        "align": alt.expr("datum.align"),
        "dy": alt.expr("datum.shift"),
        "limit": alt.expr("datum.room * width"),
        "fontSize": 12,
        "fontWeight": 600,
    }
    texts = alt.Chart(alt.InlineData(values=rows))
    named = texts.encode(x, groups_axis("group", groups, list(at), side), text="name:N")
    # The halo keeps lines of the axis from running through a name.
    halo = named.mark_text(**look, stroke=GROUND, strokeWidth=4, strokeJoin="round")
    return [halo.encode(color=alt.value(GROUND)), named.mark_text(**look).encode(color)]


def groups_axis(
    field: str, groups: Sequence[str], names: Sequence[str], side: alt.Axis | None = None
) -> alt.Y:
    """Groups below each other, under a row for the names of what they compare."""
    order = [_NAMES, *groups] if labelled(names) else list(groups)
    side = side or alt.Axis(grid=False, labelLimit=260)
    return alt.Y(f"{field}:N", scale=alt.Scale(domain=order), title=None, axis=side)


def groups_height(groups: Sequence[str], names: Sequence[str]) -> int:
    """Pixels of groups below each other."""
    return (len(groups) + labelled(names)) * max(_GROUP, _CLOSE * len(names))


def grouped_bars(
    rows: Sequence[dict[str, Any]],
    *,
    group: str,
    groups: Sequence[str],
    series: str,
    names: Sequence[str],
    value: str,
    axis: alt.Axis,
    tooltip: Sequence[alt.Tooltip],
    side: alt.Axis | None = None,
    pictures: Sequence[alt.Chart] = (),
) -> dict[str, Any]:
    """Bars, groups below each other; what a group compares differs by colour.

    `side` is the axis of the groups, `pictures` are layers beside the bars.
    """
    color = respondent_color(names, field=series, legend=not labelled(names))
    side = side or alt.Axis(grid=False, labelLimit=180)
    bars = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar()
        .encode(
            alt.X(f"{value}:Q", axis=axis),
            groups_axis(group, groups, names, side),
            color,
            yOffset=alt.YOffset(f"{series}:N", sort=list(names)),
            tooltip=list(tooltip),
        )
    )
    named = names_layer(
        dict.fromkeys(names, 0.0),
        series=series,
        groups=groups,
        side=side,
        x=alt.X("at:Q", axis=axis),
        color=color,
        ends=(0.0, 1.0),
    )
    return spec_of(alt.layer(bars, *pictures, *named), groups_height(groups, names))


def names_above(limit: int = 200, *, upright: bool = False) -> alt.Axis:
    """An axis of names above the columns of a chart.

    They lean to the left, where the names of rows leave room; to the right the last is cut off.
    """
    if upright:
        return alt.Axis(orient="top", labelLimit=limit, labelAngle=0)
    return alt.Axis(
        orient="top", labelLimit=limit, labelAngle=40, labelAlign="right", labelBaseline="middle"
    )


def cells(base: Any, field: str, domain: list[float], form: str, title: str | None) -> Any:
    """Coloured cells with their numbers, dark on light or light on dark."""
    legend = alt.Legend(title=title, orient="bottom", format="%") if title else None
    middle = domain[0] + 0.5 * (domain[1] - domain[0])
    dark = domain[0] + 0.6 * (domain[1] - domain[0])
    scale = alt.Scale(range=SEQUENTIAL, domain=[domain[0], middle, domain[1]], interpolate="rgb")
    color = alt.Color(f"{field}:Q", scale=scale, legend=legend, title=None)
    ink = alt.condition(alt.datum[field] > dark, alt.value(PAPER), alt.value(INK))
    numbers = base.mark_text(fontSize=12).encode(alt.Text(f"{field}:Q", format=form), color=ink)
    return alt.layer(base.mark_rect().encode(color), numbers)
