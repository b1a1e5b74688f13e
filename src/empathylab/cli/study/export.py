"""`empathylab study export`: a study's data as tables with a dictionary, or as one archive."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from empathylab.cli.actor import operator
from empathylab.cli.export_paths import new_place, print_exported
from empathylab.cli.options import DEFAULT_LAB, JsonOption, LabOption, argument, option
from empathylab.errors import InputError

EXAMPLE = (
    "Example: `empathylab study export my-study data/my-study --format csv` · "
    "`empathylab study export my-study --archive my-study.zip`"
)


def export(
    name: Annotated[str, argument("The study; NAME@1 for an older version.", metavar="NAME")],
    folder: Annotated[
        Path | None, argument("A new folder. Default: in the lab's folder exports.")
    ] = None,
    table_format: Annotated[
        Literal["csv", "jsonl", "parquet"], option("Format of the tables.", "--format")
    ] = "csv",
    archive: Annotated[
        Path | None,
        option(
            "Write one archive instead of tables, for `empathylab data import study`.",
            metavar="FILE.zip",
        ),
    ] = None,
    identities: Annotated[
        bool,
        option(
            "Also write platform IDs, to a separate file. The audit log records it.", "--identities"
        ),
    ] = False,
    peek: Annotated[
        str | None,
        option(
            "Include the results of a study that is still open. The audit log records the reason.",
            metavar="REASON",
        ),
    ] = None,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Exports a study's data: tables, protocol, data dictionary and hashes.

    Simulated raters and test visits are never included; identities only if you ask for them. While
    a study is open, ratings and arms are left out.
    """
    from empathylab.store import Lab
    from empathylab.study.exports.folders import export_archive, export_study

    if archive is not None and (folder is not None or identities):
        raise InputError(
            "an archive is one file without identities",
            where="--archive",
            remedy="Leave out the folder and --identities, or --archive.",
        )
    with Lab.open(lab, create=False) as opened:
        if archive is not None:
            done = export_archive(opened, name, archive, peek=peek, who=operator())
        else:
            done = export_study(
                opened,
                name,
                folder or new_place(opened.folder / "exports", name),
                format=table_format,
                identities=identities,
                peek=peek,
                who=operator(),
            )
    print_exported(done, as_json=json)
