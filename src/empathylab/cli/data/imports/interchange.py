"""`empathylab data import inspect` and `huggingface`: what other tools of the field hold."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from empathylab.cli.data.imports import rated_responses, situations
from empathylab.cli.data.imports.options import LicenceOption, NameOption, ReplaceOption, SetOption
from empathylab.cli.options import DEFAULT_LAB, JsonOption, LabOption, argument, option
from empathylab.cli.tables import print_json, print_rows
from empathylab.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from empathylab.store.transfer import Carried

INSPECT_EXAMPLE = "Example: `empathylab data import inspect logs/2026-11-16_respond.eval`"
HUGGINGFACE_EXAMPLE = (
    "Example: `empathylab data import huggingface OWNER/NAME` · "
    "`empathylab data import huggingface folder --as responses --column answer=text`"
)


def inspect(
    path: Annotated[list[Path], argument("One or more logs.", metavar="LOG.eval")],
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Imports Inspect logs: from EmpathyLab's own tasks, or from `export --format inspect`.

    Runs, answers, scores, usage, errors and people's ratings are restored. Importing a log
    again changes nothing.
    """
    from empathylab.models.inspect_chats import require_inspect
    from empathylab.store import Lab

    require_inspect("reading a log of Inspect")
    from empathylab.export.inspect_logs.reading import import_log

    with Lab.open(lab) as opened:
        done = [import_log(opened, item) for item in path]
    if json:
        logs = [
            dataclasses.asdict(item) | {"tables": [table._asdict() for table in item.tables]}
            for item in done
        ]
        print_json({"logs": logs})
        return
    for item in done:
        typer.echo(f"{item.file}: {item.task} with {item.model}, {item.samples} samples")
        if item.failed:
            typer.echo(f"{item.file}: {item.failed} samples ended with an error.", err=True)
        _print_tables(item.tables)


def huggingface(
    source: Annotated[
        str,
        argument("OWNER/NAME on the hub, or a folder.", metavar="DATASET|FOLDER"),
    ],
    kind: Annotated[
        Literal["lab", "situations", "responses", "ratings"] | None,
        option("What it contains. Default: a lab, if EmpathyLab exported it.", "--as"),
    ] = None,
    column: Annotated[
        list[str] | None, option("Map a column to another name; repeatable.", metavar="THEIRS=OURS")
    ] = None,
    config: Annotated[str | None, option("The configuration, if the data set has several.")] = None,
    split: Annotated[str | None, option("The split, if the configuration has several.")] = None,
    situation_set: SetOption = None,
    name: NameOption = None,
    licence: LicenceOption = "not stated",
    replace: ReplaceOption = False,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Imports a data set from the Hugging Face Hub, or a folder with the same files.

    A data set exported by EmpathyLab restores the lab. For any other, --as says what its rows are,
    and --column maps its columns to the lab's.
    """
    from empathylab.export.hub import dataset_folder, mapped_table
    from empathylab.export.huggingface import holds_lab, import_dataset
    from empathylab.store import Lab

    folder = dataset_folder(source)
    if kind in (None, "lab"):
        if not holds_lab(folder):
            raise InputError(
                "this data set was not exported by EmpathyLab",
                where=source,
                remedy="Say what its rows are with --as situations, responses or ratings.",
            )
        with Lab.open(lab) as opened:
            tables = import_dataset(opened, folder)
        if json:
            print_json({"source": source, "tables": [table._asdict() for table in tables]})
        else:
            typer.echo(f"{source}: a lab of EmpathyLab")
            _print_tables(tables)
        return
    with mapped_table(folder, column or (), config=config, split=split, name=name) as path:
        if kind == "situations":
            situations.situations(path, name=name, licence=licence, lab=lab, json=json)
        elif kind == "responses":
            rated_responses.responses(
                path, situation_set, name, licence=licence, replace=replace, lab=lab, json=json
            )
        else:
            rated_responses.ratings(path, situation_set, name, replace=replace, lab=lab, json=json)


def _print_tables(tables: Iterable[Carried]) -> None:
    print_rows([table._asdict() for table in tables])
