"""Charts of scales, as Vega-Lite specifications."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import altair as alt
import polars as pl

from empathylab.analysis.appraisal.result import baselines, interval_of
from empathylab.report.chart_parts import (
    groups_axis,
    labelled,
    names_above,
    names_layer,
    number_tooltip,
    respondent_color,
    spec_of,
)
from empathylab.report.colours import DIVERGING
from empathylab.report.estimate_charts import estimates_chart, grouped_chart
from empathylab.situations import APPRAISAL_EMOTIONS
from empathylab.stats.questionnaires.alignment import AlignmentSummary
from empathylab.stats.questionnaires.appraisal import ScaleChange

_MOST_DOTS = 120


def in_usual_order(emotions: Iterable[str]) -> list[str]:
    """The different emotions, in the order of the appraisal protocol; others after them."""
    usual = {emotion: place for place, emotion in enumerate(APPRAISAL_EMOTIONS)}
    return sorted(dict.fromkeys(emotions), key=lambda emotion: usual.get(emotion, len(usual)))


def levels_chart(scores: pl.DataFrame, *, lowest: float, highest: float) -> dict[str, Any] | None:
    """One subscale: a band for the baseline, a dot per administration, and each emotion's mean.

    None where there are too many administrations to show each.
    """
    evoked = scores.filter(pl.col("phase") == "evoked").select(
        "respondent", "emotion", "situation", "score"
    )
    if not 0 < evoked.height <= _MOST_DOTS:
        return None
    baseline = _band(scores, lowest, highest)
    axis = alt.Axis(title=f"score ({lowest:g} to {highest:g})", tickCount=5, grid=True)

    def x(name: str) -> alt.X:
        return alt.X(name, scale=alt.Scale(domain=[lowest, highest], nice=False), axis=axis)

    names = scores["respondent"].unique(maintain_order=True).to_list()
    color = respondent_color(names, legend=not labelled(names))
    emotions = in_usual_order(evoked["emotion"])
    side = alt.Axis(grid=False)
    y = groups_axis("emotion", emotions, names, side)
    who, when = alt.Tooltip("respondent:N"), alt.Tooltip("emotion:N")
    band = (
        alt.Chart(_values(baseline))
        .mark_rect(opacity=0.13)
        .encode(x("low:Q"), alt.X2("high:Q"), color)
    )
    line = (
        alt.Chart(_values(baseline))
        .mark_rule(strokeDash=[4, 3], strokeWidth=1.5)
        .encode(
            x("mean:Q"),
            color,
            tooltip=[
                who,
                number_tooltip("mean", "baseline", ".1f"),
                number_tooltip("sd", "SD", ".1f"),
            ],
        )
    )
    base = alt.Chart(_values(evoked)).encode(y, color, yOffset=alt.YOffset("respondent:N"))
    dots = base.mark_circle(size=46, opacity=0.45).encode(
        x("score:Q"),
        tooltip=[who, when, number_tooltip("score", "score", ".1f"), alt.Tooltip("situation:N")],
    )
    means = base.mark_tick(thickness=3, size=20).encode(
        x("mean(score):Q"), tooltip=[who, when, number_tooltip("mean(score)", "mean", ".1f")]
    )
    at = {name: mean for name, mean in baseline["respondent", "mean"].iter_rows() if mean}
    named = names_layer(
        at,
        series="respondent",
        groups=emotions,
        side=side,
        x=x("at:Q"),
        color=color,
        ends=(lowest, highest),
    )
    height = 30 * (len(emotions) + bool(named)) * max(1, min(4, baseline.height))
    return spec_of(alt.layer(band, line, dots, means, *named), height)


def overall_chart(
    changes: Sequence[ScaleChange], titles: Mapping[tuple[str, str], str]
) -> dict[str, Any] | None:
    """Each respondent's change over all situations, a panel per subscale."""
    rows = [
        _change_row(change) | {"subscale": titles[change.scale, change.subscale]}
        for change in changes
    ]
    if not rows:
        return None
    several = len({row["subscale"] for row in rows}) > 1
    return estimates_chart(
        rows,
        title="change from baseline, points",
        estimate="change",
        form="+.1f",
        zero=True,
        panels="subscale" if several else None,
    )


