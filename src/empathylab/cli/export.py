"""`empathylab export`: the whole lab as files to hand over."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from empathylab.cli.actor import operator
from empathylab.cli.examples import examples
from empathylab.cli.export_paths import new_place, print_exported
from empathylab.cli.options import DEFAULT_LAB, JsonOption, LabOption

EXAMPLE = examples(
    (
        "empathylab export --to data",
        "writes every table as CSV, with a dictionary.",
    ),
    (
        "empathylab export --format replication --to package.zip",
        "makes a package from which others make the tables again.",
    ),
    (
        "empathylab export --what ratings --what raters --format parquet --to ratings",
        "writes two tables.",
    ),
)


def export(
    export_format: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="csv|parquet|jsonl|psych-ds|replication|NAME",
            help="Tables in one of three forms, a Psych-DS data set, a package from which others "
            "make the tables again, or the format of a plugin.",
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
    from empathylab.export import export_lab
    from empathylab.store import Lab

    with Lab.open(lab, create=False) as opened:
        done = export_lab(
            opened,
            to or new_place(opened.folder / "exports", export_format),
            format=export_format,
            what=what or (),
            identities=identities,
            who=operator(),
        )
    print_exported(done, as_json=json)
