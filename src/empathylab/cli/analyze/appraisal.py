"""`empathylab analyze appraisal`: scales after situations, compared with baseline and people."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from empathylab.cli.options import DEFAULT_LAB, JsonOption, LabOption, option
from empathylab.cli.tables import print_notes, print_rows, show

if TYPE_CHECKING:
    from empathylab.analysis.appraisal import AppraisalResult

EXAMPLE = "Example: `empathylab analyze appraisal --respondent human --level factor`"


def appraisal(
    respondent: Annotated[str | None, option("Only this respondent.")] = None,
    scale: Annotated[str | None, option("Only this scale.")] = None,
    study: Annotated[
        str | None, option("Only people from this study. Default: all people in the lab.")
    ] = None,
    level: Annotated[
        Literal["overall", "emotion", "factor"],
        option("Level of the printed table. JSON includes all levels."),
    ] = "emotion",
    alpha: Annotated[
        float, option("Significance level of the F test and of the direction.", min=0.0, max=1.0)
    ] = 0.01,
    everybody: Annotated[
        bool, option("Ignore the studies' exclusion rules.", "--everybody")
    ] = False,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Compares scale scores after situations with the baseline, and the change with people's.

    Uses the published procedure (F test, then Student's or Welch's t test; paired for people), and
    adds effect sizes, corrected p values and a test that treats situations and item orders as
    random samples. The exclusion rules of a study's file are applied to its participants in a
    second analysis.
    """
    from empathylab.analysis import appraisal as analysis
    from empathylab.store import Lab

    with Lab.open_to_analyse(lab) as opened:
        result = analysis.from_lab(
            opened,
            respondent=respondent,
            scale=scale,
            alpha=alpha,
            exclude=not everybody,
            study=study,
        )
    show(result, partial(_print_all, level=level), as_json=json)


def _print_all(result: AppraisalResult, level: str) -> None:
    """Conclusions, the validity of answers, tables, and people's without excluded participants."""
    from empathylab.analysis.appraisal.caveats import order_caveats
    from empathylab.analysis.appraisal.exclusions import exclusion_sentences
    from empathylab.analysis.appraisal.self_reports import validity_sentences

    for conclusion in result.conclusions:
        typer.echo(f"- {conclusion}")
    for sentence in (*validity_sentences(result.self_reports), *order_caveats(result.changes)):
        typer.echo(sentence)
    typer.echo()
    _print(result, level)
    print_notes(result.deviations)
    if result.exclusions is None:
        return
    print_notes(exclusion_sentences(result.exclusions.studies))
    kept = result.exclusions.result
    # Nothing is left of a scale that only excluded participants answered.
    if kept and (kept.summaries or any(change.respondent == "human" for change in kept.changes)):
        typer.echo("\nWithout excluded participants")
        _print(kept, level, only="human")


def _print(result: AppraisalResult, level: str, *, only: str | None = None) -> None:
    """The tables; those of one respondent only with everybody's distance from people."""
    from empathylab.analysis.appraisal.result import change_rows, distance_sentence

    levels = ("overall", "emotion", "factor")
    shown = levels[: levels.index(level) + 1]
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in change_rows(result):
        if row["level"] in shown and only in (None, row["respondent"]):
            groups.setdefault((row["respondent"], row["scale"]), []).append(_printed(row))
    for (respondent, scale), rows in groups.items():
        typer.echo(f"{respondent}, {scale}")
        print_rows(rows)
        typer.echo()
    for summary in result.summaries if only else ():
        typer.echo(distance_sentence(summary))
    for row in result.invalid.iter_rows(named=True):
        typer.echo(
            f"{row['respondent']}, {row['scale']}, {row['phase']}: {row['count']} could not be "
            f"used: {row['reason'] or row['outcome']}",
            err=True,
        )


def _printed(row: dict[str, Any]) -> dict[str, Any]:
    from empathylab.analysis.text.numbers import number, signed

    return {
        "subscale": row["subscale"],
        "after": row["factor"] or row["label"],
        "n": row["n"],
        "baseline": number(row["default_mean"]),
        "mean": number(row["mean"]),
        "change": signed(row["delta"]) if row["delta"] is not None else "–",
        "": {"up": "↑", "down": "↓", "none": "–"}[row["direction"]],
        "test": row["test"],
        "t": number(row["statistic"], 2),
        "p Holm": _p(row["p_holm"]),
        "p clustered": _p(row["cluster_p"]),
        "p clustered, Holm": _p(row["cluster_p_holm"]),
        "effect": number(row["effect_size"], 2),
    }


def _p(value: float | None) -> str:
    if value is None:
        return "–"
    return "< .001" if value < 0.001 else f"{value:.3f}".removeprefix("0")
