"""The ratings part of the report: how the arms were rated, and by whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from empathylab.report.appraisal_section import Figure
from empathylab.report.mixed_rows import coefficient_table, random_table
from empathylab.report.ratings_analysis import RatingsAnalysis
from empathylab.report.ratings_charts import emotions_chart, means_chart, shares_chart
from empathylab.report.ratings_document import notes, paragraphs
from empathylab.report.ratings_models import DimensionModel
from empathylab.report.ratings_rows import comparison_table, count_table, mean_table, rater_table

Rows = tuple[dict[str, str], ...]
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

    analysis: RatingsAnalysis
    figures: tuple[Figure, ...]
    counts: Rows
    tests: Rows
    emotions: Rows
    means: Rows
    """Of dimensions compared by their means."""
    mean_emotions: Rows
    models: tuple[ModelTable, ...]
    raters: Rows
    notes: tuple[str, ...]
    paragraphs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RatingsSection:
    """What the page shows of the rated studies."""

    studies: tuple[StudySection, ...]
    specs: tuple[dict[str, Any], ...]


def ratings_section(analyses: tuple[RatingsAnalysis, ...]) -> RatingsSection:
    """The figures and tables of every study."""
    specs: list[dict[str, Any]] = []
    return RatingsSection(tuple(_study(one, specs) for one in analyses), tuple(specs))


def _study(analysis: RatingsAnalysis, specs: list[dict[str, Any]]) -> StudySection:
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
        notes=tuple(notes(analysis)),
        paragraphs=tuple(paragraphs(analysis)),
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


def _figures(analysis: RatingsAnalysis, specs: list[dict[str, Any]]) -> list[Figure]:
    figures: list[Figure] = []

    def add(kind: str, title: str, spec: dict[str, Any] | None) -> None:
        if spec is not None:
            figures.append(Figure(kind, title, len(specs)))
            specs.append(spec)

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
            add("shares", title, shares_chart(comparison, dimension, subset))
        title = f"{named}Good ratings by emotion"
        add("emotions", title, emotions_chart(comparison, dimension))
    for one in analysis.means:
        if not one.constant:
            add("shares", f"Mean {one.dimension}, with 95% interval", means_chart(one))
    return figures
