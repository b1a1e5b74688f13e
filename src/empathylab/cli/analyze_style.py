"""`empathylab analyze style`: how each respondent writes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from empathylab.cli.options import DEFAULT_LAB, JsonOption, LabOption

if TYPE_CHECKING:
    import polars as pl

    from empathylab.report.style_analysis import StyleAnalysis

EXAMPLE = (
    "Example: `empathylab analyze style replies.csv --json` · "
    "`empathylab analyze style --against human --figures figures`"
)

_MOST_DIFFERENCES = 12
_COLUMNS = "The file's columns"


def style(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]",
            help="CSV, JSONL or Parquet, a response per row; the lab's responses, if not given.",
        ),
    ] = None,
    dictionary: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Also count these words: LIWC's format (.dic), or a word a line (.txt); "
            "repeatable.",
        ),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="RESPONDENT",
            help="Compare the others with this one; each two, and each with the rest, if not "
            "given.",
        ),
    ] = None,
    folds: Annotated[
        int, typer.Option(help="Of the cross-validation that tells writers apart.", min=2)
    ] = 5,
    predict: Annotated[
        bool,
        typer.Option("--predict/--no-predict", help="Tell writers apart; takes most of the time."),
    ] = True,
    seed: Annotated[int, typer.Option(help="Decides every draw.")] = 1,
    figures: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write the charts here, as PNG, SVG and Vega-Lite JSON."),
    ] = None,
    respondent_column: Annotated[
        str, typer.Option(metavar="NAME", help="Who wrote it.", rich_help_panel=_COLUMNS)
    ] = "respondent",
    situation_column: Annotated[
        str, typer.Option(metavar="NAME", help="What it replies to.", rich_help_panel=_COLUMNS)
    ] = "situation",
    text_column: Annotated[
        str, typer.Option(metavar="NAME", help="What was written.", rich_help_panel=_COLUMNS)
    ] = "text",
    rating_column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="How the response was rated: a number, the best highest.",
            rich_help_panel=_COLUMNS,
        ),
    ] = None,
    words: Annotated[
        bool, typer.Option("--words", help="Print methods and results paragraphs, nothing else.")
    ] = False,
    table: Annotated[
        Literal["markdown", "latex", "csv"] | None,
        typer.Option(help="Print the table of features in this form, and nothing else."),
    ] = None,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Describes how respondents write, and how surely one can be told from another.

    Length, punctuation, emoji, words, readability and sentiment, with tests that take the
    situation as the unit; words and phrases that mark each respondent; whether the writer can be
    told from the text; tactics of empathic language, templates and repetition; and, where there
    are ratings, what in the style goes with better ones.
    """
    from empathylab.report.style_analysis import Depth
    from empathylab.style import read_lexicon

    options: dict[str, Any] = {
        "dictionaries": [read_lexicon(path) for path in dictionary or ()],
        "against": against,
        "folds": folds,
        "seed": seed,
        "depth": Depth(predict=predict),
    }
    if file is None:
        analysis = _of_lab(lab, options)
    else:
        columns = {
            "respondent": respondent_column,
            "situation": situation_column,
            "text": text_column,
        }
        analysis = _of_file(file, columns, rating_column, options)
    if figures is not None:
        _write_figures(analysis, figures)
    _show(analysis, words=words, table=table, json=json)


def _of_lab(folder: Path, options: dict[str, Any]) -> StyleAnalysis:
    from empathylab.report.lab_style import lab_style
    from empathylab.store import Lab

    with Lab.open(folder, create=False) as opened:
        return lab_style(opened, **options)


def _of_file(
    path: Path, columns: dict[str, str], rating: str | None, options: dict[str, Any]
) -> StyleAnalysis:
    from empathylab.report.style_analysis import analyse_style
    from empathylab.tables import read_table

    frame = read_table(path)
    for role, column in columns.items():
        _require(frame, column, path, f"--{role}-column")
    ratings = None if rating is None else _ratings(frame, columns, rating, path)
    named: dict[str, Any] = {**columns, **options}
    return analyse_style(frame, ratings=ratings, **named)


