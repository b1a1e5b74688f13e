"""`empathylab export`: the whole lab as files to hand over."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from empathylab.cli.acting import operator
from empathylab.cli.options import DEFAULT_LAB, JsonOption, LabOption

if TYPE_CHECKING:
    from empathylab.report.exports import ExportedLab

EXAMPLE = (
    "Example: `empathylab export --format csv --to data` · "
    "`empathylab export --format replication --to package.zip`"
)


def export(
    export_format: Annotated[
        Literal["csv", "parquet", "jsonl", "psych-ds", "replication"],
        typer.Option(
            "--format",
            help="Tables in one of three forms, a Psych-DS data set, or a package from which "
            "others make the tables again.",
        ),
    ] = "csv",
    to: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR|ZIP",
            help="A new folder, or a file that ends in .zip; in the lab's folder exports, if not "
            "given.",
        ),
    ] = None,
    what: Annotated[
        list[str] | None,
        typer.Option(metavar="TABLE", help="Only this table; repeatable. All, if not given."),
    ] = None,
    identities: Annotated[
        bool,
        typer.Option(
            "--identities",
            help="Also write platform ids, into a file of their own. The audit logs keep it.",
        ),
    ] = False,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Writes all that the lab holds: tables, what every column means, versions, checksums.

    Simulated raters and test visits are never in it, nor is anybody's identity unless asked for.
    Of a study that is still open, how responses were rated is left out.
    """
    from empathylab.report.exports import export_lab
    from empathylab.store import Lab

    with Lab.open(lab, create=False) as opened:
        done = export_lab(
            opened,
            to or _new_place(opened.folder / "exports", export_format),
            format=export_format,
            what=what or (),
            identities=identities,
            who=operator(),
        )
    _print(done, as_json=json)


def _new_place(exports: Path, name: str) -> Path:
    """The first place of that name in which there is nothing yet."""
    place, number = exports / name, 1
    while place.exists():
        number += 1
        place = exports / f"{name}-{number}"
    return place


def _print(done: ExportedLab, *, as_json: bool) -> None:
    from empathylab.cli.tables import print_rows

    if as_json:
        import json as encoder

        typer.echo(encoder.dumps(dataclasses.asdict(done), indent=2, ensure_ascii=False))
        return
    typer.echo(done.path)
    print_rows([dataclasses.asdict(one) for one in done.files], "files", as_json=False)
    for note in done.notes:
        typer.echo(note, err=True)
