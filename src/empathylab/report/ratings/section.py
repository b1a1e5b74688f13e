"""The ratings part of the report: how the arms were rated, and by whom."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from empathylab.analysis.ratings import RatingsResult
from empathylab.analysis.ratings.collection_periods import collection_table
from empathylab.analysis.ratings.mixed_models import coefficient_table, random_table
from empathylab.analysis.ratings.model import DimensionModel
from empathylab.analysis.ratings.power import PowerSetting, power_setting
from empathylab.analysis.ratings.raters import INCONSISTENCIES
from empathylab.analysis.ratings.rows import comparison_table, count_table, mean_table, rater_table
from empathylab.analysis.results import Conclusion
from empathylab.analysis.text.numbers import number, percent
from empathylab.report.appraisal.section import Figure
from empathylab.report.ratings.charts import emotions_chart, means_chart, shares_chart
from empathylab.report.ratings.model_charts import forest_chart, model_means_chart, power_chart
from empathylab.report.ratings.rater_charts import (
    inconsistency_chart,
    levels_chart,
    numbers_chart,
    variable_title,
)
from empathylab.report.ratings.specification_chart import specification_chart

Rows = tuple[dict[str, str], ...]
Drawn = tuple[str, str, dict[str, Any] | None, str]
"""A figure's kind, title, specification and caption."""
_EMOTIONS = "Proportion of good ratings with Wilson’s 95% interval; largest difference first."
_FOREST = "Coefficients with 95% intervals, raters and situations as random effects; against {}."
_MEANS = "Estimated means with 95% intervals, raters and situations as random effects."
_SPECIFICATIONS = "The same comparison under every reasonable choice, smallest estimate first."
_CONTRADICTIONS = "Answers on the other side of the midpoint than most of the rater’s answers."
_TITLES = {
    "all": "all situations",
    "positive": "positive situations",
    "negative": "negative situations",
}


@dataclass(frozen=True, slots=True)
class ModelTable:
    """A mixed model as the page shows it."""

    model: DimensionModel
    coefficients: Rows
    random: Rows


@dataclass(frozen=True, slots=True)
class StudySection:
    """One study's part of the page."""

    analysis: RatingsResult
    figures: tuple[Figure, ...]
    counts: Rows
    tests: Rows
    emotions: Rows
    means: Rows
    """Of dimensions compared by their means."""
    mean_emotions: Rows
    models: tuple[ModelTable, ...]
    raters: Rows
    collected: Rows
    """When the arms were rated."""
    conclusions: tuple[Conclusion, ...]
    notes: tuple[str, ...]
    paragraphs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RatingsSection:
    """What the page shows of the rated studies."""

    studies: tuple[StudySection, ...]
    specs: tuple[dict[str, Any], ...]


def ratings_section(analyses: tuple[RatingsResult, ...]) -> RatingsSection:
    """The figures and tables of every study."""
    specs: list[dict[str, Any]] = []
    return RatingsSection(tuple(_study(one, specs) for one in analyses), tuple(specs))


def _study(analysis: RatingsResult, specs: list[dict[str, Any]]) -> StudySection:
    comparison = analysis.comparison
    compared = analysis.rater_comparison
    models = [
        ModelTable(
            one,
            tuple(coefficient_table(one.model)) if one.model else (),
            tuple(random_table(one.model)) if one.model else (),
        )
        for one in analysis.models
    ]
    kinds = ("all", "valence")
    named = len(analysis.dimensions) > 1
    tests = [row for kind in kinds for row in comparison_table(comparison, kind, named=named)]
    varied = [one for one in analysis.means if not one.constant]
    return StudySection(
        analysis=analysis,
        figures=tuple(_figures(analysis, specs)),
        counts=tuple(row for kind in kinds for row in count_table(comparison, kind, named=named)),
        tests=tuple(_narrow(row) for row in tests),
        emotions=tuple(comparison_table(comparison, "emotion", named=named)),
        means=tuple(row for kind in kinds for row in mean_table(varied, kind)),
        mean_emotions=tuple(mean_table(varied, "emotion")),
        models=tuple(models),
        raters=tuple(rater_table(compared)) if compared else (),
        collected=tuple(collection_table(analysis.collected)),
        conclusions=analysis.conclusions,
        notes=analysis.caveats,
        paragraphs=tuple(analysis.paragraphs()),
    )


