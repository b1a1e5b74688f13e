"""`empathylab analyze leaderboard`: all respondents measured against one study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from empathylab.cli.actor import operator
from empathylab.cli.options import DEFAULT_LAB, JsonOption, LabOption

if TYPE_CHECKING:
    from empathylab.analysis.benchmark.analysis import Leaderboard

EXAMPLE = (
    "Example: `empathylab analyze leaderboard --study welivita-2024 --html leaderboard.html "
    "--csv leaderboard.csv`"
)


def leaderboard(
    study: Annotated[
        str | None, typer.Option(help="The study; the only one there is, if not given.")
    ] = None,
    dimension: Annotated[
        str | None, typer.Option(help="What was rated; the study's first dimension, if not given.")
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="Who stands in for people: provider/name or style; the mean of all models that "
            "judged, if not given.",
        ),
    ] = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also as a page that needs nothing else.")
    ] = None,
    csv: Annotated[Path | None, typer.Option(metavar="FILE", help="Also as a table.")] = None,
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
    """Lists all respondents measured against a study: by people, or estimated by a judge.

    The ranks are those that cannot be ruled out: who shares one is not shown to differ.
    """
    board = _board(lab, study, dimension, judge, peek)
    if html is not None:
        from empathylab.report.benchmark.page import write_leaderboard

        typer.echo(f"Page: {write_leaderboard(html, board)}", err=True)
    if csv is not None:
        _write_csv(csv, board)
        typer.echo(f"Table: {csv}", err=True)
    if json:
        import json as encoder

        from empathylab.analysis.benchmark.rows import leaderboard_document

        found = leaderboard_document(board)
        typer.echo(encoder.dumps(found, indent=2, ensure_ascii=False, allow_nan=False))
        return
    _print(board)


def _board(
    lab: Path, study: str | None, dimension: str | None, judge: str | None, peek: str | None
) -> Leaderboard:
    from empathylab.analysis.benchmark.analysis import leaderboard as board_of
    from empathylab.analysis.benchmark.embargo import told_board
    from empathylab.analysis.benchmark.frames import study_ground
    from empathylab.store import Lab
    from empathylab.store.ratings import lab_study
    from empathylab.study.added_arms.instruments import measured_study
    from empathylab.study.admin.embargo import require_closed

    with Lab.open(lab, create=False) as opened:
        chosen = lab_study(opened, study)
        ground = study_ground(opened, chosen.name, dimension)
        require_closed(opened, chosen, peek=peek, who=operator())
        measured = measured_study(opened, chosen.name)
        board = board_of(opened, ground, measured, judge=judge)
        return board if peek else told_board(opened, board)


def _write_csv(path: Path, board: Leaderboard) -> None:
    import polars as pl

    from empathylab.analysis.benchmark.rows import leaderboard_table
    from empathylab.report.benchmark.page import write_whole
    from empathylab.tables import table_bytes

    frame = pl.DataFrame(leaderboard_table(board), infer_schema_length=None)
    write_whole(path, table_bytes(frame, "csv"))


def _print(board: Leaderboard) -> None:
    from empathylab.analysis.benchmark.prose import rests_on
    from empathylab.analysis.benchmark.rows import leaderboard_rows
    from empathylab.cli.tables import print_rows

    typer.echo(f"{board.ground.study.name}, {board.ground.dimension.name}\n")
    print_rows(leaderboard_rows(board), "respondents", as_json=False)
    typer.echo("")
    for one in board.entries:
        if one.found.judge is not None:
            typer.echo(f"{one.respondent}: {' '.join(rests_on(one.found))}")
    for note in (board.asked.note, *board.notes):
        if note:
            typer.echo(note, err=True)
