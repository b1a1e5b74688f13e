"""Rows of plain values, printed as a table or as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

import typer


def print_rows(rows: Sequence[dict[str, Any]], name: str, *, as_json: bool) -> None:
    """Prints the rows on stdout; as JSON they come under `name`."""
    if as_json:
        typer.echo(json.dumps({name: list(rows)}, indent=2, ensure_ascii=False))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0))
    for column in rows[0] if rows else ():
        table.add_column(column.replace("_", " "))
    for row in rows:
        table.add_row(*(_cell(value) for value in row.values()))
    # A file or a pipe has no width: cells must not be cut there.
    width = None if sys.stdout.isatty() else 1000
    Console(highlight=False, width=width).print(table)


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "–" if value is None else str(value)
