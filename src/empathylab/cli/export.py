"""`empathylab export`: the whole lab as files to hand over."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from empathylab.cli.actor import operator
from empathylab.cli.examples import examples
from empathylab.cli.export_paths import new_place, print_exported
from empathylab.cli.options import DEFAULT_LAB, JsonOption, LabOption, option
from empathylab.errors import InputError

if TYPE_CHECKING:
    from empathylab.export import ExportedLab

EXAMPLE = examples(
    (
        "empathylab export --to data",
        "writes every table as CSV, with a dictionary.",
    ),
    (
        "empathylab export --format replication --to package.zip",
        "makes a package that lets others reproduce the tables.",
    ),
    (
        "empathylab export --what ratings --what raters --format parquet --to ratings",
        "writes two tables.",
    ),
    (
        "empathylab export --format huggingface --push OWNER/NAME",
        "uploads a data set to the Hugging Face Hub.",
    ),
)


def export(
    export_format: Annotated[
        str,
        option(
            "Tables in one of three formats, a Psych-DS data set, a replication package, runs as "
            "Inspect logs, a data set for the Hugging Face Hub, or a plugin's format.",
            "--format",
            metavar="csv|parquet|jsonl|psych-ds|replication|inspect|huggingface|NAME",
        ),
    ] = "csv",
    to: Annotated[
        Path | None,
        option(
            "A new folder, or a file that ends in .zip. Default: in the lab's folder exports.",
            metavar="DIR|ZIP",
        ),
    ] = None,
    what: Annotated[
        list[str] | None, option("Only this table; repeatable. Default: all.", metavar="TABLE")
    ] = None,
    identities: Annotated[
        bool,
        option(
            "Also write platform IDs, to a separate file. The audit logs record it.", "--identities"
        ),
    ] = False,
    push: Annotated[
        str | None,
        option(
            "Also upload it to the Hugging Face Hub; with --format huggingface. The token is read "
            "from HF_TOKEN.",
            metavar="OWNER/NAME",
        ),
    ] = None,
    public: Annotated[bool, option("Make the pushed data set public.", "--public")] = False,
    yes: Annotated[
        bool, option("Upload people's data without asking for confirmation.", "--yes")
    ] = False,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Exports everything in the lab: tables, a data dictionary, versions and checksums.

    Simulated raters and test visits are never included; identities only if you ask for them.
    Ratings of a study that is still open are left out.
    """
    from empathylab.export import export_lab
    from empathylab.store import Lab

    if push is not None:
        _check_push(export_format, to)
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
    if push is not None:
        _push(done, push, public=public, yes=yes)


def _check_push(export_format: str, to: Path | None) -> None:
    """Refuses what cannot be pushed before anything is written."""
    from empathylab.export.hub import require_push

    if export_format != "huggingface" or (to is not None and to.suffix == ".zip"):
        raise InputError(
            "only a folder for the Hugging Face Hub can be pushed",
            where="--push",
            remedy="Add --format huggingface, and name a folder with --to.",
        )
    require_push()


def _push(done: ExportedLab, repository: str, *, public: bool, yes: bool) -> None:
    """Uploads the folder, after the user agreed where it holds people's data."""
    from empathylab.export.hub import push

    people = sum(file.rows or 0 for file in done.files if Path(file.name).stem == "raters")
    if people and not yes:
        kind = "public" if public else "private"
        question = (
            f"The data set contains the answers of {people} people, without their identities. "
            f"Upload it to {repository} ({kind})?"
        )
        if not sys.stdin.isatty():
            raise InputError(
                f"the data set contains the answers of {people} people, and this command cannot "
                "ask you to confirm here",
                where="--push",
                remedy="Add --yes if their consent covers sharing. The folder is kept.",
            )
        typer.confirm(question, abort=True, err=True)
    typer.echo(push(Path(done.path), repository, private=not public), err=True)
