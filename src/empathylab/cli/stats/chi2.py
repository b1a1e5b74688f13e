"""`empathylab stats chi2`: are two columns of a table independent?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from empathylab.cli.options import (
    JsonOption,
    TableFormat,
    argument,
    option,
    table_option,
)
from empathylab.cli.tables import print_formatted, print_json, print_rows
from empathylab.errors import UnknownName
from empathylab.tables import missing_as_null, read_table

if TYPE_CHECKING:
    from empathylab.stats.arms import ContingencyTest, RaoScott

EXAMPLE = "Example: `empathylab stats chi2 ratings.csv --rows arm --columns rating --cluster rater`"


def chi2(
    file: Annotated[Path, argument("A table: CSV, TSV, JSONL or Parquet.")],
    rows: Annotated[str, option("The column shown as rows.")],
    columns: Annotated[str, option("The column shown as columns.")],
    cluster: Annotated[
        str | None, option("The column that identifies people, if they answered several times.")
    ] = None,
    yates: Annotated[
        bool, option("Continuity correction of a 2×2 table.", "--yates/--no-yates")
    ] = True,
    simulations: Annotated[
        int, option("Simulated tables for p if expected counts are small; 0 for none.", min=0)
    ] = 10_000,
    seed: Annotated[int, option("Seed of the simulation.")] = 1,
    table: Annotated[TableFormat | None, table_option("the counts")] = None,
    json: JsonOption = False,
) -> None:
    """Cross-tabulates two columns and tests whether they are independent.

    Computes Pearson's chi-square (with Yates' correction for 2×2 tables) and Cramér's V. If
    expected counts are below 5, uses Fisher's exact test or a simulation. With --cluster, also
    computes Rao and Scott's test, for people who gave several answers.
    """
    from empathylab.stats.arms import cross_table, independence_test, rao_scott

    used = [rows, columns, *([cluster] if cluster else [])]
    frame = missing_as_null(read_table(file))
    for name in used:
        if name not in frame.columns:
            raise UnknownName("column", name, frame.columns, where=file.name)
    frame = frame.select(list(dict.fromkeys(used)))
    kept = frame.drop_nulls()
    counts, row_names, column_names = cross_table(kept[rows].to_list(), kept[columns].to_list())
    test = independence_test(counts, yates=yates, simulations=simulations, seed=seed)
    clustered = rao_scott(kept[rows], kept[columns], kept[cluster]) if cluster else None
    # A level may be called like the column that makes the rows.
    heads = [f"{columns}: {name}" for name in column_names]
    if rows not in column_names:
        heads = [str(name) for name in column_names]
    shown = [
        {rows: name, **dict(zip(heads, line.tolist(), strict=True))}
        for name, line in zip(row_names, counts, strict=True)
    ]
    if table is not None:
        print_formatted(shown, table)
        return
    words = _words(test, clustered, rows, columns)
    dropped = frame.height - kept.height
    if json:
        from empathylab.analysis.json_values import json_value

        document = {
            "rows": row_names,
            "columns": column_names,
            "counts": counts.tolist(),
            **json_value(test),
            "dropped": dropped,
            "clustered": json_value(clustered),
            "words": words,
        }
        print_json(document)
        return

    print_rows(shown, as_named=[rows, *heads])
    typer.echo(words)
    if dropped:
        lines = "1 row" if dropped == 1 else f"{dropped} rows"
        typer.echo(f"{lines} with an empty cell left out.", err=True)


def _words(test: ContingencyTest, clustered: RaoScott | None, rows: str, columns: str) -> str:
    from empathylab.analysis.text.apa import bounded, contingency_text, p_text
    from empathylab.analysis.text.notes import note_text
    from empathylab.analysis.text.numbers import number

    if test.method == "none":
        return f"{rows} and {columns} cannot be tested: {note_text(test.note)}."
    yates = test.correction == "yates" and test.method == "chi-square"
    corrected = " (Yates' correction)" if yates else ""
    first = (
        f"{rows} and {columns}: {contingency_text(test)}{corrected}, Cramér's V = "
        f"{bounded(test.cramers_v.estimate)}."
    )
    sentences = [first]
    if clustered is not None and clustered.note:
        sentences.append(f"There is no clustered test: {note_text(clustered.note)}.")
    elif clustered is not None:
        sentences.append(
            f"Allowing for {number(clustered.clusters, 0)} clusters (design effect "
            f"{number(clustered.design_effect, 2)}): Rao and Scott's F({number(clustered.df, 2)}, "
            f"{number(clustered.df_denominator)}) = {number(clustered.f, 2)}, "
            f"{p_text(clustered.p)}."
        )
    return " ".join(sentences)
