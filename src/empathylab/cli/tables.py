"""Results on stdout: rows as a table or as JSON."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import typer

from empathylab.tables import clean_text

if TYPE_CHECKING:
    from rich.text import Text


def print_json(content: Any) -> None:
    """Prints the content on stdout as JSON, with null for a number that JSON does not know."""
    typer.echo(json.dumps(_finite(content), indent=2, ensure_ascii=False, allow_nan=False))


def _finite(content: Any) -> Any:
    if isinstance(content, float):
        return content if math.isfinite(content) else None
    if isinstance(content, dict):
        return {key: _finite(value) for key, value in content.items()}
    return [_finite(value) for value in content] if isinstance(content, list | tuple) else content


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
        print_json({name: list(rows)})
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
