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
    estimates_chart,
    names_above,
    number_tooltip,
    respondent_color,
    spec_of,
    zero_line,
)
from empathylab.report.colours import ESTIMATE, GUIDE, NOT_FOUND
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
    axis = alt.Axis(title="standard deviations from the mean of all", grid=True, tickCount=6)
    base = alt.Chart().encode(
        alt.Y("feature:N", sort=order, title=None, axis=alt.Axis(grid=False, labelLimit=260)),
        respondent_color(respondents),
        yOffset=alt.YOffset("respondent:N", sort=respondents),
        tooltip=[
            alt.Tooltip("respondent:N"),
            alt.Tooltip("feature:N"),
            number_tooltip("mean", "mean", ".3~g"),
            number_tooltip("standing", "from the mean of all (SD)"),
            number_tooltip("low", "95% from"),
            number_tooltip("high", "to"),
            alt.Tooltip("situations:Q"),
        ],
    )
    lines = base.mark_rule(strokeWidth=2).encode(alt.X("low:Q", axis=axis), alt.X2("high:Q"))
    points = base.mark_point(filled=True, size=55, opacity=1).encode(alt.X("standing:Q", axis=axis))
    height = len(order) * max(ROW, 10 * len(respondents))
    return spec_of(alt.layer(zero_line(axis), lines, points), height, rows)


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
    y = alt.Y("name:N", sort=order, title=None, axis=alt.Axis(labelPadding=32, labelLimit=220))
    tall = max(ROW + 4, 14 * len(respondents))
    bars = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar()
        .encode(
            alt.X("per_response:Q", title="per response", axis=alt.Axis(grid=True, tickCount=6)),
            y,
            respondent_color(respondents),
            yOffset=alt.YOffset("respondent:N", sort=respondents),
            tooltip=[
                alt.Tooltip("respondent:N"),
                alt.Tooltip("name:N", title="emoji"),
                alt.Tooltip("count:Q"),
                number_tooltip("per_response", "per response", ".3f"),
            ],
        )
    )
    pictures = [{"name": names[emoji], "emoji": emoji} for emoji in most_common]
    faces = (
        alt.Chart(alt.InlineData(values=pictures))
        .mark_text(font=EMOJI_FONTS, fontSize=16, align="right", baseline="middle")
        .encode(y, alt.Text("emoji:N"), x=alt.value(-7))
    )
    return spec_of(alt.layer(bars, faces), tall * len(order))


def distinctive_chart(
    found: Sequence[DistinctiveTerms], respondent: str, *, top: int = 20
) -> dict[str, Any] | None:
    """One respondent's most distinctive words and phrases by z; None where there are none.

    All of `found` set the colours and the axis, so that the respondents' figures can be compared.
    """
    [one] = [each for each in found if each.respondent == respondent]
    terms = one.terms[:top]
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
    furthest = max(term.z for each in found for term in each.terms[:top])
    against = f"{one.against}, per 1,000" if one.against else "others, per 1,000"
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
        respondent_color([each.respondent for each in found], legend=False),
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


def confusion_chart(found: Predictability) -> dict[str, Any]:
    """The author of each response and the predicted one: proportions of each author's responses."""
    rows = []
    for writer, row in zip(found.respondents, found.full.confusion, strict=True):
        total = sum(row) or 1
        rows += [
            {"writer": writer, "predicted": name, "share": count / total, "count": count}
            for name, count in zip(found.respondents, row, strict=True)
        ]
    names = list(found.respondents)
    # Upright names must fit beside each other, on a phone too.
    upright = len(names) * max(map(len, names)) <= 18
    base = alt.Chart().encode(
        alt.X(
            "predicted:N",
            sort=names,
            title="predicted as",
            axis=names_above(upright=upright),
        ),
        alt.Y("writer:N", sort=names, title="written by", axis=alt.Axis(labelLimit=200)),
        tooltip=[
            alt.Tooltip("writer:N", title="written by"),
            alt.Tooltip("predicted:N", title="predicted as"),
            alt.Tooltip("count:Q", title="responses"),
            number_tooltip("share", "percent", ".1%"),
        ],
    )
    return spec_of(cells(base, "share", [0, 1], ".1%", None), square_height(names), rows)


