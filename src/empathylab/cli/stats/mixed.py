"""`empathylab stats clmm` and `lmm`: mixed models of any table of ratings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from empathylab.cli.options import (
    ConfidenceOption,
    JsonOption,
    TableFormat,
    argument,
    option,
    table_option,
)
from empathylab.cli.tables import print_formatted, print_json, print_rows, print_titled
from empathylab.tables import key_values, missing_as_null, read_table

if TYPE_CHECKING:
    import polars as pl

    from empathylab.stats.mixed import Clmm, Lmm

CLMM_EXAMPLE = (
    'Example: `empathylab stats clmm ratings.csv --formula "rating ~ arm + (1|rater) + '
    '(1|situation)" --reference arm=human`'
)
LMM_EXAMPLE = (
    'Example: `empathylab stats lmm ratings.csv --formula "rating ~ arm + (1|rater) + '
    '(1|situation)" --reference arm=human`'
)

FileArgument = Annotated[
    Path, argument("A long table (CSV, TSV, JSONL or Parquet): one rating per row.")
]
FormulaOption = Annotated[
    str, option("As in lme4: rating ~ arm * valence + (1|rater) + (1|situation)")
]
ReferenceOption = Annotated[
    list[str] | None,
    option("The level that the others are compared with; repeatable.", metavar="FACTOR=LEVEL"),
]
MeansOption = Annotated[
    list[str] | None,
    option("Also print means and contrasts of this factor; repeatable.", metavar="FACTOR"),
]
CorrectionOption = Annotated[
    Literal["holm", "benjamini-hochberg", "bonferroni", "none"],
    option("Correction of the contrasts' p values."),
]
TableOption = Annotated[TableFormat | None, table_option("the coefficients")]
WordsOption = Annotated[bool, option("Print only a methods and a results paragraph.", "--words")]


def clmm(
    file: FileArgument,
    formula: FormulaOption,
    reference: ReferenceOption = None,
    levels: Annotated[
        str | None, option("The rating's categories, lowest first, if they are words.")
    ] = None,
    link: Annotated[
        Literal["logit", "probit"], option("The distribution of the latent scale.")
    ] = "logit",
    means: MeansOption = None,
    correction: CorrectionOption = "holm",
    confidence: ConfidenceOption = 0.95,
    table: TableOption = None,
    words: WordsOption = False,
    json: JsonOption = False,
) -> None:
    """Fits a cumulative link mixed model: ordered ratings, crossed raters and situations.

    Uses the Laplace approximation, like R's ordinal::clmm. The formula may have any number of
    random intercepts and slopes.
    """
    from empathylab.stats.mixed import clmm as fit

    frame = read_numbers(file)
    given = key_values(reference, option="--reference", form="FACTOR=LEVEL")
    order = [part.strip() for part in levels.split(",")] if levels else None
    model = fit(frame, formula, link=link, reference=given, levels=order, confidence=confidence)
    _print(model, means or [], correction, table, words=words, as_json=json)


def lmm(
    file: FileArgument,
    formula: FormulaOption,
    reference: ReferenceOption = None,
    reml: Annotated[bool, option("Restricted or full maximum likelihood.", "--reml/--ml")] = True,
    means: MeansOption = None,
    correction: CorrectionOption = "holm",
    confidence: ConfidenceOption = 0.95,
    table: TableOption = None,
    words: WordsOption = False,
    json: JsonOption = False,
) -> None:
    """Fits a linear mixed model with crossed random effects, like R's lme4.

    Tests use Satterthwaite's degrees of freedom.
    """
    from empathylab.stats.mixed import lmm as fit

    frame = read_numbers(file)
    given = key_values(reference, option="--reference", form="FACTOR=LEVEL")
    model = fit(frame, formula, reml=reml, reference=given, confidence=confidence)
    _print(model, means or [], correction, table, words=words, as_json=json)


def read_numbers(file: Path) -> pl.DataFrame:
    """The table, with numeric columns as numbers; columns of words become factors."""
    import polars as pl

    frame = missing_as_null(read_table(file))
    return frame.with_columns(
        numeric.alias(name)
        for name in frame.columns
        if frame[name].dtype == pl.String and (numeric := _as_numbers(frame[name])) is not None
    )


def _as_numbers(series: pl.Series) -> pl.Series | None:
    import polars as pl

    cast = series.str.strip_chars().cast(pl.Float64, strict=False)
    return cast if cast.null_count() == series.null_count() and len(cast.drop_nulls()) else None


def _print(
    model: Clmm | Lmm,
    means: list[str],
    correction: str,
    table: str | None,
    *,
    words: bool,
    as_json: bool,
) -> None:
    from empathylab.analysis.ratings.mixed_model_prose import model_methods, model_results
    from empathylab.analysis.ratings.mixed_models import (
        coefficient_table,
        contrast_table,
        mean_table,
        missing_value,
        mixed_model_row,
        random_table,
    )
    from empathylab.analysis.text.apa import counted
    from empathylab.analysis.text.notes import note_text

    if as_json:
        print_json(mixed_model_row(model, means=means, correction=correction))
        return
    if words:
        typer.echo(f"{model_methods(model)}\n\n{model_results(model)}")
        return
    if table is not None:
        print_formatted(coefficient_table(model), table, caption=model.formula)
        return

    typer.echo(f"{model.formula}, n = {model.n:,}")
    for factor, levels in model.design.factors.items():
        typer.echo(f"Reference level of {factor}: {levels[0]}")
    typer.echo()
    print_rows(coefficient_table(model))
    print_titled("Random effects", random_table(model))
    typer.echo(f"\nlog-likelihood {model.log_likelihood:.3f}, AIC {model.aic:.2f}")
    for factor in means:
        print_titled(f"Means of {factor}", mean_table(model, factor))
        contrasts = contrast_table(model, factor, correction)
        print_titled(f"Contrasts of {factor} (p: {correction})", contrasts)
    for name, count in model.dropped.items():
        typer.echo(f"{counted(count, 'row')} left out: {missing_value(name)}.", err=True)
    for note in (*model.notes, *model.problems):
        typer.echo(note_text(note), err=True)
