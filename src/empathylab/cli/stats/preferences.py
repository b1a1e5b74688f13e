"""`empathylab stats preferences`: who is preferred, from comparisons of two replies."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from empathylab.cli.options import (
    ConfidenceOption,
    JsonOption,
    TableFormat,
    argument,
    column_option,
    option,
    table_option,
)
from empathylab.cli.tables import print_formatted, print_json, print_notes, print_rows
from empathylab.tables import column_named, missing_as_null, read_table

if TYPE_CHECKING:
    import polars as pl

    from empathylab.stats.preferences.bradley_terry import BradleyTerry

EXAMPLE = "Example: `empathylab stats preferences pairs.csv --rater rater --order-effect`"


def preferences(
    file: Annotated[
        Path, argument("A table (CSV, TSV, JSONL or Parquet): one comparison per row.")
    ],
    first: Annotated[str, column_option("Whose reply was shown first.")] = "first",
    second: Annotated[str, column_option("Whose reply was shown second.")] = "second",
    outcome: Annotated[
        str, column_option("Which was preferred: first, second, tie, or its name.")
    ] = "outcome",
    rater: Annotated[
        str | None, column_option("The column with the rater, if raters compared several times.")
    ] = None,
    situation: Annotated[
        str | None,
        column_option("The column with the situation, if situations were used repeatedly."),
    ] = None,
    order_effect: Annotated[
        bool, option("Estimate the effect of being shown first.", "--order-effect")
    ] = False,
    prior: Annotated[
        float, option("Wins added to each side, if one side won every comparison.", min=0.0)
    ] = 0.0,
    confidence: ConfidenceOption = 0.95,
    table: Annotated[TableFormat | None, table_option("the strengths")] = None,
    json: JsonOption = False,
) -> None:
    """Fits a Bradley–Terry model to pairwise preferences, with ties (Davidson 1970).

    Strengths are log odds with a mean of 0. The difference between two respondents is the log odds
    that one is preferred to the other.
    """
    from empathylab.stats.preferences.bradley_terry import bradley_terry

    frame = missing_as_null(read_table(file))
    for role, column in {"first": first, "second": second, "outcome": outcome}.items():
        column_named(frame, column, where=file.name, option=f"--{role}")
    fitted = bradley_terry(
        frame,
        first=first,
        second=second,
        outcome=outcome,
        rater=rater,
        situation=situation,
        order_effect=order_effect,
        prior=prior,
        confidence=confidence,
    )
    caveats = _caveats(fitted, frame.drop_nulls([first, second, outcome]), first, second, rater)
    if json:
        print_json(_document(fitted) | {"caveats": caveats})
        return
    rows = _rows(fitted)
    if table is not None:
        print_formatted(rows, table, caption="Strengths (Bradley–Terry)")
        print_notes(caveats)
        return

    print_rows(rows)
    typer.echo(" ".join([_words(fitted), *caveats]))
    if fitted.dropped:
        from empathylab.analysis.text.apa import counted

        typer.echo(f"{counted(fitted.dropped, 'row')} with an empty cell left out.", err=True)


def _document(fitted: BradleyTerry) -> dict[str, Any]:
    from empathylab.analysis.json_values import json_value

    names = [strength.respondent for strength in fitted.strengths]
    document: dict[str, Any] = json_value(
        {
            "strengths": fitted.strengths,
            "pairs": [
                {
                    "respondent": a,
                    "other": b,
                    **dict(
                        zip(
                            ("preferred", "other_preferred", "tie"),
                            fitted.probabilities(a, b),
                            strict=True,
                        )
                    ),
                    "difference": fitted.difference(a, b),
                }
                for place, a in enumerate(names)
                for b in names[place + 1 :]
            ],
            "tie": fitted.tie,
            "order": fitted.order,
            "log_likelihood": fitted.log_likelihood,
            "n": fitted.n,
            "dropped": fitted.dropped,
            "clustered": fitted.clustered,
        }
    )
    return document


def _caveats(
    fitted: BradleyTerry, compared: pl.DataFrame, first: str, second: str, rater: str | None
) -> list[str]:
    from empathylab.analysis.preferences import ONE_ORDER, in_both_orders, interval_obstacle

    caveats = []
    if all(math.isnan(strength.se) for strength in fitted.strengths):
        raters = None if rater is None else compared[rater].n_unique()
        why = interval_obstacle(fitted, raters)
        caveats.append(f"No interval can be computed, because {why}.")
    if fitted.order is None and not in_both_orders(compared, first, second):
        caveats.append(ONE_ORDER)
    return caveats


def _rows(fitted: BradleyTerry) -> list[dict[str, str]]:
    from empathylab.analysis.text.numbers import number, signed

    return [
        {
            "respondent": strength.respondent,
            "strength": signed(strength.estimate, 3),
            "s.e.": number(strength.se, 3),
            "interval": ""
            if math.isnan(strength.low)
            else f"[{signed(strength.low, 3)}, {signed(strength.high, 3)}]",
            "preferred": number(strength.wins, 0),
            "not preferred": number(strength.losses, 0),
            "ties": number(strength.ties, 0),
        }
        for strength in fitted.strengths
    ]


def _words(fitted: BradleyTerry) -> str:
    from empathylab.analysis.text.apa import counted
    from empathylab.analysis.text.numbers import percent, with_ends

    best, *others = fitted.strengths
    sentences = [f"{counted(fitted.n, 'comparison')}."]
    if others:
        other = others[0].respondent
        first, second, tie = fitted.probabilities(best.respondent, other)
        gap = fitted.difference(best.respondent, other)
        ties = f", neither in {percent(tie)}" if tie else ""
        sentences.append(
            f"{best.respondent} would be preferred to {other} in {percent(first)} of comparisons, "
            f"{other} to {best.respondent} in {percent(second)}{ties}. Their strengths differ by "
            f"{with_ends(gap.estimate, gap.low, gap.high, digits=3)}."
        )
    if fitted.order is not None:
        order = fitted.order
        sentences.append(
            "Being shown first changes the log odds by "
            f"{with_ends(order.estimate, order.low, order.high, digits=2)}."
        )
    if not fitted.clustered:
        sentences.append(
            "Comparisons are treated as independent. Use --rater if people made several."
        )
    return " ".join(sentences)
