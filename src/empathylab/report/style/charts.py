"""The charts of style, as Vega-Lite specifications."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import polars as pl

from empathylab.analysis.style.estimates import RatedStyle
from empathylab.analysis.text.emoji_names import emoji_name
from empathylab.report.chart_parts import (
    cells,
    grouped_bars,
    groups_axis,
    names_above,
    number_tooltip,
    respondent_color,
    spec_of,
)
from empathylab.report.colours import ESTIMATE, NOT_FOUND
from empathylab.report.estimate_charts import estimates_chart, grouped_chart
from empathylab.style.authorship.predictability import Classification, Predictability
from empathylab.style.differences import FeatureStanding
from empathylab.style.distinctive import DistinctiveTerms

EMOJI_FONTS = "Noto Color Emoji, Apple Color Emoji, Segoe UI Emoji, Twemoji Mozilla, sans-serif"
"""An emoji on its own is drawn in colour where one of these is installed."""

ROW = 22
MOST_IN_PROFILE = 4
"""Respondents whose features fit below each other, all in one chart."""
MOST_PANELS = 6
_ADJUSTMENTS = ("alone", "same length and author")

# Turned beside the names, the title runs into the longest: it stands above them.
_WRITERS = alt.Axis(
    labelLimit=200, titleAngle=0, titleAlign="right", titleBaseline="bottom", titleX=-8, titleY=-8
)


def feature_profile_chart(
    standings: Sequence[FeatureStanding], *, titles: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Each respondent's distance from the mean of all, feature by feature, with intervals.

    In standard deviations of the feature over responses, so that features of different units
    fit into one figure. `titles` names the features.
    """
    named = titles or {}
    rows = [
        {
            "respondent": standing.respondent,
            "feature": named.get(standing.feature, standing.feature.replace("_", " ")),
            "mean": standing.mean,
            "standing": standing.standing,
            "low": standing.standing if math.isnan(standing.low) else standing.low,
            "high": standing.standing if math.isnan(standing.high) else standing.high,
            "situations": standing.n,
        }
        for standing in standings
        if not math.isnan(standing.standing)
    ]
    respondents = list(dict.fromkeys(str(row["respondent"]) for row in rows))
    order = list(dict.fromkeys(str(row["feature"]) for row in rows))
    if len(respondents) > MOST_IN_PROFILE:
        return _feature_panels(rows)
    return grouped_chart(
        rows,
        group="feature",
        groups=order,
        names=respondents,
        title="standard deviations from the mean of all",
        estimate="standing",
        estimate_title="from the mean of all (SD)",
        form=".2f",
        zero=True,
        more=[number_tooltip("mean", "mean", ".3~g"), alt.Tooltip("situations:Q")],
    )