def _ratings(frame: pl.DataFrame, columns: dict[str, str], rating: str, path: Path) -> pl.DataFrame:
    """Each row's rating, by its respondent and situation (and sample, where there is one)."""
    import polars as pl

    from empathylab.tables import numbers

    _require(frame, rating, path, "--rating-column")
    named = {role: columns[role] for role in ("respondent", "situation")}
    if "sample" in frame.columns:
        named["sample"] = "sample"
    return frame.select(
        *(pl.col(column).alias(role) for role, column in named.items()),
        numbers(frame, rating, where=path.name).alias("rating"),
    )


def _require(frame: pl.DataFrame, column: str, path: Path, option: str) -> None:
    from empathylab.errors import UnknownName

    if column not in frame.columns:
        remedy = f"Say which column it is with {option}."
        raise UnknownName("column", column, frame.columns, where=path.name, remedy=remedy)


def _write_figures(analysis: StyleAnalysis, folder: Path) -> None:
    from empathylab.errors import InputError
    from empathylab.report.style_figures import write_figures

    try:
        written = write_figures(analysis, folder)
    except OSError as error:
        raise InputError(
            "the figures cannot be written",
            where="--figures",
            got=f"{folder}: {error.strerror or error}",
            remedy="Name a folder that can be written to.",
        ) from error
    typer.echo(f"{len(written)} files written to {folder}", err=True)


def _show(analysis: StyleAnalysis, *, words: bool, table: str | None, json: bool) -> None:
    if json:
        import json as encoder

        from empathylab.report.style_document import style_document

        found = style_document(analysis)
        typer.echo(encoder.dumps(found, indent=2, ensure_ascii=False, allow_nan=False))
    elif words:
        from empathylab.report.style_words import paragraphs

        typer.echo("\n\n".join(paragraphs(analysis)))
    elif table is not None:
        from empathylab.report.style_tables import feature_rows, feature_values
        from empathylab.report.table_formats import table as formatted

        # A spreadsheet wants numbers, a paper cells with intervals.
        rows = feature_values(analysis) if table == "csv" else feature_rows(analysis)
        caption = "Features per response, means with 95% intervals"
        typer.echo(formatted(rows, table, caption=caption), nl=False)
    else:
        _print(analysis)


def _print(analysis: StyleAnalysis) -> None:
    from empathylab.report.style_tables import (
        classification_rows,
        difference_rows,
        main_features,
        overview_rows,
        reuse_rows,
        tactic_rows,
    )
    from empathylab.report.style_words import distinctive_sentences, rated_sentences

    _print_rows("Per response", overview_rows(analysis))
    pairs = len({(one.respondent, one.against) for one in analysis.differences})
    most = max(2, _MOST_DIFFERENCES // max(1, pairs))
    _print_rows("Largest differences", difference_rows(analysis, most))
    for sentence in distinctive_sentences(analysis, 10):
        typer.echo(f"\n{sentence}")
    _print_rows("Can the writer be told?", classification_rows(analysis))
    _print_rows("Responses that use a tactic", tactic_rows(analysis))
    _print_rows("Repetition", reuse_rows(analysis))
    titles = main_features(analysis)
    for rated in analysis.rated:
        typer.echo(f"\n{rated_sentences(rated, titles)}")
    for sentence in analysis.notes:
        typer.echo(sentence, err=True)


def _print_rows(title: str, rows: list[dict[str, str]]) -> None:
    """Prints a table whose headings and cells may be names from a stranger's file."""
    import sys

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from empathylab.tables import clean_text

    if not rows:
        return
    printed = Table(box=None, padding=(0, 2, 0, 0))
    for column in rows[0]:
        printed.add_column(Text(clean_text(column)))
    for row in rows:
        printed.add_row(*(Text(clean_text(cell)) for cell in row.values()))
    typer.echo(f"\n{title}")
    Console(highlight=False, width=None if sys.stdout.isatty() else 1000).print(printed)
