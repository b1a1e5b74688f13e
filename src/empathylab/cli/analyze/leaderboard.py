"""`empathylab analyze leaderboard`: all respondents compared on one study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from empathylab.cli.actor import operator
from empathylab.cli.options import (
    DEFAULT_LAB,
    JsonOption,
    LabOption,
    PeekOption,
    StudyOption,
    file_option,
    option,
)
from empathylab.cli.tables import print_notes, print_rows, show
from empathylab.tables import table_bytes

if TYPE_CHECKING:
    from empathylab.analysis.benchmark import LeaderboardResult

EXAMPLE = (
    "Example: `empathylab analyze leaderboard --study welivita-2024 --html leaderboard.html "
    "--csv leaderboard.csv`"
)


def leaderboard(
    study: StudyOption = None,
    dimension: Annotated[
        str | None, option("The rated dimension. Default: the study's first.")
    ] = None,
    judge: Annotated[
        str | None,
        option(
            "The judge for respondents that people did not rate: provider/name or style. Default: "
            "the mean of all models that judged.",
            metavar="MODEL",
        ),
    ] = None,
    html: Annotated[Path | None, file_option("Also write a self-contained HTML page.")] = None,
    csv: Annotated[Path | None, file_option("Also write a CSV table.")] = None,
    peek: PeekOption = None,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Lists all respondents compared on a study: measured by people, or estimated by a judge.

    Each respondent gets the range of ranks that the data support. If two ranges overlap, the data
    do not show that the two respondents differ.
    """
    board = _board(lab, study, dimension, judge, peek)
    if html is not None:
        from empathylab.report.benchmark.page import write_leaderboard

        typer.echo(f"Page: {write_leaderboard(html, board)}", err=True)
    if csv is not None:
        _write_csv(csv, board)
        typer.echo(f"Table: {csv}", err=True)
    show(board, _print, as_json=json)


def _board(
    lab: Path, study: str | None, dimension: str | None, judge: str | None, peek: str | None
) -> LeaderboardResult:
    from empathylab.analysis import benchmark
    from empathylab.store import Lab

    with Lab.open_to_analyse(lab) as opened:
        return benchmark.leaderboard_from_lab(
            opened, study, dimension=dimension, judge=judge, peek=peek, who=operator()
        )


def _write_csv(path: Path, board: LeaderboardResult) -> None:
    from empathylab.report.writing import write_whole

    write_whole(path, table_bytes(board.to_frame(), "csv"))


def _print(board: LeaderboardResult) -> None:
    from empathylab.analysis.benchmark.leaderboard import leaderboard_rows
    from empathylab.analysis.benchmark.prose import rests_on

    typer.echo(f"{board.reference.study.name}, {board.reference.dimension.name}\n")
    print_rows(leaderboard_rows(board))
    typer.echo("")
    for entry in board.entries:
        if entry.measurement.judge is not None:
            typer.echo(f"{entry.respondent}: {' '.join(rests_on(entry.measurement))}")
    print_notes(board.caveats)
