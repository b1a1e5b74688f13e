"""Figures of a rated study, as Vega-Lite specifications."""

from __future__ import annotations

import math
from typing import Any

import altair as alt

from empathylab.stats.arms import ArmComparison, ArmCount
from empathylab.stats.arms.means import MeanComparison

# From worst to best; distinguishable with any colour vision, on light and on dark.
_LOW, _MIDDLE, _HIGH = "#D55E00", "#73777C", "#0072B2"

_MOST_ARMS = 12


def shares_chart(comparison: ArmComparison, dimension: str, subset: str) -> dict[str, Any]:
    """The proportion of each rating in each arm, in one subset of the situations."""
    counts = [
        one
        for one in comparison.counts
        if (one.dimension, one.subset) == (dimension, subset) and one.n
    ]
    labels = list(counts[0].counts)
    arms = list(dict.fromkeys(one.arm for one in counts))
    rows = [row for one in counts for row in _bars(one, labels)]
    x = alt.X(
        "from:Q",
        axis=alt.Axis(format="%", title="proportion of ratings", tickCount=5),
        scale=alt.Scale(domain=[0, 1], nice=False),
    )
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        alt.Y("arm:N", sort=arms, title=None, axis=alt.Axis(labelLimit=180, grid=False)),
        tooltip=[
            alt.Tooltip("arm:N"),
            alt.Tooltip("rating:N"),
            alt.Tooltip("count:Q", format=","),
            alt.Tooltip("n:Q", title="of", format=","),
            alt.Tooltip("share:Q", format=".1%"),
        ],
    )
    colour = alt.Color(
        "rating:N",
        scale=alt.Scale(domain=labels, range=_steps(len(labels))),
        legend=alt.Legend(title=None, orient="top"),
    )
    bars = base.mark_bar(height=22).encode(x, alt.X2("to:Q"), colour)
    words = (
        base.transform_filter("datum.share * width >= 28")  # where the number fits
        .mark_text(fontSize=12, color="white", fontWeight=600)
        .encode(alt.X("middle:Q"), text=alt.Text("share:Q", format=".0%"))
    )
    chart = alt.layer(bars, words).properties(width="container", height=34 * len(arms))
    return _spec(chart)


def _bars(one: ArmCount, labels: list[str]) -> list[dict[str, Any]]:
    begun, rows = 0, []
    for label in labels:
        count = one.counts[label]
        rows.append(
            {
                "arm": one.arm,
                "rating": label,
                "count": count,
                "n": one.n,
                "share": count / one.n,
                "from": begun / one.n,
                "to": (begun + count) / one.n,
                "middle": (begun + count / 2) / one.n,
            }
        )
        begun += count
    return rows


def _steps(count: int) -> list[str]:
    """Colours of ordered categories, the worst first."""
    if count == 2:
        return [_LOW, _HIGH]
    if count == 3:
        return [_LOW, _MIDDLE, _HIGH]
    return [_mixed(place / (count - 1)) for place in range(count)]


def _mixed(place: float) -> str:
    ends = (_LOW, _MIDDLE) if place < 0.5 else (_MIDDLE, _HIGH)
    share = 2 * place - (place >= 0.5)
    first, second = ([int(end[k : k + 2], 16) for k in (1, 3, 5)] for end in ends)
    parts = [round(a + share * (b - a)) for a, b in zip(first, second, strict=True)]
    return "#" + "".join(f"{part:02X}" for part in parts)


