"""The appraisal part of the report: charts and tables of change, beside people's."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from empathylab.report.appraisal_analysis import AppraisalAnalysis
from empathylab.report.charts import change_chart, factor_heatmap, levels_chart
from empathylab.scales import Scale
from empathylab.stats.appraisal import ScaleChange
from empathylab.stats.intervals import Interval, change_interval


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart's place on the page."""

    kind: str
    """`levels`, `changes` or `factors`."""
    title: str
    spec: int
    """Its number among the section's specifications."""


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
    """By respondent and scale."""


def appraisal_section(analysis: AppraisalAnalysis) -> AppraisalSection:
    """The section's figures and tables; empty where nothing was answered."""
    figures: list[Figure] = []
    specs: list[dict[str, Any]] = []

    def add(kind: str, title: str, spec: dict[str, Any] | None) -> None:
        if spec is not None:
            figures.append(Figure(kind, title, len(specs)))
            specs.append(spec)

    scales = {scale.id: scale for scale in analysis.scales}
    groups = dict.fromkeys((one.scale, one.subscale) for one in analysis.changes)
    for scale_id, subscale in groups:
        scale = scales[scale_id]
        mine = [
            one
            for one in analysis.changes
            if (one.scale, one.subscale) == (scale_id, subscale) and not math.isnan(one.delta)
        ]
        lowest, highest = _range(scale, subscale)
        title = _title(scale, subscale)
        scores = analysis.scores.filter(scale=scale_id, subscale=subscale)
        levels = levels_chart(scores, lowest=lowest, highest=highest)
        add("levels", title, levels)
        emotions = [one for one in mine if one.level == "emotion"]
        if emotions and (levels is None or len({one.respondent for one in mine}) > 1):
            add("changes", title, change_chart(emotions))
        factors = [one for one in mine if one.level == "factor"]
        if len({one.factor for one in factors}) > 1 and len({one.respondent for one in mine}) > 1:
            add("factors", title, factor_heatmap(factors))
    return AppraisalSection(tuple(figures), tuple(specs), _tables(analysis))


def _title(scale: Scale, subscale: str) -> str:
    name = next((part.name for part in scale.subscales if part.id == subscale), "total")
    return f"{scale.id.upper()}: {name}"


def _range(scale: Scale, subscale: str) -> tuple[float, float]:
    """The lowest and highest score that can be had."""
    items = next((len(p.items) for p in scale.subscales if p.id == subscale), scale.items)
    times = {"sum": items, "double-sum": 2 * items, "mean": 1}[scale.rule]
    return scale.minimum * times, scale.maximum * times


def _tables(analysis: AppraisalAnalysis) -> dict[tuple[str, str], tuple[TableRow, ...]]:
    tables: dict[tuple[str, str], list[TableRow]] = {}
    for one in analysis.changes:
        rows = tables.setdefault((one.respondent, one.scale), [])
        rows.append(TableRow(one, change_interval(one)))
    return {key: tuple(rows) for key, rows in tables.items()}
