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
    from rich.console import Console
    from rich.text import Text

_WIDEST = 10_000


def print_json(content: Any, *, indent: int | None = 2) -> None:
    """Prints the content on stdout as JSON, with null for a number that JSON does not know."""
    typer.echo(json.dumps(_finite(content), indent=indent, ensure_ascii=False, allow_nan=False))


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
    names = (
        [name if name in as_named else name.replace("_", " ") for name in rows[0]] if rows else []
    )
    for name in names:
        table.add_column(_shown(name))
    for row in rows:
        table.add_row(*(_shown(_cell(value)) for value in row.values()))
    console = Console(highlight=False, soft_wrap=True)
    widest = console.measure(table, options=console.options.update(width=_WIDEST)).maximum
    if sys.stdout.isatty() and widest - 2 > console.width:
        _print_records(names, rows, console)
        return
    # A file or a pipe has no width: cells must not be cut there.
    console.width = widest
    console.print(table)


def _print_records(names: Sequence[str], rows: Sequence[dict[str, Any]], console: Console) -> None:
    """One line per value, for a terminal that is too narrow for the table."""
    for row in rows:
        for place, (name, value) in enumerate(zip(names, row.values(), strict=True)):
            console.print(_shown(f"{'  ' if place else ''}{name}: {_cell(value)}"))


def _shown(text: str) -> Text:
    """The text as it is: what looks like Rich's markup, or would move the cursor, is text."""
    from rich.text import Text

    return Text(clean_text(text))


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "–" if value is None else str(value)
