"""Estimates with their intervals: a row for each, or groups of rows that differ by colour."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import altair as alt

from empathylab.report.chart_parts import (
    groups_axis,
    groups_height,
    guide_line,
    interval_tooltips,
    labelled,
    names_layer,
    number_tooltip,
    panels_spec,
    respondent_color,
    spec_of,
)
from empathylab.report.colours import ESTIMATE, GROUND, INK

_ROW = 24
_LARGE_ROW = 66
_BAR = 34
_NARROW = 0.14
"""Of an axis: too little room for a number."""
_SHORT = 10
"""Points of a rating scale that an axis can name each."""


def grouped_chart(
    rows: Sequence[dict[str, Any]],
    *,
    group: str,
    groups: Sequence[str],
    series: str = "respondent",
    names: Sequence[str],
    colours: Sequence[str] | None = None,
    title: str,
    estimate: str,
    estimate_title: str = "",
    form: str = ".1f",
    ends: tuple[float, float] | None = None,
    zero: bool = False,
    interval: str = "95%",
    more: Sequence[alt.Tooltip] = (),
) -> dict[str, Any]:
    """Estimates with intervals, groups below each other; what a group compares has its colours.

    `names` are the values of `series`, which a group compares; `colours` are theirs, if they are
    not respondents. `ends` are those of the scale.
    """
    present = {str(row[series]) for row in rows}
    names = [name for name in names if name in present]
    color = respondent_color(names, field=series, legend=not labelled(names))
    if colours is not None:
        color = color.scale(domain=names, range=list(colours))
    scale = _scale(rows, ends, zero=zero, field=estimate, room=(0.05, 0.05))
    axis = _axis(title, form, ends)

    def x(name: str) -> alt.X:
        return alt.X(f"{name}:Q", axis=axis, scale=scale)

    base = alt.Chart().encode(
        groups_axis(group, groups, names),
        color,
        yOffset=alt.YOffset(f"{series}:N", sort=names),
        tooltip=[
            alt.Tooltip(f"{series}:N"),
            alt.Tooltip(f"{group}:N"),
            number_tooltip(estimate, estimate_title or estimate, form),
            *interval_tooltips(form, interval),
            *more,
        ],
    )
    places = {name: place for place, name in enumerate(groups)}
    ordered = sorted(rows, key=lambda row: places[row[group]], reverse=True)
    first = {str(row[series]): float(row[estimate]) for row in ordered}
    named = names_layer(
        {name: first[name] for name in names},
        series=series,
        groups=groups,
        side=alt.Axis(grid=False, labelLimit=260),
        x=x("at"),
        color=color,
        ends=scale.domain,
    )
    values = [_drawn(row, estimate, scale, bars=False) for row in rows]
    layers = [
        *([guide_line(0, axis, scale)] if zero else []),
        base.mark_rule(strokeWidth=2, opacity=0.6).encode(x("from"), alt.X2("to:Q")),
        base.mark_point(filled=True, size=52, opacity=1).encode(x(estimate)),
        *named,
    ]
    return spec_of(alt.layer(*layers), groups_height(groups, names), values)


def estimates_chart(
    rows: Sequence[dict[str, Any]],
    *,
    who: str = "respondent",
    title: str,
    estimate: str = "estimate",
    form: str = ".1f",
    ends: tuple[float, float] | None = None,
    zero: bool = False,
    guide: float | None = None,
    panels: str | None = None,
    color: alt.Color | None = None,
    coloured: bool = True,
    interval: str = "95%",
    compact: bool = False,
    large: bool = False,
    more: Sequence[alt.Tooltip] = (),
) -> dict[str, Any]:
    """Estimates with their 95% intervals, a row for each, labelled; panels beside each other.

    `compact` puts the rows of a panel close together instead, which differ by colour. `large` is
    for two or three rows that stand alone. A single respondent has a row for each panel.

    A row has the names in `who` and `panels`, `estimate`, `low` and `high` (None without an
    interval) and `n`. `ends` are those of the scale, `interval` the word for the line, `guide` a
    value to compare with, `more` the other columns of the tooltip.
    """
    names = list(dict.fromkeys(str(row[who]) for row in rows))
    order = list(dict.fromkeys(str(row[panels]) for row in rows)) if panels else []
    alone = bool(panels) and len(names) == 1  # panels would repeat the only name
    counted = [alt.Tooltip("n:Q", format=",")] if "n" in rows[0] else []
    if compact and panels is not None and not alone:
        return grouped_chart(
            rows,
            group=panels,
            groups=order,
            series=who,
            names=names,
            title=title,
            estimate=estimate,
            form=form,
            ends=ends,
            zero=zero,
            interval=interval,
            more=[*counted, *more],
        )
    if color is None and coloured:
        color = respondent_color(names, field=who, legend=False)
    side, sides = (panels, order) if alone else (who, names)
    # Where 0 means none of it, the length of a bar shows how much.
    bars = large and (zero or (ends is not None and ends[0] == 0))
    room = (0.45, 0.45) if bars else (0.08, 0.28)
    scale = _scale(rows, ends, zero=zero, field=estimate, room=room)
    values = [_drawn(row, estimate, scale, bars=bars) for row in rows]
    axis = _axis(title, form, ends)
    base = alt.Chart().encode(
        alt.Y(
            f"{side}:N",
            sort=sides,
            title=None,
            axis=alt.Axis(grid=False, labelLimit=260, labelFontSize=14 if large else alt.Undefined),
        ),
        color=color or alt.value(ESTIMATE),
        tooltip=[
            *([alt.Tooltip(f"{panels}:N")] if panels else []),
            alt.Tooltip(f"{who}:N"),
            number_tooltip(estimate, "estimate", form),
            *interval_tooltips(form, interval),
            *counted,
            *more,
        ],
    )

    def x(name: str) -> alt.X:
        return alt.X(f"{name}:Q", axis=axis, scale=scale)

    guides = [0.0] if zero else [] if guide is None else [guide]
    layers = [
        *(guide_line(value, axis, scale) for value in guides),
        *_marks(base, x, estimate, large=large, bars=bars),
        *_labels(base, x("at"), f"{estimate}:Q", form, large=large),
    ]
    layered = alt.layer(*layers)
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
    # The ground below a bar keeps the lines of the axis from showing through.
    shape = base.mark_bar(size=_BAR, invalid=None).encode(x(estimate))
    ground = shape.encode(color=alt.value(GROUND), tooltip=alt.Undefined)
    return [ground, shape.mark_bar(size=_BAR, opacity=0.28, invalid=None), lines, points]


def _labels(base: alt.Chart, x: alt.X, text: str, form: str, *, large: bool) -> list[alt.Chart]:
    """Numbers beside the intervals, with a halo, so that no line runs through them."""
    look: dict[str, Any] = {
        "align": alt.expr("datum.align"),
        "dx": alt.expr("datum.shift"),
        "dy": alt.expr("datum.lift"),
    }
    if large:
        look |= {"fontSize": 17, "fontWeight": "bold"}
    shown = base.encode(x, text=alt.Text(text, format=form))
    halo = shown.mark_text(invalid=None, stroke=GROUND, strokeWidth=4, strokeJoin="round", **look)
    return [
        halo.encode(color=alt.value(GROUND)),
        shown.mark_text(invalid=None, **look).encode(color=alt.value(INK)),
    ]


def _axis(title: str, form: str, ends: tuple[float, float] | None) -> alt.Axis:
    """With every point of a short rating scale, so that the reader sees where it ends."""
    points: Any = alt.Undefined
    if ends is not None and 2 <= ends[1] - ends[0] <= _SHORT and all(end % 1 == 0 for end in ends):
        points = list(range(int(ends[0]), int(ends[1]) + 1))
    return alt.Axis(
        title=title or None,
        grid=True,
        format="%" if "%" in form else alt.Undefined if points is alt.Undefined else "d",
        values=points,
    )


def _scale(
    rows: Sequence[dict[str, Any]],
    ends: tuple[float, float] | None,
    *,
    zero: bool,
    field: str,
    room: tuple[float, float] = (0.08, 0.28),
) -> alt.Scale:
    """From end to end of the scale, else around the intervals.

    `room` is what numbers need on either side of the intervals, as shares of their range. What is
    never negative has no axis below zero.
    """
    if ends is not None:
        return alt.Scale(domain=list(ends), nice=False, zero=False)
    known = [
        float(row[name])
        for row in rows
        for name in (field, "low", "high")
        if row.get(name) is not None
    ]
    low, high = min([*known, 0.0] if zero else known), max([*known, 0.0] if zero else known)
    before, after = (share * ((high - low) or 1.0) for share in room)
    start = low - before if low < 0 else max(0.0, low - before)
    return alt.Scale(domain=[start, high + after], nice=True, zero=False)


def _drawn(row: dict[str, Any], estimate: str, scale: alt.Scale, *, bars: bool) -> dict[str, Any]:
    """The row with the ends of its line, and where its number stands.

    It stands right of the line, or left of it near the right end, if there is more room; above
    the line if both sides are too narrow; beyond a bar.
    """
    first, last = scale.domain
    # An interval can reach beyond the scale; its line ends where the axis does.
    low, high = (
        row[estimate] if row.get(name) is None else min(max(row[name], first), last)
        for name in ("low", "high")
    )
    span = (last - first) or 1.0
    room = {"left": (low - first) / span, "right": (last - high) / span}
    right = room["right"] >= 0.26 or room["right"] >= room["left"]
    if bars and first < 0:
        right = row[estimate] >= 0
    known = {name: value for name, value in row.items() if value is not None}
    if max(room.values()) < _NARROW:
        place = {"at": row[estimate], "align": "center", "shift": 0, "lift": -10}
    elif right:
        place = {"at": high, "align": "left", "shift": 7, "lift": 0}
    else:
        place = {"at": low, "align": "right", "shift": -7, "lift": 0}
    return known | {"from": low, "to": high} | place
