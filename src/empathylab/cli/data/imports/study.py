"""`empathylab data import study`: an archived study from another lab."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from empathylab.cli.options import DEFAULT_LAB, JsonOption, LabOption, argument, option
from empathylab.cli.tables import print_json, print_notes

EXAMPLE = "Example: `empathylab data import study my-study.zip`"


def study(
    path: Annotated[Path, argument("An archive that `empathylab study export --archive` wrote.")],
    name: Annotated[str | None, option("The study's name in this lab. Default: its own.")] = None,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Imports an archived study: its protocol, situations, responses, raters and ratings.

    Every member is checked against its hash. Importing the same archive again changes nothing.
    """
    from empathylab.store import Lab
    from empathylab.study.archives import read_archive, unpack_study

    archive = read_archive(path)
    with Lab.open(lab) as opened:
        done = unpack_study(opened, archive, name=name, where=path.name)
    if json:
        print_json(done)
        return
    typer.echo(f"{path.name}: {done.change} (study {done.study}, version {done.version})")
    typer.echo(
        f"{done.situations:,} situations, {done.responses:,} responses, {done.raters:,} raters, "
        f"{done.ratings:,} ratings; SHA-256 {done.hash}"
    )
    print_notes(done.notes)
