"""The appraisal part of the report: charts and tables of changes, beside people's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from empathylab.analysis.appraisal.result import AppraisalResult, interval_of
from empathylab.report.appraisal.charts import change_chart, factor_heatmap, levels_chart
from empathylab.report.appraisal.tables import shown_respondents
from empathylab.scales import Scale
from empathylab.stats.intervals import Interval
from empathylab.stats.questionnaires.appraisal import ScaleChange

_MOST_TABLES = 24
_CAPTIONS = {
    "levels": "The dashed line is the mean at baseline, the band one standard deviation to either "
    "side; a dot is one administration after a situation, the upright bar an emotion’s mean.",
    "changes": "Change from baseline with 95% intervals, clustered by situation and item order; "
    "people are compared with themselves.",
    "factors": "Change from baseline after the situations of each factor.",
}


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart's place on the page."""

    kind: str
    """Where it belongs: `levels`, `changes` or `factors` here, other words in other sections."""
    title: str
    spec: int
    """Its number among the section's specifications."""
    caption: str = ""
    """What the reader of a paper must know of it: sentences."""


@dataclass(frozen=True, slots=True)
class TableRow:
    """One line of a respondent's table."""

    change: ScaleChange
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class AppraisalSection:
    """What the page shows of the appraisals."""

    figures: tuple[Figure, ...]
    specs: tuple[dict[str, Any], ...]
    tables: dict[tuple[str, str], tuple[TableRow, ...]]
    """By respondent and scale; of very many respondents, of the first."""
    left_out: int = 0
    """Respondents without a table."""


def appraisal_section(analysis: AppraisalResult) -> AppraisalSection:
    """The section's figures and tables; empty where nothing was answered."""
    figures: list[Figure] = []
    specs: list[dict[str, Any]] = []

    def add(kind: str, title: str, spec: dict[str, Any] | None) -> None:
        if spec is not None:
            figures.append(Figure(kind, title, len(specs), _CAPTIONS[kind]))
            specs.append(spec)

    scales = {scale.id: scale for scale in analysis.scales}
    groups = dict.fromkeys((one.scale, one.subscale) for one in analysis.changes)
    everybody = len({one.respondent for one in analysis.changes})
    for scale_id, subscale in groups:
        scale = scales[scale_id]
        mine = [
            one
            for one in analysis.changes
            if (one.scale, one.subscale) == (scale_id, subscale) and not math.isnan(one.delta)
        ]
        lowest, highest = _range(scale, subscale)
        drawn = shown_respondents(mine)
        title = _title(scale, subscale)
        alone = f" of {drawn[0]}" if len(drawn) == 1 < everybody else ""
        scores = analysis.scores.filter(
            pl.col("respondent").is_in(drawn), scale=scale_id, subscale=subscale
        )
        levels = levels_chart(scores, lowest=lowest, highest=highest)
        add("levels", title + alone, levels)
        mine = [one for one in mine if one.respondent in drawn]
        emotions = [one for one in mine if one.level == "emotion"]
        if emotions and (levels is None or len({one.respondent for one in mine}) > 1):
            add("changes", f"{title}{alone}, change", change_chart(emotions))
        factors = [one for one in mine if one.level == "factor"]
        if len({one.factor for one in factors}) > 1 and len({one.respondent for one in mine}) > 1:
            add("factors", f"{title}, change by factor", factor_heatmap(factors))
    names = list(dict.fromkeys(one.respondent for one in analysis.changes))
    tables = _tables(analysis, names[:_MOST_TABLES])
    return AppraisalSection(tuple(figures), tuple(specs), tables, max(0, len(names) - _MOST_TABLES))


def _title(scale: Scale, subscale: str) -> str:
    name = next((part.name for part in scale.subscales if part.id == subscale), "total")
    return f"{scale.id.upper()}: {name}"


def _range(scale: Scale, subscale: str) -> tuple[float, float]:
    """The lowest and highest score that can be had."""
    items = next((len(p.items) for p in scale.subscales if p.id == subscale), scale.items)
    times = {"sum": items, "double-sum": 2 * items, "mean": 1}[scale.rule]
    return scale.minimum * times, scale.maximum * times


def _tables(
    analysis: AppraisalResult, names: Sequence[str]
) -> dict[tuple[str, str], tuple[TableRow, ...]]:
    tables: dict[tuple[str, str], list[TableRow]] = {}
    shown = set(names)
    for one in analysis.changes:
        if one.respondent not in shown:
            continue
        rows = tables.setdefault((one.respondent, one.scale), [])
        rows.append(TableRow(one, interval_of(one)))
    return {key: tuple(rows) for key, rows in tables.items()}