def ablation_chart(found: Predictability) -> dict[str, Any]:
    """How well authors are identified when something is removed, compared with chance."""
    every: list[Classification] = [found.full, *found.ablations]
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
        for item in every
    ]
    lowest = min(found.full.chance, found.uniform_chance, *(item.low for item in every))
    scale = alt.Scale(domain=[max(0.0, lowest - 0.03), 1], nice=False)
    axis = alt.Axis(title="accuracy on unseen situations", format="%", grid=True)
    base = alt.Chart().encode(
        alt.Y(
            "name:N",
            sort=[str(row["name"]) for row in rows],
            title=None,
            axis=alt.Axis(grid=False),
        ),
        tooltip=[
            alt.Tooltip("name:N", title="identified from"),
            number_tooltip("accuracy", "accuracy", ".1%"),
            number_tooltip("low", "95% from", ".1%"),
            number_tooltip("high", "to", ".1%"),
            number_tooltip("macro_f1", "macro F1", ".3f"),
            alt.Tooltip("note:N"),
        ],
    )
    lines = base.mark_rule(strokeWidth=2).encode(
        alt.X("low:Q", scale=scale, axis=axis), alt.X2("high:Q"), color=alt.value(ESTIMATE)
    )
    points = base.mark_point(filled=True, size=55, opacity=1).encode(
        alt.X("accuracy:Q", scale=scale, axis=axis), color=alt.value(ESTIMATE)
    )
    chance = (
        alt.Chart(alt.InlineData(values=[{"chance": found.full.chance}]))
        .mark_rule(strokeDash=[4, 3])
        .encode(
            alt.X("chance:Q", scale=scale, axis=axis),
            color=alt.value(GUIDE),
            tooltip=[number_tooltip("chance", "chance: always the largest class", ".1%")],
        )
    )
    return spec_of(alt.layer(chance, lines, points), ROW * len(rows), rows)


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
    order = sorted(last, key=lambda name: -last[name])
    axis = alt.Axis(title="points of the rating per SD of the feature", grid=True, tickCount=6)
    base = alt.Chart().encode(
        alt.Y("feature:N", sort=order, title=None, axis=alt.Axis(grid=False, labelLimit=260)),
        alt.Color(
            "adjustment:N",
            scale=alt.Scale(domain=list(_ADJUSTMENTS), range=[NOT_FOUND, ESTIMATE]),
            legend=alt.Legend(title=None, orient="top"),
        ),
        yOffset=alt.YOffset("adjustment:N", sort=list(_ADJUSTMENTS)),
        tooltip=[
            alt.Tooltip("feature:N"),
            alt.Tooltip("adjustment:N", title="adjusted for"),
            alt.Tooltip("slope:Q", format="+.3f"),
            alt.Tooltip("low:Q", title="95% from", format="+.3f"),
            alt.Tooltip("high:Q", title="to", format="+.3f"),
            alt.Tooltip("ratings:Q"),
        ],
    )
    lines = base.mark_rule(strokeWidth=2).encode(alt.X("low:Q", axis=axis), alt.X2("high:Q"))
    points = base.mark_point(filled=True, size=55, opacity=1).encode(alt.X("slope:Q", axis=axis))
    return spec_of(alt.layer(zero_line(axis), lines, points), ROW * len(order), rows)


def square_height(names: Sequence[str]) -> int:
    """The height of a table of cells with a row per name."""
    return 34 * max(2, len(names))


def _different_names(emoji: Sequence[str]) -> dict[str, str]:
    names: dict[str, str] = {}
    for item in emoji:
        name = emoji_name(item)
        names[item] = name if name not in names.values() else f"{name} ({len(names) + 1})"
    return names
