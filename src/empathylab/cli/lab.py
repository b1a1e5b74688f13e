"""`empathylab lab`: the lab as a whole, into a file and back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from empathylab.cli.options import DEFAULT_LAB, JsonOption, LabOption, argument
from empathylab.cli.tables import print_json

if TYPE_CHECKING:
    from empathylab.export.backups import Backup

app = typer.Typer(
    no_args_is_help=True,
    help="Backs up and restores the whole lab.",
    epilog="Example: `empathylab lab backup monday.zip`",
)


@app.command("backup", epilog="Example: `empathylab lab backup monday.zip --lab lab`")
def backup(
    file: Annotated[Path, argument("A new file.")],
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Backs up the lab's database to one file, even while it is in use.

    PostgreSQL needs pg_dump to be installed. The file contains platform IDs and secrets, like the
    lab itself; only its owner can read it.
    """
    from empathylab.export.backups import back_up

    _print(back_up(lab, file), "Backed up", as_json=json)


@app.command("restore", epilog="Example: `empathylab lab restore monday.zip --lab restored`")
def restore(
    file: Annotated[Path, argument("A file that `lab backup` wrote.")],
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Restores a lab from a backup, to a new folder or an empty PostgreSQL database.

    Counts the rows of every table and compares them with the backup.
    """
    from empathylab.export import backups

    _print(backups.restore(lab, file), "Restored", as_json=json)


def _print(done: Backup, what: str, *, as_json: bool) -> None:
    if as_json:
        print_json(done)
        return
    rows = sum(done.rows.values())
    typer.echo(
        f"{what} {rows:,} rows of {len(done.rows)} tables, as of {done.made_at}; every row was "
        f"counted ({done.file})."
    )
