"""What all charts share, as Vega-Lite. `colours` gives respondents theirs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import altair as alt

from empathylab.report.colours import ESTIMATE, GROUND, GUIDE, INK, PAPER, SEQUENTIAL

PANEL = 250
"""Pixels of a small multiple; the page makes it as wide as there is room for."""
_ROW = 24
_MOST_IN_ROW = 3
_LARGE_ROW = 66
_BAR = 34
_CLOSE = 13


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


def zero_line(axis: alt.Axis) -> alt.Chart:
    """A dashed line at 0."""
    chart: alt.Chart = (
        alt.Chart(alt.InlineData(values=[{"zero": 0}]))
        .mark_rule(strokeDash=[2, 2])
        .encode(alt.X("zero:Q", axis=axis), color=alt.value(GUIDE))
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


def estimates_chart(
    rows: Sequence[dict[str, Any]],
    *,
    who: str = "respondent",
    title: str,
    estimate: str = "estimate",
    form: str = ".1f",
    ends: tuple[float, float] | None = None,
    zero: bool = False,
    panels: str | None = None,
    coloured: bool = True,
    interval: str = "95%",
    compact: bool = False,
    large: bool = False,
) -> dict[str, Any]:
    """Estimates with their 95% intervals, a row for each, labelled; panels beside each other.

    `compact` puts the rows of a panel close together instead, which differ by colour. `large` is
    for two or three rows that stand alone. A single respondent has a row for each panel.

    A row has the names in `who` and `panels`, `estimate`, `low` and `high` (None without an
    interval) and `n`. `ends` are those of the scale, `interval` the word for the line.
    """
    names = list(dict.fromkeys(str(row[who]) for row in rows))
    order = list(dict.fromkeys(str(row[panels]) for row in rows)) if panels else []
    alone = bool(panels) and len(names) == 1  # panels would repeat the only name
    compact = compact and not alone
    side, sides = (panels, order) if compact or alone else (who, names)
    scale = _scale(rows, ends, zero=zero, field=estimate)
    values = [_drawn(row, estimate, scale) for row in rows]
    axis = alt.Axis(title=title or None, grid=True, format="%" if "%" in form else alt.Undefined)
    base = alt.Chart().encode(
        alt.Y(
            f"{side}:N",
            sort=sides,
            title=None,
            axis=alt.Axis(grid=False, labelLimit=260, labelFontSize=14 if large else alt.Undefined),
        ),
        color=respondent_color(names, field=who, legend=False) if coloured else alt.value(ESTIMATE),
        tooltip=[
            *([alt.Tooltip(f"{panels}:N")] if panels else []),
            alt.Tooltip(f"{who}:N"),
            number_tooltip(estimate, "estimate", form),
            number_tooltip("low", f"{interval} from", form),
            number_tooltip("high", "to", form),
            *([alt.Tooltip("n:Q", format=",")] if "n" in rows[0] else []),
        ],
    )
    if compact:
        base = base.encode(yOffset=alt.YOffset(f"{who}:N", sort=names))

    def x(name: str) -> alt.X:
        return alt.X(f"{name}:Q", axis=axis, scale=scale)

    layers = [] if compact else _labels(base, x("at"), f"{estimate}:Q", form, large=large)
    # Where 0 means none of it, the length of a bar shows how much.
    bars = large and (zero or (ends is not None and ends[0] == 0))
    layers = [*_marks(base, x, estimate, large=large, bars=bars), *layers]
    if zero:
        layers.insert(0, zero_line(axis).encode(x("zero")))
    layered = alt.layer(*layers)
    if compact:
        return spec_of(layered, (_CLOSE * len(names) + 6) * len(order), values)
    height = max(_ROW, min(40, 120 // len(sides))) * len(sides)
    height = _LARGE_ROW * len(sides) if large else height
    if panels is None or alone:
        return spec_of(layered, height, values)
    shared = len({(row[panels], row[who]) for row in rows}) == len(order) * len(names)
    spec = panels_spec(layered, panels, order, height, values)
    if not shared:  # each panel has rows of its own
        spec["resolve"] = {"scale": {"y": "independent"}}
        most = max(sum(row[panels] == panel for row in rows) for panel in order)
        spec["spec"]["height"] = _ROW * most
    return spec


def _marks(
    base: alt.Chart, x: Callable[[str], alt.X], estimate: str, *, large: bool, bars: bool
) -> list[alt.Chart]:
    """Intervals and points, on bars from zero if asked for."""
    thick, clear = (4, 0.9) if bars else (11, 0.45) if large else (3, 0.55)
    lines = base.mark_rule(strokeWidth=thick, opacity=clear, invalid=None).encode(
        x("from"), alt.X2("to:Q")
    )
    points = base.mark_point(
        filled=True, size=90 if bars else 45 if large else 80, opacity=1, invalid=None
    ).encode(x(estimate))
    if not bars:
        return [lines, points]
    shape = base.mark_bar(size=_BAR, opacity=0.28, invalid=None).encode(x(estimate))
    return [shape, lines, points]


def _labels(base: alt.Chart, x: alt.X, text: str, form: str, *, large: bool) -> list[alt.Chart]:
    """Numbers beside the intervals, with a halo, so that no line runs through them."""
    look: dict[str, Any] = {"align": alt.expr("datum.align"), "dx": alt.expr("datum.shift")}
    if large:
        look |= {"fontSize": 17, "fontWeight": "bold"}
    shown = base.encode(x, text=alt.Text(text, format=form))
    halo = shown.mark_text(invalid=None, stroke=GROUND, strokeWidth=4, strokeJoin="round", **look)
    return [
        halo.encode(color=alt.value(GROUND)),
        shown.mark_text(invalid=None, **look).encode(color=alt.value(INK)),
    ]


def _scale(
    rows: Sequence[dict[str, Any]], ends: tuple[float, float] | None, *, zero: bool, field: str
) -> alt.Scale:
    if ends is not None:
        return alt.Scale(domain=list(ends), nice=False, zero=False)
    known = [
        float(row[name])
        for row in rows
        for name in (field, "low", "high")
        if row.get(name) is not None
    ]
    low, high = min([*known, 0.0] if zero else known), max([*known, 0.0] if zero else known)
    # Labels stand beside the intervals. What is never negative has no axis below zero.
    room = 0.28 * ((high - low) or 1.0)
    start = low - room * 0.3 if low < 0 else max(0.0, low - room * 0.3)
    return alt.Scale(domain=[start, high + room], nice=True, zero=False)


def _drawn(row: dict[str, Any], estimate: str, scale: alt.Scale) -> dict[str, Any]:
    """The row with the ends of its line, and where its number stands: right of the line, or left
    of it near the right end, if there is more room."""
    low, high = (row[estimate] if row.get(name) is None else row[name] for name in ("low", "high"))
    first, last = scale.domain
    right = high <= first + 0.74 * (last - first) or low - first <= last - high
    known = {name: value for name, value in row.items() if value is not None}
    return known | {
        "from": low,
        "to": high,
        "at": high if right else low,
        "align": "left" if right else "right",
        "shift": 7 if right else -7,
    }


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
    scale = alt.Scale(range=SEQUENTIAL, domain=[domain[0], middle, domain[1]])
    color = alt.Color(f"{field}:Q", scale=scale, legend=legend, title=None)
    ink = alt.condition(alt.datum[field] > middle, alt.value(PAPER), alt.value(INK))
    numbers = base.mark_text(fontSize=12).encode(alt.Text(f"{field}:Q", format=form), color=ink)
    return alt.layer(base.mark_rect().encode(color), numbers)
