"""`empathylab analyze agreement`: how far raters agree, on anybody's table of ratings."""

from __future__ import annotations

import math
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from empathylab.cli.options import JsonOption

if TYPE_CHECKING:
    import polars as pl

    from empathylab.stats.agreement import Agreement, Coefficient, DimensionAgreement, PairAgreement

_MOST_PAIRS = 60
"""Pairs that are printed; nobody reads more."""
EXAMPLE = "Example: `empathylab analyze agreement ratings.csv --rater annotator --json`"


def agreement(
    file: Annotated[
        Path, typer.Argument(help="A long table (CSV, JSONL or Parquet): one rating per row.")
    ],
    situation: Annotated[
        str, typer.Option(metavar="COLUMN", help="What was rated: a situation or a response.")
    ] = "situation",
    rater: Annotated[str, typer.Option(metavar="COLUMN", help="Who rated.")] = "rater",
    dimension: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="On which dimension; `dimension` if the table has it, else all rows are one.",
        ),
    ] = None,
    rating: Annotated[str, typer.Option(metavar="COLUMN", help="The value given.")] = "rating",
    levels: Annotated[
        str | None,
        typer.Option(
            metavar="LOW,…,HIGH",
            help="The scale's categories from lowest to highest; needed where ratings are words, "
            "and keeps those that nobody used.",
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="What several of the rated things belong to, so that they may be rated alike; "
            "intervals then allow for it. `situation` where --situation names another column and "
            "the table has it; name the same column as --situation for none.",
        ),
    ] = None,
    bootstrap: Annotated[
        int, typer.Option(help="Resamples of situations for the intervals; 0 for none.", min=0)
    ] = 1000,
    seed: Annotated[int, typer.Option(help="Decides the resamples.")] = 0,
    json: JsonOption = False,
) -> None:
    """Measures how far raters agree, all together and pair by pair.

    Krippendorff's alpha (ordinal), ICC(2,1), Fleiss' kappa and Gwet's AC per dimension, with
    bootstrap intervals over situations; quadratic-weighted and plain kappa, Spearman's correlation
    and percent agreement for each pair of raters, with large-sample intervals. Where several
    replies share a situation, intervals allow for it. Any number of raters, any missing cells.
    """
    from empathylab.stats.agreement import agreement as measure

    frame, scale, dimension = _read(file, situation, rater, dimension, rating, levels)
    found = measure(
        frame,
        situation=situation,
        rater=rater,
        dimension=dimension,
        rating=rating,
        levels=scale,
        resamples=bootstrap,
        seed=seed,
        cluster=cluster,
    )
    dropped = sum(dimension.dropped for dimension in found.dimensions)
    if dropped:
        typer.echo(
            f"{file.name}: {dropped} of {len(frame)} rows have no rating, rater or situation and "
            "were left out.",
            err=True,
        )
    if json:
        import json as encoder

        rows = {
            "dimensions": [dimension_row(dimension) for dimension in found.dimensions],
            "pairs": [pair_row(pair) for pair in found.pairs],
            "bootstrap": bootstrap,
            "seed": seed,
        }
        typer.echo(encoder.dumps(rows, indent=2, ensure_ascii=False, allow_nan=False))
        return
    _print(found)


def dimension_row(agreement: DimensionAgreement) -> dict[str, Any]:
    """One dimension's agreement as plain values; null where a figure is not defined."""
    row: dict[str, Any] = {
        "dimension": agreement.dimension,
        "n_raters": agreement.n_raters,
        "n_situations": agreement.n_situations,
        "n_clusters": agreement.n_clusters,
        "n_ratings": agreement.n_ratings,
        "dropped": agreement.dropped,
        "missing_share": _plain(agreement.missing_share),
    }
    row |= _coefficients(agreement)
    row["icc_forms"] = _coefficients(agreement.icc_forms)
    parts = ("situation", "rater", "residual")
    row["variance"] = {name: _plain(getattr(agreement.components, name)) for name in parts}
    return row


