"""`empathylab analyze judges`: can a judge replace human raters?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from empathylab.cli.actor import operator
from empathylab.cli.options import (
    DEFAULT_LAB,
    JsonOption,
    LabOption,
    PeekOption,
    StudyOption,
    argument,
    option,
    scale_points,
)
from empathylab.cli.tables import print_notes, print_rows, show
from empathylab.errors import InputError
from empathylab.tables import key_value, read_table

if TYPE_CHECKING:
    from empathylab.analysis.judges import JudgesResult

EXAMPLE = (
    "Example: `empathylab analyze judges --study welivita-2024` · `empathylab analyze judges "
    "ratings.csv --people expert1 --people expert2 --people expert3 --people-are experts --json`"
)


def judges(
    file: Annotated[
        Path | None,
        argument(
            "A long table (CSV, JSONL or Parquet): one rating per row, with rater_kind person or "
            "model. Default: the lab's judgements.",
            metavar="FILE",
        ),
    ] = None,
    study: StudyOption = None,
    people: Annotated[
        list[str] | None, option("Only this person's ratings; repeatable.", metavar="RATER")
    ] = None,
    people_are: Annotated[
        Literal["experts", "skilled", "crowd"],
        option("Who the raters are. Sets ε to 0.2, 0.15 or 0.1."),
    ] = "crowd",
    compared_with: Annotated[
        Literal["onlookers", "recipients"] | None,
        option(
            "Who rated: onlookers, who read replies to someone else, or recipients, who got the "
            "replies. Default: the table's column `perspective`."
        ),
    ] = None,
    epsilon: Annotated[
        float | None,
        option("How much worse than a person a judge can be and still pass.", min=0, max=1),
    ] = None,
    family: Annotated[
        list[str] | None,
        option(
            "The model family of a judge or of the panel. Default: from their names. Repeatable.",
            metavar="JUDGE=RESPONDENT,…",
        ),
    ] = None,
    levels: Annotated[
        str | None,
        option(
            "The scale's points, lowest first. Needed if ratings are words.", metavar="LOW,…,HIGH"
        ),
    ] = None,
    style: Annotated[
        bool,
        option(
            "Also validate the style judge, which is trained on how the rated replies are written.",
            "--style/--no-style",
        ),
    ] = True,
    panel: Annotated[bool, option("Also validate all judges together, as one.", "--panel")] = False,
    bootstrap: Annotated[
        int, option("Resamples for the intervals of the test; 0 for none.", min=0)
    ] = 1000,
    seed: Annotated[int, option("Seed of the resamples and folds.")] = 0,
    peek: PeekOption = None,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Validates judges against human ratings: a card for each judge and dimension.

    Each card shows agreement (weighted kappa, Spearman), the alternative annotator test, confusion
    and calibration, stability, and biases by length, own family, position, valence and emotion. It
    says whether the judge can replace human raters here, and for what it must not be used.
    """
    from empathylab.analysis.judges import CalibrationPlan

    plan = CalibrationPlan(
        people_are=people_are,
        compared_with=compared_with,
        epsilon=epsilon,
        families=_families(family),
        resamples=bootstrap,
        seed=seed,
    )
    options: dict[str, Any] = {
        "people": people or (),
        "plan": plan,
        "style": style,
        "panel": panel,
    }
    if file is not None:
        result = _of_file(file, study, levels, options)
    else:
        result = _of_lab(lab, study, peek, options)
    print_notes(result.caveats)
    show(result, _print, as_json=json)


def _of_lab(
    folder: Path, study: str | None, peek: str | None, options: dict[str, Any]
) -> JudgesResult:
    from empathylab.analysis import judges as analysis
    from empathylab.store import Lab

    with Lab.open_to_analyse(folder) as lab:
        return analysis.from_lab(lab, study, peek=peek, who=operator(), **options)


def _of_file(
    file: Path, study: str | None, levels: str | None, options: dict[str, Any]
) -> JudgesResult:
    from empathylab.analysis import judges as analysis

    if study is not None:
        raise InputError("a table has no study", got=study, remedy="Remove --study, or the table.")
    return analysis.from_table(
        read_table(file), where=file.name, levels=scale_points(levels), **options
    )


def _families(given: list[str] | None) -> dict[str, tuple[str, ...]]:
    pairs = [key_value(text, option="--family", form="JUDGE=RESPONDENT") for text in given or ()]
    return {
        judge: tuple(name.strip() for name in names.split(",") if name.strip())
        for judge, names in pairs
    }


def _print(result: JudgesResult) -> None:
    from empathylab.analysis.judges.prose import good_for, not_for, reasons, verdict_sentence
    from empathylab.report.judges.tables import card_rows

    print_rows(card_rows(result.cards))
    for card in result.cards:
        typer.echo(f"\n{verdict_sentence(card)}")
        for reason in reasons(card):
            typer.echo(f"– {reason}")
        for heading, uses in (("For", good_for(card)), ("Not for", not_for(card))):
            if uses:
                typer.echo(f"– {heading}: {'; '.join(uses)}.")
