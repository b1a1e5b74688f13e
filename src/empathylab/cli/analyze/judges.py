"""`empathylab analyze judges`: may a judge stand in for people?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from empathylab.cli.actor import operator
from empathylab.cli.options import DEFAULT_LAB, JsonOption, LabOption

if TYPE_CHECKING:
    from empathylab.analysis.judges.analysis import JudgesAnalysis
    from empathylab.analysis.judges.calibration import CalibrationPlan
    from empathylab.analysis.judges.frames import JudgedRatings

EXAMPLE = (
    "Example: `empathylab analyze judges --study welivita-2024` · `empathylab analyze judges "
    "ratings.csv --people expert1 --people expert2 --people expert3 --people-are experts --json`"
)


def judges(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE",
            help="A long table (CSV, JSONL or Parquet): one rating per row, with rater_kind "
            "person or model; the lab's judgements, if not given.",
        ),
    ] = None,
    study: Annotated[
        str | None, typer.Option(help="The study; the only one there is, if not given.")
    ] = None,
    people: Annotated[
        list[str] | None,
        typer.Option(metavar="RATER", help="Only this person's ratings; repeatable."),
    ] = None,
    people_are: Annotated[
        Literal["experts", "skilled", "crowd"],
        typer.Option(help="Who rated, which decides ε: 0.2, 0.15 or 0.1."),
    ] = "crowd",
    epsilon: Annotated[
        float | None,
        typer.Option(help="How far a judge may lie behind a person and still pass.", min=0, max=1),
    ] = None,
    family: Annotated[
        list[str] | None,
        typer.Option(
            metavar="JUDGE=RESPONDENT,…",
            help="A judge's own family, or the panel's; by their names, if not given. Repeatable.",
        ),
    ] = None,
    levels: Annotated[
        str | None,
        typer.Option(
            metavar="LOW,…,HIGH",
            help="The scale's points from lowest to highest; needed where ratings are words.",
        ),
    ] = None,
    style: Annotated[
        bool,
        typer.Option(
            "--style/--no-style",
            help="Also the judge that costs nothing, trained on how the rated replies are written.",
        ),
    ] = True,
    panel: Annotated[
        bool, typer.Option("--panel", help="Also all judges together, as one.")
    ] = False,
    bootstrap: Annotated[
        int, typer.Option(help="Resamples for the intervals of the test; 0 for none.", min=0)
    ] = 1000,
    seed: Annotated[int, typer.Option(help="Decides resamples and folds.")] = 0,
    peek: Annotated[
        str | None,
        typer.Option(
            metavar="REASON",
            help="Look at a study of this lab before it is closed. The audit log keeps the reason.",
        ),
    ] = None,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Holds judges against people: a card for each judge and dimension.

    Agreement (weighted kappa, Spearman), the alternative annotator test, confusion and calibration,
    stability, and biases: by length, own family, place, valence and emotion. The card says whether
    the judge may stand in for people here, and for what not.
    """
    from empathylab.analysis.judges.analysis import analyse_judged
    from empathylab.analysis.judges.calibration import CalibrationPlan

    plan = CalibrationPlan(
        people_are=people_are,
        epsilon=epsilon,
        families=_families(family),
        resamples=bootstrap,
        seed=seed,
    )
    judged = _judged_file(file, study, levels) if file else _judged_study(lab, study, peek)
    if people:
        judged = judged.by(people)
    _check_families(plan, judged, panel=panel)
    analysis = analyse_judged(judged, plan=plan, style=style, panel=panel)
    for note in analysis.notes:
        typer.echo(note, err=True)
    if json:
        import json as encoder

        from empathylab.analysis.judges.document import judges_document

        found = judges_document(analysis)
        typer.echo(encoder.dumps(found, indent=2, ensure_ascii=False, allow_nan=False))
    else:
        _print(analysis)


def _judged_study(lab: Path, study: str | None, peek: str | None) -> JudgedRatings:
    from empathylab.analysis.judges.analysis import study_judged
    from empathylab.store import Lab

    with Lab.open(lab, create=False) as opened:
        return study_judged(opened, study, peek=peek, who=operator())


def _judged_file(file: Path, study: str | None, levels: str | None) -> JudgedRatings:
    from empathylab.analysis.judges.frames import judged_from_table
    from empathylab.errors import InputError
    from empathylab.tables import read_table

    if study is not None:
        raise InputError(
            "a table holds no study", got=study, remedy="Leave out --study, or the table."
        )
    return judged_from_table(read_table(file), where=file.name, levels=_points(levels))


def _points(levels: str | None) -> list[str | float] | None:
    """The scale's points as numbers where all are, else as words."""
    if levels is None:
        return None
    words = [one.strip() for one in levels.split(",")]
    try:
        return [float(one) for one in words]
    except ValueError:
        return list(words)


def _families(given: list[str] | None) -> dict[str, tuple[str, ...]]:
    from empathylab.tables import mapped

    pairs = [mapped(one, option="--family") for one in given or ()]
    return {
        judge: tuple(name.strip() for name in names.split(",") if name.strip())
        for judge, names in pairs
    }


def _check_families(plan: CalibrationPlan, judged: JudgedRatings, *, panel: bool) -> None:
    from empathylab.analysis.judges.analysis import PANEL
    from empathylab.errors import UnknownName

    known = [*judged.judge_names, *([PANEL] if panel else [])]
    written = judged.responses["respondent"].drop_nulls().unique().to_list()
    for judge, names in plan.families.items():
        if judge not in known:
            raise UnknownName("judge", judge, known)
        for name in names:
            if name not in written:
                raise UnknownName("respondent", name, written)


def _print(analysis: JudgesAnalysis) -> None:
    from empathylab.analysis.judges.prose import good_for, not_for, reasons
    from empathylab.cli.tables import print_rows
    from empathylab.report.judges.tables import card_rows

    print_rows(card_rows(analysis.cards), "judges", as_json=False)
    for card in analysis.cards:
        typer.echo(f"\n{card.judge}, {card.dimension}: {card.verdict}.")
        for reason in reasons(card):
            typer.echo(f"– {reason}")
        for said, things in (("For", good_for(card)), ("Not for", not_for(card))):
            if things:
                typer.echo(f"– {said}: {'; '.join(things)}.")