def emotions_chart(comparison: ArmComparison, dimension: str) -> dict[str, Any] | None:
    """The proportion of good ratings by emotion, with intervals, arms side by side."""
    counts = [
        one
        for one in comparison.counts
        if one.dimension == dimension and one.kind == "emotion" and one.n
    ]
    if not counts:
        return None
    # More arms than this are hard to distinguish; the reference comes first.
    arms = list(dict.fromkeys(one.arm for one in comparison.counts))[:_MOST_ARMS]
    counts = [one for one in counts if one.arm in arms]
    rows = [
        {
            "arm": one.arm,
            "emotion": one.subset.removeprefix("emotion:"),
            "share": one.good_share.estimate,
            "low": one.good_share.low,
            "high": one.good_share.high,
            "good": one.good,
            "n": one.n,
        }
        for one in counts
    ]
    emotions = _by_difference(rows, comparison.reference)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        alt.Y("emotion:N", sort=emotions, title=None, axis=alt.Axis(grid=False)),
        alt.Color(
            "arm:N",
            scale=alt.Scale(domain=arms),
            legend=alt.Legend(title=None, orient="top") if len(arms) > 1 else None,
        ),
        yOffset=alt.YOffset("arm:N", sort=arms),
        tooltip=[
            alt.Tooltip("arm:N"),
            alt.Tooltip("emotion:N"),
            alt.Tooltip("share:Q", format=".1%", title="good"),
            alt.Tooltip("low:Q", format=".1%", title="95% from"),
            alt.Tooltip("high:Q", format=".1%", title="to"),
            alt.Tooltip("good:Q"),
            alt.Tooltip("n:Q", title="of"),
        ],
    )
    axis = alt.Axis(format="%", title="proportion of good ratings", grid=True)
    scale = alt.Scale(domain=[0, 1], nice=False)
    lines = base.mark_rule(strokeWidth=2, opacity=0.6).encode(
        alt.X("low:Q", axis=axis, scale=scale), alt.X2("high:Q")
    )
    points = base.mark_point(filled=True, size=52, opacity=1).encode(
        alt.X("share:Q", axis=axis, scale=scale)
    )
    height = len(emotions) * max(20, 9 * len(arms))
    return _spec(alt.layer(lines, points).properties(width="container", height=height))


def means_chart(found: MeanComparison) -> dict[str, Any]:
    """Each arm's mean rating with its interval, over all situations."""
    means = [one for one in found.means if one.kind == "all"]
    arms = [one.arm for one in means]
    rows = [
        {"arm": one.arm, "mean": one.mean.estimate, "n": one.n}
        | ({} if math.isnan(one.mean.low) else {"low": one.mean.low, "high": one.mean.high})
        for one in means
    ]
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        alt.Y("arm:N", sort=arms, title=None, axis=alt.Axis(labelLimit=180, grid=False)),
        tooltip=[
            alt.Tooltip("arm:N"),
            alt.Tooltip("mean:Q", format=".2f"),
            alt.Tooltip("low:Q", format=".2f", title="95% from"),
            alt.Tooltip("high:Q", format=".2f", title="to"),
            alt.Tooltip("n:Q", title="ratings", format=","),
        ],
    )
    axis = alt.Axis(title=f"mean {found.dimension}", grid=True)
    scale = alt.Scale(domain=[found.lowest, found.highest], nice=True)
    lines = base.mark_rule(strokeWidth=2, color=_HIGH, opacity=0.6).encode(
        alt.X("low:Q", axis=axis, scale=scale), alt.X2("high:Q")
    )
    points = base.mark_point(filled=True, size=64, opacity=1, color=_HIGH).encode(
        alt.X("mean:Q", axis=axis, scale=scale)
    )
    chart = alt.layer(lines, points)
    return _spec(chart.properties(width="container", height=34 * len(arms)))


def _by_difference(rows: list[dict[str, Any]], reference: str) -> list[str]:
    """Emotions by the other arms' lead over the reference, the largest first."""
    shares: dict[str, dict[str, float]] = {}
    for row in rows:
        shares.setdefault(row["emotion"], {})[row["arm"]] = row["share"]

    def lead(emotion: str) -> float:
        of = shares[emotion]
        others = [share for arm, share in of.items() if arm != reference]
        if reference not in of:
            return sum(others) / len(others)
        return (sum(others) / len(others) if others else 0.0) - of[reference]

    return sorted(shares, key=lead, reverse=True)


def _spec(chart: Any) -> dict[str, Any]:
    spec: dict[str, Any] = chart.to_dict(validate=False)
    spec.pop("config", None)
    return spec
