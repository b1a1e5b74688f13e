"""What `analyze ratings` prints and draws."""

from __future__ import annotations

from pathlib import Path

import typer

from empathylab.analysis.ratings import RatingsResult
from empathylab.analysis.ratings.collection_periods import collection_table
from empathylab.analysis.ratings.methods_prose import compared_text, raters_sentence
from empathylab.analysis.ratings.mixed_models import coefficient_table, random_table
from empathylab.analysis.ratings.model import DimensionModel
from empathylab.analysis.ratings.multiverse import Multiverse
from empathylab.analysis.ratings.prose import means_paragraph
from empathylab.analysis.ratings.rows import (
    comparison_table,
    conclusion_table,
    count_table,
    mean_table,
    of_arm,
    rater_table,
)
from empathylab.analysis.ratings.sentences import with_caveats
from empathylab.analysis.text.notes import note_text
from empathylab.analysis.text.numbers import number, p_value, signed
from empathylab.cli.tables import print_notes, print_rows, print_titled
from empathylab.errors import InputError
from empathylab.files import write_text
from empathylab.stats.mixed import Clmm


def paper_rows(analysis: RatingsResult, by: str | None) -> list[dict[str, str]]:
    """The conclusions, or the tests at a level; of one arm or without counts what else there is."""
    if by is None:
        whole = [item for item in analysis.conclusions if item.subset == "all"]
        return conclusion_table(whole)
    named = len(analysis.dimensions) > 1
    tests = comparison_table(analysis.comparison, by, named=named)
    counts = [] if tests else count_table(analysis.comparison, by, named=named)
    others = [mean for mean in analysis.means if mean.dimension not in analysis.comparison.scales]
    return [*tests, *counts, *mean_table(others, by)]


def print_ratings(analysis: RatingsResult, by: str) -> None:
    """Conclusions, tables and models on standard output; what to know about them beside it."""
    kinds = ("all", "valence", "emotion")
    shown = kinds[: kinds.index(by) + 1]
    named = len(analysis.dimensions) > 1
    typer.echo(f"{analysis.study.title}: {compared_text(analysis.reference_arm, analysis.arms)}")
    typer.echo(f"{raters_sentence(analysis.recognised)}\n".lstrip())
    overall = [item for item in analysis.conclusions if item.subset == "all"]
    caveats, sentences = with_caveats(overall)
    for sentence in sentences:
        typer.echo(f"- {sentence}")
    for caveat in caveats:
        typer.echo(f"All comparisons: {caveat}")
    if analysis.different_periods:
        print_titled("When were the arms rated?", collection_table(analysis.collected))
        _print_raters(analysis)
    comparison = analysis.comparison
    varied = [mean for mean in analysis.means if not mean.constant]
    tables = [
        [row for kind in shown for row in count_table(comparison, kind, named=named)],
        [row for kind in shown for row in comparison_table(comparison, kind, named=named)],
        [row for kind in shown for row in mean_table(varied, kind)],
    ]
    for rows in tables:
        print_titled("", rows)
    for model in analysis.models:
        typer.echo(f"\n{model.dimension}: {model.model.formula if model.model else model.problem}")
        if model.model is not None:
            print_rows(coefficient_table(model.model))
            rows = [row | _sd_interval(model, row["group"]) for row in random_table(model.model)]
            print_rows(rows)
    if not analysis.different_periods:
        _print_raters(analysis)
    if analysis.bayes:
        typer.echo("\nBayesian models")
        for conclusion in analysis.bayes_conclusions:
            typer.echo(" ".join([f"- {conclusion}", *conclusion.caveats]))
    if analysis.multiverse is not None:
        _print_multiverse(analysis.multiverse)
    print_notes(_asides(analysis))


def draw_specifications(multiverse: Multiverse, file: Path) -> None:
    """Writes the specification curve as SVG."""
    from empathylab.report.pictures import svg  # charts load slowly
    from empathylab.report.ratings.specification_chart import specification_chart

    spec = specification_chart(multiverse)
    if spec is None:
        raise InputError("no specification could be estimated", remedy="Omit --chart.")
    write_text(file, svg(spec))


def _print_multiverse(multiverse: Multiverse) -> None:
    typer.echo("\nSpecifications")
    for sentence in multiverse.sentences():
        typer.echo(f"- {sentence}")
    rows = [
        {
            "dimension": specification.dimension,
            "arm": specification.arm,
            "outcome": specification.outcome,
            "method": specification.method,
            "clustering": specification.clustering,
            "excluded": specification.exclusions,
            "SDs": f"{signed(specification.estimate, 2)} [{number(specification.low, 2)}, "
            f"{number(specification.high, 2)}]",
            "p": p_value(specification.p),
        }
        for specification in multiverse.specifications
    ]
    print_rows(rows)


def _sd_interval(model: DimensionModel, group: str) -> dict[str, str]:
    """The standard deviation's interval, where one was asked for."""
    if model.bootstrap is None and not model.spread:
        return {}
    interval = model.spread.get(group)
    if interval is None and model.bootstrap is not None:
        interval = model.bootstrap.intervals.get(f"sd({group})")  # type: ignore[assignment]
    cell = "–" if interval is None else f"[{number(interval.low, 3)}, {number(interval.high, 3)}]"
    return {"sd interval": cell}


def _print_raters(analysis: RatingsResult) -> None:
    compared = analysis.rater_comparison
    if compared is not None:
        headings = [of_arm(arm) for arm in compared.arms]
        print_titled("Are the arms' raters similar?", rater_table(compared), as_named=headings)


def _asides(analysis: RatingsResult) -> list[str]:
    lines = list(analysis.caveats)
    lines += [means_paragraph(mean) for mean in analysis.means if mean.constant]
    lines += [
        f"On {dimension}, good means a rating of {scale.good_label}; --good-from sets another "
        "threshold."
        for dimension, scale in analysis.comparison.scales.items()
        if scale.good_label != "Good"
    ]
    several = len(analysis.dimensions) > 1
    lines += [
        f"{model.dimension}: {note_text(note)}" if several else note_text(note)
        for model in analysis.models
        if model.model is not None
        for note in (*model.model.notes, *model.model.problems)
    ]
    if any(isinstance(item.model, Clmm) and item.tests for item in analysis.models):
        lines.append(
            "p in the tables of ordinal models is Wald's (z). The conclusions use t tests, which "
            "allow for few raters and replies: report theirs."
        )
    lines += analysis.exclusion_paragraphs()
    return list(dict.fromkeys(lines))
