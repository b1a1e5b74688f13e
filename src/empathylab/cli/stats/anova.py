"""`empathylab stats anova`: F tests of a factorial design in any table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from empathylab.cli.options import (
    ConfidenceOption,
    JsonOption,
    TableFormat,
    argument,
    option,
    table_option,
)
from empathylab.cli.tables import print_formatted, print_json, print_notes, print_rows

if TYPE_CHECKING:
    from empathylab.stats.anova import Anova

EXAMPLE = 'Example: `empathylab stats anova ratings.csv --formula "empathy ~ author * label"`'


def anova(
    file: Annotated[Path, argument("A table: CSV, TSV, JSONL or Parquet.")],
    formula: Annotated[str, option('The model, as "y ~ a * b".')],
    kind: Annotated[
        Literal["II", "III"] | None,
        option("Print tests of one type only.", "--type", show_default="both"),
    ] = None,
    confidence: ConfidenceOption = 0.95,
    table: Annotated[TableFormat | None, table_option("the tests")] = None,
    json: JsonOption = False,
) -> None:
    """Computes an analysis of variance: F tests of types II and III, partial η², cell means.

    Rows must be independent; use `stats lmm` if people gave several values.
    """
    from empathylab.cli.stats.mixed import read_numbers
    from empathylab.stats.anova import anova as fitted

    result = fitted(read_numbers(file), formula, confidence=confidence)
    terms = [term for term in result.terms if kind in (None, term.type)]
    if json:
        from empathylab.analysis.json_values import json_value

        print_json(json_value(_document(result, terms) | {"notes": _notes(terms)}))
        return
    if table is not None:
        print_formatted(_rows(terms), table, caption="Analysis of variance")
        return
    from empathylab.analysis.text.apa import counted

    print_rows(_rows(terms))
    if result.cells:
        print_rows(_cell_rows(result))
    typer.echo(f"{counted(result.n, 'row')}.")
    if result.empty_cells:
        typer.echo(
            f"{counted(result.empty_cells, 'combination')} of levels without rows: type III tests "
            "are not defined.",
            err=True,
        )
    dropped = sum(result.dropped.values())
    if dropped:
        typer.echo(f"{counted(dropped, 'row')} with an empty cell excluded.", err=True)
    print_notes(_notes(terms))


def _notes(terms: list[Any]) -> list[str]:
    """What could not be tested, with the remedy."""
    from empathylab.analysis.text.notes import note_text
    from empathylab.stats.notes import note

    untested = dict.fromkeys(term.term for term in terms if not term.df)
    return [note_text(note("aliased_columns", columns=tuple(untested)))] if untested else []


def _document(result: Anova, terms: list[Any]) -> dict[str, Any]:
    from empathylab.analysis.json_values import picked

    return {
        "terms": [
            {("F" if name == "f" else name): value for name, value in term._asdict().items()}
            for term in terms
        ],
        "cells": [{**cell.levels, **picked(cell, "n mean sd low high")} for cell in result.cells],
        **picked(result, "n dropped empty_cells residual_sd r2 confidence"),
    }


def _rows(terms: list[Any]) -> list[dict[str, str]]:
    from empathylab.analysis.text.numbers import number, p_value

    return [
        {
            "term": term.term,
            "type": term.type,
            "F": number(term.f, 2),
            "df": f"{term.df}, {term.df_residual}",
            "p": p_value(term.p),
            "partial η²": number(term.partial_eta2, 3),
            "interval": f"[{number(term.partial_eta2_low, 3)}, "
            f"{number(term.partial_eta2_high, 3)}]",
        }
        for term in terms
    ]


def _cell_rows(result: Anova) -> list[dict[str, str]]:
    from empathylab.analysis.text.numbers import number

    return [
        {
            **cell.levels,
            "n": number(cell.n, 0),
            "mean": number(cell.mean, 2),
            "sd": number(cell.sd, 2),
            "interval": f"[{number(cell.low, 2)}, {number(cell.high, 2)}]",
        }
        for cell in result.cells
    ]
