"""Charts of a rated study, as Vega-Lite specifications."""

from __future__ import annotations

import math
from typing import Any

import altair as alt

from empathylab.analysis.json_values import finite
from empathylab.analysis.overview.levels import RatingLevel
from empathylab.report.chart_parts import panels_spec, spec_of
from empathylab.report.colours import ordered_colours, text_on
from empathylab.report.estimate_charts import estimates_chart, grouped_chart
from empathylab.stats.arms import ArmComparison, ArmCount
from empathylab.stats.arms.means import MeanComparison

_MOST_ARMS = 12
_SUBSETS = {"all": "all situations"}


def levels_chart(levels: list[RatingLevel]) -> dict[str, Any] | None:
    """Every arm with its 95% interval, a panel per dimension; dimensions of one scale together."""
    known = [level for level in levels if not math.isnan(level.estimate)]
    if not known:
        return None
    percent = all(level.good is not None for level in known)
    ends = {(level.lowest, level.highest) for level in known}
    dimensions = list(dict.fromkeys(level.dimension for level in known))
    labels = {level.good for level in known}
    what = f"rated {labels.pop()}" if percent and len(labels) == 1 else "rated good"
    rows = [
        {
            "arm": level.arm,
            "dimension": level.dimension,
            "estimate": level.estimate,
            "low": finite(level.low),
            "high": finite(level.high),
            "n": level.n,
        }
        for level in known
    ]
    return estimates_chart(
        rows,
        who="arm",
        title=f"proportion {what}" if percent else "mean rating",
        form=".0%" if percent else ".2f",
        ends=ends.pop() if len(ends) == 1 else None,
        panels="dimension" if len(dimensions) > 1 else None,
    )


def shares_chart(comparison: ArmComparison, dimension: str) -> dict[str, Any] | None:
    """The proportion of each answer in each arm: all situations, then by valence."""
    counts = [
        count
        for count in comparison.counts
        if count.dimension == dimension and count.kind in ("all", "valence") and count.n
    ]
    if not counts:
        return None
    labels = list(counts[0].counts)
    arms = list(dict.fromkeys(count.arm for count in counts))
    subsets = list(dict.fromkeys(_subset(count.subset) for count in counts))
    colours = ordered_colours(len(labels))
    rows = [row for count in counts for row in _bars(count, labels)]
    x = alt.X(
        "from:Q",
        axis=alt.Axis(format="%", title=None, values=[0, 0.5, 1], labelFlush=True),
        scale=alt.Scale(domain=[0, 1], nice=False),
    )
    base = alt.Chart().encode(
        alt.Y("arm:N", sort=arms, title=None, axis=alt.Axis(labelLimit=260, grid=False)),
        tooltip=[
            alt.Tooltip("arm:N"),
            alt.Tooltip("situations:N"),
            alt.Tooltip("rating:N"),
            alt.Tooltip("count:Q", format=","),
            alt.Tooltip("n:Q", title="of", format=","),
            alt.Tooltip("share:Q", format=".1%", title="proportion"),
        ],
    )
    colour = alt.Color(
        "rating:N",
        scale=alt.Scale(domain=labels, range=colours),
        legend=alt.Legend(title=None, orient="top"),
    )
    bars = base.mark_bar(height=20).encode(x, alt.X2("to:Q"), colour)
    words = [
        base.transform_filter(f"datum.rating === {_quoted(label)} && datum.share >= 0.1")
        .mark_text(fontSize=12)
        .encode(
            alt.X("middle:Q"),
            text=alt.Text("share:Q", format=".0%"),
            color=alt.value(text_on(shade)),
        )
        for label, shade in zip(labels, colours, strict=True)
    ]
    layered = alt.layer(bars, *words)
    height = 28 * len(arms)
    if len(subsets) == 1:
        return spec_of(layered, height, rows)
    return panels_spec(layered, "situations", subsets, height, rows)


def _subset(name: str) -> str:
    return _SUBSETS.get(name, f"{name} situations")


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _bars(arm_count: ArmCount, labels: list[str]) -> list[dict[str, Any]]:
    begun, rows = 0, []
    for label in labels:
        count = arm_count.counts[label]
        rows.append(
            {
                "arm": arm_count.arm,
                "situations": _subset(arm_count.subset),
                "rating": label,
                "count": count,
                "n": arm_count.n,
                "share": count / arm_count.n,
                "from": begun / arm_count.n,
                "to": (begun + count) / arm_count.n,
                "middle": (begun + count / 2) / arm_count.n,
            }
        )
        begun += count
    return rows


def emotions_chart(comparison: ArmComparison, dimension: str) -> dict[str, Any] | None:
    """The proportion of good ratings by emotion, with intervals, arms side by side."""
    counts = [
        count
        for count in comparison.counts
        if count.dimension == dimension and count.kind == "emotion" and count.n
    ]
    if not counts:
        return None
    # More arms than this are hard to distinguish; the reference comes first.
    arms = list(dict.fromkeys(count.arm for count in comparison.counts))[:_MOST_ARMS]
    counts = [count for count in counts if count.arm in arms]
    rows = [
        {
            "arm": count.arm,
            "emotion": count.subset.removeprefix("emotion:"),
            "share": count.good_share.estimate,
            "low": count.good_share.low,
            "high": count.good_share.high,
            "good": count.good,
            "n": count.n,
        }
        for count in counts
    ]
    return grouped_chart(
        rows,
        group="emotion",
        groups=_by_difference(rows, comparison.reference, "share"),
        series="arm",
        names=arms,
        title="proportion of good ratings",
        estimate="share",
        estimate_title="good",
        form=".1%",
        ends=(0.0, 1.0),
        more=[alt.Tooltip("good:Q"), alt.Tooltip("n:Q", title="of")],
    )


def mean_emotions_chart(means: MeanComparison, ends: tuple[float, float]) -> dict[str, Any] | None:
    """The mean rating by emotion, with intervals, arms side by side."""
    arms = list(dict.fromkeys(mean.arm for mean in means.means))[:_MOST_ARMS]
    rows = [
        {
            "arm": mean.arm,
            "emotion": mean.subset.removeprefix("emotion:"),
            "mean": mean.mean.estimate,
            "low": finite(mean.mean.low),
            "high": finite(mean.mean.high),
            "n": mean.n,
        }
        for mean in means.means
        if mean.kind == "emotion" and mean.n and mean.arm in arms
    ]
    if not rows:
        return None
    return grouped_chart(
        rows,
        group="emotion",
        groups=_by_difference(rows, means.reference, "mean"),
        series="arm",
        names=arms,
        title="mean rating",
        estimate="mean",
        form=".2f",
        ends=ends,
        more=[alt.Tooltip("n:Q")],
    )


def _by_difference(rows: list[dict[str, Any]], reference: str, estimate: str) -> list[str]:
    """Emotions by the other arms' lead over the reference, the largest first."""
    estimates: dict[str, dict[str, float]] = {}
    for row in rows:
        estimates.setdefault(row["emotion"], {})[row["arm"]] = row[estimate]

    def lead(emotion: str) -> float:
        of = estimates[emotion]
        others = [value for arm, value in of.items() if arm != reference]
        if reference not in of:
            return sum(others) / len(others)
        return (sum(others) / len(others) if others else 0.0) - of[reference]

    return sorted(estimates, key=lead, reverse=True)