def _feature_panels(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A panel for each feature that differs most, in relation to its intervals."""
    by_feature: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by_feature.setdefault(str(row["feature"]), []).append(row)

    def differs(feature: str) -> float:
        mine = by_feature[feature]
        values = [row["standing"] for row in mine]
        width = statistics.median(row["high"] - row["low"] for row in mine)
        return float((max(values) - min(values)) / width) if width else 0.0

    chosen = sorted(by_feature, key=differs, reverse=True)[:MOST_PANELS]
    spec = estimates_chart(
        [row | {"n": row["situations"]} for feature in chosen for row in by_feature[feature]],
        title="standard deviations from the mean of all",
        estimate="standing",
        form="+.2f",
        zero=True,
        panels="feature",
    )
    return spec | {"columns": 3}


def emoji_chart(counts: pl.DataFrame, *, top: int = 12) -> dict[str, Any] | None:
    """How often each respondent uses the most common emoji; None where nobody uses any.

    `counts` has the columns respondent, emoji, count and per_response. Each emoji stands alone
    beside its name: alone it is drawn in colour where a font can, and the name can be read where
    none can.
    """
    if not counts.height:
        return None
    most_common = (
        counts.group_by("emoji")
        .agg(pl.col("per_response").sum())
        .sort("per_response", "emoji", descending=[True, False])
        .head(top)["emoji"]
        .to_list()
    )
    respondents = counts["respondent"].unique(maintain_order=True).to_list()
    names = _different_names(most_common)
    shown = counts.filter(pl.col("emoji").is_in(most_common))
    rows = [row | {"name": names[row["emoji"]]} for row in shown.to_dicts()]
    order = [names[emoji] for emoji in most_common]
    side = alt.Axis(labelPadding=32, labelLimit=220)
    pictures = [{"name": names[emoji], "emoji": emoji} for emoji in most_common]
    faces = (
        alt.Chart(alt.InlineData(values=pictures))
        .mark_text(font=EMOJI_FONTS, fontSize=16, align="right", baseline="middle")
        .encode(groups_axis("name", order, respondents, side), alt.Text("emoji:N"), x=alt.value(-7))
    )
    return grouped_bars(
        rows,
        group="name",
        groups=order,
        series="respondent",
        names=respondents,
        value="per_response",
        axis=alt.Axis(title="per response", grid=True, tickCount=6),
        tooltip=[
            alt.Tooltip("respondent:N"),
            alt.Tooltip("name:N", title="emoji"),
            alt.Tooltip("count:Q"),
            number_tooltip("per_response", "per response", ".3f"),
        ],
        side=side,
        pictures=[faces],
    )


def distinctive_chart(
    every: Sequence[DistinctiveTerms], respondent: str, *, top: int = 20
) -> dict[str, Any] | None:
    """One respondent's most distinctive words and phrases by z; None where there are none.

    All of `every` set the colours and the axis, so that the respondents' figures can be compared.
    """
    [mine] = [each for each in every if each.respondent == respondent]
    terms = mine.terms[:top]
    if not terms:
        return None
    rows = [
        {
            "respondent": respondent,
            "term": term.term,
            "z": term.z,
            "count": term.count,
            "per_thousand": term.per_thousand,
            "against": term.against_per_thousand,
            "example": term.examples[0] if term.examples else "",
        }
        for term in terms
    ]
    furthest = max(term.z for each in every for term in each.terms[:top])
    against = f"{mine.against}, per 1,000" if mine.against else "others, per 1,000"
    base = alt.Chart().encode(
        alt.X(
            "z:Q",
            title="z of the log odds ratio",
            scale=alt.Scale(domain=[0, furthest]),
            axis=alt.Axis(grid=True, tickCount=6),
        ),
        alt.Y(
            "term:N",
            sort=[term.term for term in terms],
            title=None,
            axis=alt.Axis(grid=False, labelLimit=260),
        ),
        respondent_color([each.respondent for each in every], legend=False),
        tooltip=[
            alt.Tooltip("term:N"),
            number_tooltip("z", "z"),
            alt.Tooltip("count:Q"),
            number_tooltip("per_thousand", "per 1,000", ".2f"),
            number_tooltip("against", against, ".2f"),
            alt.Tooltip("example:N"),
        ],
    )
    stems = base.mark_rule(strokeWidth=2, opacity=0.6).encode(x2=alt.datum(0))
    dots = base.mark_point(filled=True, size=60, opacity=1)
    return spec_of(alt.layer(stems, dots), 19 * len(terms), rows)


def confusion_chart(predictability: Predictability) -> dict[str, Any]:
    """The author of each response and the predicted one: proportions of each author's responses."""
    rows = []
    for writer, row in zip(predictability.respondents, predictability.full.confusion, strict=True):
        total = sum(row) or 1
        rows += [
            {"writer": writer, "predicted": name, "share": count / total, "count": count}
            for name, count in zip(predictability.respondents, row, strict=True)
        ]
    names = list(predictability.respondents)
    # Upright names must fit beside each other, on a phone too.
    upright = len(names) * max(map(len, names)) <= 18
    base = alt.Chart().encode(
        alt.X(
            "predicted:N",
            sort=names,
            title="predicted as",
            axis=names_above(upright=upright),
        ),
        alt.Y("writer:N", sort=names, title="written by", axis=_WRITERS),
        tooltip=[
            alt.Tooltip("writer:N", title="written by"),
            alt.Tooltip("predicted:N", title="predicted as"),
            alt.Tooltip("count:Q", title="responses"),
            number_tooltip("share", "percent", ".1%"),
        ],
    )
    return spec_of(cells(base, "share", [0, 1], ".1%", None), square_height(names), rows)


def ablation_chart(predictability: Predictability) -> dict[str, Any]:
    """How well authors are identified when something is removed, compared with chance."""
    results: list[Classification] = [predictability.full, *predictability.ablations]
    titles = {"full": "the full text"}
    rows = [
        {
            "name": titles.get(item.name, item.name),
            "accuracy": item.accuracy,
            "low": item.low,
            "high": item.high,
            "macro_f1": item.macro_f1,
            "note": item.note,
        }
        for item in results
    ]
    lowest = min(
        predictability.full.chance, predictability.uniform_chance, *(item.low for item in results)
    )
    return estimates_chart(
        rows,
        who="name",
        title="accuracy on unseen situations; dashed: always the most frequent author",
        estimate="accuracy",
        form=".1%",
        ends=(max(0.0, lowest - 0.03), 1.0),
        guide=predictability.full.chance,
        coloured=False,
        more=[number_tooltip("macro_f1", "macro F1", ".3f"), alt.Tooltip("note:N")],
    )


def relation_chart(rated: RatedStyle, titles: Mapping[str, str]) -> dict[str, Any] | None:
    """How the rating changes with one SD more of each feature, with intervals; None without any.

    Beside the plain association is that at equal length within a respondent: where the two differ,
    the feature reflects the author or the length.
    """
    rows: list[dict[str, Any]] = [
        {
            "feature": titles[relation.feature],
            "adjustment": name,
            "slope": slope.estimate,
            "low": slope.low,
            "high": slope.high,
            "ratings": relation.n,
        }
        for relation in rated.relations
        if relation.feature in titles and relation.within.low == relation.within.low
        for name, slope in zip(_ADJUSTMENTS, (relation.alone, relation.within), strict=True)
        if slope.low == slope.low
    ]
    if not rows:
        return None
    last: dict[str, float] = {row["feature"]: row["slope"] for row in rows}
    return grouped_chart(
        rows,
        group="feature",
        groups=sorted(last, key=lambda name: -last[name]),
        series="adjustment",
        names=_ADJUSTMENTS,
        colours=[NOT_FOUND, ESTIMATE],
        title="points of the rating per SD of the feature",
        estimate="slope",
        form="+.3f",
        zero=True,
        more=[alt.Tooltip("ratings:Q")],
    )


def square_height(names: Sequence[str]) -> int:
    """The height of a table of cells with a row per name."""
    return 34 * max(2, len(names))


def _different_names(emoji: Sequence[str]) -> dict[str, str]:
    names: dict[str, str] = {}
    for item in emoji:
        name = emoji_name(item)
        names[item] = name if name not in names.values() else f"{name} ({len(names) + 1})"
    return names