def distance_chart(summaries: Sequence[AlignmentSummary]) -> dict[str, Any] | None:
    """How far each respondent's changes are from people's, the nearest first."""
    rows = [
        {
            "respondent": summary.respondent,
            "scale": summary.scale.upper(),
            "estimate": summary.distance,
            "low": summary.low,
            "high": summary.high,
            "n": summary.factors,
        }
        for summary in sorted(summaries, key=lambda summary: summary.distance)
    ]
    if not rows:
        return None
    several = len({row["scale"] for row in rows}) > 1
    title = "distance from people, standard deviations of people's changes"
    panels = "scale" if several else None
    return estimates_chart(rows, title=title, form=".2f", zero=True, panels=panels)


def change_chart(changes: Sequence[ScaleChange]) -> dict[str, Any]:
    """One subscale's change from baseline after each emotion, with intervals, per respondent."""
    return grouped_chart(
        [_change_row(change) | {"emotion": change.emotion} for change in changes],
        group="emotion",
        groups=in_usual_order(str(change.emotion) for change in changes),
        names=list(dict.fromkeys(change.respondent for change in changes)),
        title="change from baseline",
        estimate="change",
        zero=True,
        more=[alt.Tooltip("n:Q")],
    )


def _change_row(change: ScaleChange) -> dict[str, Any]:
    interval = interval_of(change)
    return {
        "respondent": change.respondent,
        "change": change.cluster_delta,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "n": change.n,
    }


def factor_heatmap(changes: Sequence[ScaleChange]) -> dict[str, Any]:
    """One subscale's change from baseline by factor, respondents side by side."""
    rows = [
        {
            "respondent": change.respondent,
            "factor": f"{change.emotion}: {change.factor}",
            "change": change.delta,
            "n": change.n,
        }
        for change in changes
    ]
    emotions = in_usual_order(str(change.emotion) for change in changes)
    factors = [
        factor
        for emotion in emotions
        for factor in dict.fromkeys(str(row["factor"]) for row in rows)
        if factor.startswith(f"{emotion}: ")
    ]
    respondents = list(dict.fromkeys(change.respondent for change in changes))
    upright = len(respondents) < 4 and max(map(len, respondents)) < 15
    most = max((abs(change.delta) for change in changes), default=1.0) or 1.0
    chart = (
        alt.Chart()
        .mark_rect()
        .encode(
            alt.X(
                "respondent:N",
                sort=respondents,
                title=None,
                axis=names_above(140, upright=upright),
            ),
            alt.Y("factor:N", sort=factors, title=None, axis=alt.Axis(labelLimit=420)),
            alt.Color(
                "change:Q",
                scale=alt.Scale(range=DIVERGING, domain=[-most, 0, most], interpolate="rgb"),
                legend=alt.Legend(title="change", orient="bottom"),
            ),
            tooltip=[
                alt.Tooltip("respondent:N"),
                alt.Tooltip("factor:N"),
                number_tooltip("change", "change", ".1f"),
                alt.Tooltip("n:Q"),
            ],
        )
    )
    return spec_of(chart, 20 * len(factors), rows)


def _band(scores: pl.DataFrame, lowest: float, highest: float) -> pl.DataFrame:
    """The mean at baseline and one standard deviation to either side, within the scale."""
    return baselines(scores).with_columns(
        (pl.col("mean") - pl.col("sd")).clip(lowest, highest).alias("low"),
        (pl.col("mean") + pl.col("sd")).clip(lowest, highest).alias("high"),
    )


def _values(frame: pl.DataFrame) -> alt.InlineData:
    return alt.InlineData(values=frame.to_dicts())