def _narrow(row: dict[str, str]) -> dict[str, str]:
    """Without what two tests do not need, and with the test to believe where it is seen."""
    trusted = "p clustered"
    rest = {name: cell for name, cell in row.items() if name not in ("p BH", trusted)}
    found: dict[str, str] = {}
    for name, cell in rest.items():
        if name == "χ²" and trusted in row:
            found[trusted] = row[trusted]
        found[name] = cell
    return found


def _figures(analysis: RatingsResult, specs: list[dict[str, Any]]) -> list[Figure]:
    figures = []
    for kind, title, spec, caption in _drawn(analysis):
        if spec is not None:
            figures.append(Figure(kind, title, len(specs), caption))
            specs.append(spec)
    return figures


def _drawn(analysis: RatingsResult) -> Iterator[Drawn]:
    comparison = analysis.comparison
    several = len(analysis.dimensions) > 1
    for dimension in comparison.scales:
        named = f"{dimension}: " if several else ""
        shown = [
            one.subset
            for one in comparison.counts
            if one.dimension == dimension and one.kind in ("all", "valence")
        ]
        for subset in dict.fromkeys(shown):
            title = f"{named}Ratings, {_TITLES.get(subset, subset)}"
            chart = shares_chart(comparison, dimension, subset)
            yield "shares", title, chart, "Proportions of each arm’s ratings."
        title = f"{named}Good ratings by emotion"
        yield "emotions", title, emotions_chart(comparison, dimension), _EMOTIONS
    for one in analysis.means:
        if not one.constant:
            title = f"Mean {one.dimension}, with 95% interval"
            yield "shares", title, means_chart(one), "Raters are the independent units."
    yield from _of_models(analysis, several=several)
    yield from _of_raters(analysis)


def _of_models(analysis: RatingsResult, *, several: bool) -> Iterator[Drawn]:
    title = "Mixed models: coefficients" if len(analysis.models) > 1 else "Mixed model"
    yield "models", title, forest_chart(analysis.models), _FOREST.format(analysis.reference)
    for one in analysis.models:
        named = f"{one.dimension}: m" if several else "M"
        yield "models", f"{named}eans from the mixed model", model_means_chart(one), _MEANS
    if analysis.multiverse is not None:
        chart = specification_chart(analysis.multiverse)
        yield "models", "Specification curve", chart, _SPECIFICATIONS
    for dimension in analysis.comparison.scales:
        given = power_setting(analysis.comparison, dimension)
        if given is not None and analysis.study.design == "between":
            named = f"{dimension}: p" if several else "P"
            yield "models", f"{named}ower of a study like this", power_chart(given), _power(given)


def _of_raters(analysis: RatingsResult) -> Iterator[Drawn]:
    compared = analysis.rater_comparison
    for one in compared.numeric if compared else ():
        if one.variable != INCONSISTENCIES:
            title = f"Raters: {variable_title(one.variable)}"
            yield "raters", title, numbers_chart(one), "Proportions of each arm’s raters."
    if analysis.inconsistencies is not None:
        chart = inconsistency_chart(analysis.inconsistencies)
        yield "raters", "Raters: contradictions in the questionnaire", chart, _CONTRADICTIONS
    for two in compared.categorical if compared else ():
        title = f"Raters: {variable_title(two.variable)}"
        pooled = f" Pooled as others: {', '.join(two.pooled)}." if two.pooled else ""
        yield "raters", title, levels_chart(two), f"Proportions of each arm’s raters.{pooled}"


def _power(given: PowerSetting) -> str:
    return (
        f"Power of the test of two proportions at α = .05 if {given.reference} has "
        f"{percent(given.share)} good ratings and each rater gives {given.ratings_per_rater} "
        f"ratings with an ICC of {number(given.icc, 3)}; the dashed line is this study."
    )