def pair_row(agreement: PairAgreement) -> dict[str, Any]:
    """One pair's agreement as plain values; null where a figure is not defined."""
    row: dict[str, Any] = {
        "dimension": agreement.dimension,
        "rater_a": agreement.rater_a,
        "rater_b": agreement.rater_b,
        "raters": [agreement.rater_a, agreement.rater_b],
        "n": agreement.n,
    }
    return row | _coefficients(agreement)


def _read(
    file: Path,
    situation: str,
    rater: str,
    dimension: str | None,
    rating: str,
    levels: str | None,
) -> tuple[pl.DataFrame, list[str | float] | None, str | None]:
    """The table, its scale's words where they were given, and its column of dimensions."""
    from empathylab.tables import column_named, numbers, read_table

    frame = read_table(file)
    if dimension is None and "dimension" in frame.columns:
        dimension = "dimension"
    for column in (situation, rater, rating, dimension):
        if column is not None:
            column_named(frame, column, where=file.name)
    scale = _scale(levels)
    if scale and isinstance(scale[0], str):
        return frame, scale, dimension
    values = numbers(frame, rating, where=file.name)
    return frame.with_columns(values.alias(rating)), scale, dimension


def _scale(levels: str | None) -> list[str | float] | None:
    """The categories as numbers where all are, else as words."""
    if levels is None:
        return None
    words = [level.strip() for level in levels.split(",")]
    try:
        return [float(word) for word in words]
    except ValueError:
        return list(words)


def _coefficients(holder: Any) -> dict[str, Any]:
    """Every coefficient of a result: its estimate under its name, and the ends of its interval."""
    from empathylab.analysis.text.notes import note_text
    from empathylab.stats.agreement import Coefficient

    row: dict[str, Any] = {}
    notes: dict[str, str] = {}
    for field in fields(holder):
        value = getattr(holder, field.name)
        if isinstance(value, Coefficient):
            row[field.name] = _plain(value.estimate)
            row[f"{field.name}_low"] = _plain(value.low)
            row[f"{field.name}_high"] = _plain(value.high)
            if value.note:
                notes[field.name] = note_text(value.note)
    if notes:
        row["notes"] = notes
    return row


def _plain(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _print(found: Agreement) -> None:
    from empathylab.analysis.text.notes import note_text
    from empathylab.analysis.text.numbers import percent
    from empathylab.cli.tables import print_rows

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
        for dimension in found.dimensions
    ]
    print_rows(dimensions, "dimensions", as_json=False)
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
        for pair in found.pairs[:_MOST_PAIRS]
    ]
    if pairs:
        typer.echo()
        print_rows(pairs, "pairs", as_json=False)
    if len(found.pairs) > _MOST_PAIRS:
        typer.echo(
            f"… and {len(found.pairs) - _MOST_PAIRS} more pairs: --json has them all.", err=True
        )
    clusters = max((dimension.n_clusters or 0 for dimension in found.dimensions), default=0)
    if clusters:
        typer.echo(f"– Intervals allow for {clusters} clusters of what was rated.", err=True)
    coefficients = [
        c for dimension in found.dimensions for c in (dimension.icc, dimension.krippendorff_alpha)
    ]
    for note in sorted({note_text(coefficient.note) for coefficient in coefficients} - {""}):
        typer.echo(f"– {note}.", err=True)


def _shown(coefficient: Coefficient, digits: int = 2) -> str:
    from empathylab.analysis.text.numbers import number

    # Adding zero turns a rounded −0 into 0.
    estimate, low, high = (
        round(end, digits) + 0.0
        for end in (coefficient.estimate, coefficient.low, coefficient.high)
    )
    text = number(estimate, digits)
    return text if math.isnan(low) else f"{text} ({number(low, digits)} to {number(high, digits)})"
