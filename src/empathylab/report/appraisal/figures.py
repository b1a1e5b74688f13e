"""The charts of scales, each with its name, title and note."""

from __future__ import annotations

import math
from collections.abc import Iterator

import polars as pl

from empathylab.analysis.appraisal.result import AppraisalResult
from empathylab.report.appraisal.charts import (
    change_chart,
    distance_chart,
    factor_heatmap,
    levels_chart,
    overall_chart,
)
from empathylab.report.appraisal.tables import shown_respondents
from empathylab.report.blocks import Figure, optional_figure
from empathylab.report.colours import PEOPLE
from empathylab.scales import Scale
from empathylab.stats.questionnaires.appraisal import ScaleChange

_CHANGES = "95% intervals treat situations and item orders as random samples"
_LEVELS = (
    "The dashed line is the mean at baseline, the band one standard deviation to either side; a "
    "dot is one administration after a situation, the vertical bar an emotion's mean."
)
_FACTORS = "Change from baseline after the situations of each factor."
_DISTANCE = (
    "0: the model's mean change equals people's. 1: it differs by one standard deviation of "
    "people's changes."
)


def figures(result: AppraisalResult) -> Iterator[Figure]:
    """All charts that the result has something for."""
    known = [change for change in result.changes if not math.isnan(change.delta)]
    scales = {scale.id: scale for scale in result.scales}
    groups = list(dict.fromkeys((item.scale, item.subscale) for item in known))
    titles = {key: subscale_title(scales[key[0]], key[1]) for key in groups}
    for scale in dict.fromkeys(item.scale for item in known):
        overall = [item for item in known if item.level == "overall" and item.scale == scale]
        drawn = _extremes(overall)
        mine = [item for name in drawn for item in overall if item.respondent == name]
        title = f"{scale.upper()}: change from baseline"
        note = _intervals(mine)
        if (everyone := len({item.respondent for item in overall})) > len(drawn):
            note += (
                f" Of {everyone} respondents, those with the highest and the lowest change in the "
                "first panel are shown."
            )
        yield from optional_figure(f"changes-{scale}", title, overall_chart(mine, titles), note)
    distances = distance_chart(result.summaries)
    yield from optional_figure(
        "distances", "Distance from people's reactions", distances, _DISTANCE
    )
    for key in groups:
        mine = [item for item in known if (item.scale, item.subscale) == key]
        yield from _of_subscale(result, scales[key[0]], mine, titles[key])


def _extremes(changes: list[ScaleChange]) -> list[str]:
    """All respondents in order; of many people, the highest and the lowest."""
    shown = shown_respondents(changes)
    everyone = list(dict.fromkeys(item.respondent for item in changes))
    if len(shown) == len(everyone):
        return everyone
    first = [item for item in changes if item.subscale == changes[0].subscale]
    order = sorted(first, key=lambda item: -item.cluster_delta)
    names = list(dict.fromkeys(item.respondent for item in order if item.respondent != PEOPLE))
    people = [name for name in shown if name == PEOPLE]
    room = len(shown) - len(people)
    return [*people, *names[: room // 2], *names[-(room - room // 2) :]]


def _of_subscale(
    result: AppraisalResult, scale: Scale, changes: list[ScaleChange], title: str
) -> Iterator[Figure]:
    """By emotion, by factor, and each administration where they are few."""
    first = changes[0]
    name = f"{first.scale}-{first.subscale}"
    drawn = shown_respondents(changes)
    mine = [change for change in changes if change.respondent in drawn]
    alone = f" of {drawn[0]}" if len(drawn) == 1 else ""
    emotions = [item for item in mine if item.level == "emotion"]
    if len({emotion.emotion for emotion in emotions}) > 1:
        chart = change_chart(emotions)
        note = _intervals(emotions)
        yield from optional_figure(
            f"emotions-{name}", f"{title}{alone}, by emotion", chart, note, wide=False
        )
    scores = result.scores.filter(
        pl.col("respondent").is_in(drawn), scale=first.scale, subscale=first.subscale
    )
    lowest, highest = score_range(scale, first.subscale)
    levels = levels_chart(scores, lowest=lowest, highest=highest)
    yield from optional_figure(f"levels-{name}", f"{title}{alone}", levels, _LEVELS, wide=False)
    factors = [item for item in mine if item.level == "factor"]
    if len({factor.factor for factor in factors}) > 1 and len(drawn) > 1:
        heatmap = factor_heatmap(factors)
        yield from optional_figure(f"factors-{name}", f"{title}, by factor", heatmap, _FACTORS)


def _intervals(changes: list[ScaleChange]) -> str:
    people = any(change.respondent == PEOPLE for change in changes)
    return f"{_CHANGES}; people are compared with themselves." if people else f"{_CHANGES}."


def subscale_title(scale: Scale, subscale: str) -> str:
    """`PANAS: Positive affect`."""
    name = next((part.name for part in scale.subscales if part.id == subscale), "total")
    return f"{scale.id.upper()}: {name}"


def score_range(scale: Scale, subscale: str) -> tuple[float, float]:
    """The lowest and highest score that is possible."""
    items = next((len(p.items) for p in scale.subscales if p.id == subscale), scale.items)
    times = {"sum": items, "double-sum": 2 * items, "mean": 1}[scale.rule]
    return scale.minimum * times, scale.maximum * times
