"""Rows of plain values, printed as a table or as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import typer

from empathylab.tables import clean_text

if TYPE_CHECKING:
    from rich.text import Text


def print_rows(
    rows: Sequence[dict[str, Any]],
    name: str,
    *,
    as_json: bool,
    as_named: Collection[str] = (),
) -> None:
    """Prints the rows on stdout; as JSON they come under `name`.

    `as_named` are headings that are names of a user's own, and keep their underscores.
    """
    if as_json:
        typer.echo(json.dumps({name: list(rows)}, indent=2, ensure_ascii=False))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0))
    for column in rows[0] if rows else ():
        table.add_column(_shown(column if column in as_named else column.replace("_", " ")))
    for row in rows:
        table.add_row(*(_shown(_cell(value)) for value in row.values()))
    # A file or a pipe has no width: cells must not be cut there.
    width = None if sys.stdout.isatty() else 1000
    Console(highlight=False, width=width).print(table)


def _shown(text: str) -> Text:
    """The text as it is: what looks like Rich's markup, or would move the cursor, is text."""
    from rich.text import Text

    return Text(clean_text(text))


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "–" if value is None else str(value)
