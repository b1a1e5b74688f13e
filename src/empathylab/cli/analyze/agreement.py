"""`empathylab analyze agreement`: how far raters agree, on any table of ratings."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from empathylab.cli.options import JsonOption, argument, column_option, option, scale_points
from empathylab.cli.tables import note_semicolons, print_notes, print_titled, show
from empathylab.columns import numbers, on_scale
from empathylab.tables import column_named, read_table

if TYPE_CHECKING:
    import polars as pl

    from empathylab.analysis.agreement import AgreementResult
    from empathylab.stats.agreement import Coefficient

_MOST_PAIRS = 60
"""Pairs that are printed; nobody reads more."""
_FEWEST_SHARED = 10
"""Items that a pair must share to be printed: with fewer, a kappa says nothing."""
EXAMPLE = "Example: `empathylab analyze agreement ratings.csv --rater annotator --json`"


def agreement(
    file: Annotated[Path, argument("A long table (CSV, JSONL or Parquet): one rating per row.")],
    situation: Annotated[
        str, column_option("The column with what was rated: a situation or a response.")
    ] = "situation",
    arm: Annotated[
        str | None,
        column_option(
            "The column with the arm, such as the model, if a situation has a reply by each arm: "
            "each situation and arm together are then what was rated."
        ),
    ] = None,
    rater: Annotated[str, column_option("The column with the rater.")] = "rater",
    dimension: Annotated[
        str | None,
        column_option(
            "The column with the dimension. Default: `dimension` if the table has it; otherwise "
            "all rows are one dimension."
        ),
    ] = None,
    rating: Annotated[str, column_option("The column with the rating.")] = "rating",
    levels: Annotated[
        str | None,
        option(
            "The scale's categories, lowest first. Needed if ratings are words; also keeps "
            "categories that nobody used.",
            metavar="LOW,…,HIGH",
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        column_option(
            "The column with clusters of rated items, such as replies to the same situation. The "
            "intervals take them into account. Default: `situation`, if the table has it and "
            "--situation names another column. To ignore clusters, name the same column as "
            "--situation."
        ),
    ] = None,
    bootstrap: Annotated[
        int, option("Bootstrap resamples of situations for the intervals; 0 for none.", min=0)
    ] = 1000,
    seed: Annotated[int, option("Seed of the resamples.")] = 0,
    json: JsonOption = False,
) -> None:
    """Measures agreement between raters: all together and for each pair.

    Computes Krippendorff's alpha (ordinal), ICC(2,1), Fleiss' kappa and Gwet's AC per dimension,
    with bootstrap intervals over situations. For each pair of raters, computes quadratic-weighted
    and plain kappa, Spearman's correlation and percent agreement, with large-sample intervals. If
    several replies share a situation, the intervals allow for it. There can be any number of raters
    and missing cells.
    """
    from empathylab.analysis.agreement import from_table

    columns = {"situation": situation, "rater": rater, "rating": rating}
    frame, scale = _read(file, columns, dimension, arm, levels)
    result = from_table(
        frame,
        situation=situation,
        rater=rater,
        dimension=dimension,
        rating=rating,
        levels=scale,
        bootstrap=bootstrap,
        seed=seed,
        cluster=cluster,
        arm=arm,
    )
    dropped = sum(part.dropped for part in result.agreement.dimensions)
    if dropped:
        typer.echo(
            f"{file.name}: {dropped} of {len(frame)} rows without a rating, rater or situation "
            "were left out.",
            err=True,
        )
    show(result, _print, as_json=json)


def _read(
    file: Path,
    columns: dict[str, str],
    dimension: str | None,
    arm: str | None,
    levels: str | None,
) -> tuple[pl.DataFrame, list[str | float] | None]:
    """The table, and its scale's words where they were given."""

    frame = read_table(file)
    note_semicolons(file)
    missing = [f"--{role}" for role, column in columns.items() if column not in frame.columns]
    for column in columns.values():
        column_named(frame, column, where=file.name, option=" COLUMN and ".join(missing))
    for name, given in {"--dimension": dimension, "--arm": arm}.items():
        if given is not None:
            column_named(frame, given, where=file.name, option=name)
    scale, rating = scale_points(levels), columns["rating"]
    if scale:
        values = on_scale(frame, rating, scale, where=file.name)
    else:
        remedy = "Fix the row, or name the scale's points with --levels, lowest first."
        values = numbers(frame, rating, where=file.name, remedy=remedy)
    return frame.with_columns(values.alias(rating)), scale


def _print(result: AgreementResult) -> None:
    from empathylab.analysis.text.numbers import percent

    agreement = result.agreement
    dimensions = [
        {
            "dimension": dimension.dimension,
            "raters": dimension.n_raters,
            "situations": dimension.n_situations,
            "ratings": dimension.n_ratings,
            "missing": percent(dimension.missing_share),
            "alpha (ordinal)": _shown(dimension.krippendorff_alpha),
            "ICC(2,1)": _shown(dimension.icc),
            "Fleiss": _shown(dimension.fleiss_kappa),
            "Gwet AC1": _shown(dimension.gwet_ac1),
            "percent": _shown(dimension.percent, 0),
        }
        for dimension in agreement.dimensions
    ]
    for conclusion in result.conclusions:
        typer.echo(f"- {conclusion}")
    print_titled("", dimensions)
    shown = [pair for pair in agreement.pairs if pair.n >= _FEWEST_SHARED]
    few = len(agreement.pairs) - len(shown)
    pairs = [
        {
            "dimension": pair.dimension,
            "raters": f"{pair.rater_a}, {pair.rater_b}",
            "n": pair.n,
            "weighted kappa": _shown(pair.weighted_kappa),
            "kappa": _shown(pair.kappa),
            "Spearman": _shown(pair.spearman),
            "percent": _shown(pair.percent, 0),
        }
        for pair in shown[:_MOST_PAIRS]
    ]
    print_titled("", pairs)
    if len(shown) > _MOST_PAIRS:
        typer.echo(f"… and {len(shown) - _MOST_PAIRS} more pairs: --json has them all.", err=True)
    if few:
        typer.echo(
            f"Pairs of raters with fewer than {_FEWEST_SHARED} shared items are not shown ({few}): "
            "--json has them.",
            err=True,
        )
    print_notes(f"– {caveat}" for caveat in result.caveats)


def _shown(coefficient: Coefficient, digits: int = 2) -> str:
    from empathylab.analysis.text.numbers import number

    # Adding zero turns a rounded −0 into 0.
    estimate, low, high = (
        round(end, digits) + 0.0
        for end in (coefficient.estimate, coefficient.low, coefficient.high)
    )
    text = number(estimate, digits)
    return text if math.isnan(low) else f"{text} ({number(low, digits)} to {number(high, digits)})"
