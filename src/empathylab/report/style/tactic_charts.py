"""Charts of tactics: where in a response they occur, and which follows which."""

from __future__ import annotations

from typing import Any

import altair as alt
import polars as pl

from empathylab.report.chart_parts import cells, names_above, number_tooltip, plain_spec, spec_of
from empathylab.report.style.charts import ROW, square_height


def tactic_flow_chart(places: pl.DataFrame) -> dict[str, Any] | None:
    """Where in the response each tactic stands, one panel per respondent; None without tactics.

    `places` comes from `tactic_places`.
    """
    if not places.height:
        return None
    parts = max(int(part) for part in places["part"])
    order = [_part_name(part, parts) for part in range(1, parts + 1)]
    rows = [row | {"where": order[row["part"] - 1]} for row in _completed(places).to_dicts()]
    respondents = places["respondent"].unique(maintain_order=True).to_list()
    tactics = (
        places.group_by("tactic")
        .agg((pl.col("part") * pl.col("count")).sum() / pl.col("count").sum())
        .sort("part", "tactic")["tactic"]
        .to_list()
    )
    base = alt.Chart(width=64 * parts, height=ROW * len(tactics)).encode(
        alt.X("where:N", sort=order, title=None, axis=alt.Axis(orient="top", labelAngle=0)),
        alt.Y("tactic:N", sort=tactics, title=None),
        tooltip=[
            alt.Tooltip("respondent:N"),
            alt.Tooltip("tactic:N"),
            alt.Tooltip("where:N", title="sentences of the"),
            number_tooltip("share", "percent of these", ".1%"),
            alt.Tooltip("count:Q", title="sentences"),
        ],
    )
    most = max(float(share) for share in places["share"])
    table = cells(base, "share", [0, most], ".0%", "percent of sentences")
    chart = table.facet(
        data=alt.InlineData(values=[]),
        facet=alt.Facet("respondent:N", sort=respondents, title=None),
        columns=3,
    )
    return plain_spec(chart.resolve_axis(x="independent"), rows)


def tactic_transition_chart(transitions: pl.DataFrame, respondent: str) -> dict[str, Any] | None:
    """Which tactic follows which in one respondent's responses; None without tactics.

    `transitions` comes from `tactic_transitions`.
    """
    mine = transitions.filter(pl.col("respondent") == respondent)
    if not mine.height:
        return None
    tactics = sorted({*mine["before"], *mine["after"]} - {"start", "end"})
    base = alt.Chart().encode(
        alt.X(
            "after:N",
            sort=[*tactics, "end"],
            title="then",
            axis=names_above(),
        ),
        alt.Y("before:N", sort=["start", *tactics], title="after"),
        tooltip=[
            alt.Tooltip("before:N", title="after"),
            alt.Tooltip("after:N", title="then"),
            alt.Tooltip("count:Q"),
            number_tooltip("share", "percent", ".1%"),
        ],
    )
    table = cells(base, "share", [0, 1], ".0%", "percent of what follows")
    return spec_of(table, square_height(["start", *tactics]), mine.to_dicts())


def _part_name(part: int, parts: int) -> str:
    if part == 1:
        return "opening"
    if part == parts:
        return "closing"
    return "middle" if parts == 3 else f"part {part}"


def _completed(places: pl.DataFrame) -> pl.DataFrame:
    """Every respondent with every tactic in every part, 0 where it does not occur."""
    whole = places.select("respondent").unique(maintain_order=True)
    for column in ("tactic", "part"):
        whole = whole.join(places.select(column).unique(maintain_order=True), how="cross")
    joined = whole.join(places, on=["respondent", "tactic", "part"], how="left")
    return joined.with_columns(pl.col("count", "share").fill_null(0))
