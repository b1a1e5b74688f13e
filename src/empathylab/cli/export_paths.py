"""The default folder of an export, and printing what was exported."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from empathylab.cli.tables import print_json, print_notes, print_rows

if TYPE_CHECKING:
    from empathylab.export import ExportedLab
    from empathylab.study.exports.folders import ExportedStudy


def new_place(exports: Path, name: str) -> Path:
    """The first place of that name in which there is nothing yet."""
    place, number = exports / name, 1
    while place.exists():
        number += 1
        place = exports / f"{name}-{number}"
    return place


def print_exported(done: ExportedLab | ExportedStudy, *, as_json: bool) -> None:
    """Prints the place and the files, and on stderr what to know about them."""

    if as_json:
        print_json(done)
        return
    typer.echo(done.path)
    print_rows([dataclasses.asdict(file) for file in done.files])
    print_notes(done.notes)
