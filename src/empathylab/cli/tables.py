"""Results on stdout, as text, tables or JSON; notes about them on stderr."""

from __future__ import annotations

import dataclasses
import json
import math
import sys
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from empathylab.tables import clean_text, separator_of

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console
    from rich.text import Text

T = TypeVar("T")
_WIDEST = 10_000


def print_json(content: Any, *, indent: int | None = 2) -> None:
    """Prints the content on stdout as JSON, with null for a number that JSON does not know."""
    typer.echo(json.dumps(_plain(content), indent=indent, ensure_ascii=False, allow_nan=False))


def _plain(content: Any) -> Any:
    """Results and dataclasses as objects, NaN and infinity as None."""
    if isinstance(content, float):
        return content if math.isfinite(content) else None
    if hasattr(content, "to_dict"):
        return _plain(content.to_dict())
    if dataclasses.is_dataclass(content) and not isinstance(content, type):
        content = dataclasses.asdict(content)
    if isinstance(content, dict):
        return {key: _plain(value) for key, value in content.items()}
    return [_plain(value) for value in content] if isinstance(content, list | tuple) else content


def show(result: T, print_text: Callable[[T], None], *, as_json: bool) -> None:
    """Prints the result as JSON, or as the command's text."""
    if as_json:
        print_json(result)
    else:
        print_text(result)


def show_rows(rows: Sequence[dict[str, Any]], name: str, *, as_json: bool) -> None:
    """Prints the rows as a table, or as JSON under this name."""
    if as_json:
        print_json({name: list(rows)})
    else:
        print_rows(rows)


def open_in_browser(link: str) -> None:
    """Opens the link; some browsers run in the terminal and would keep a server from starting."""
    threading.Thread(target=typer.launch, args=(link,), daemon=True).start()


def print_notes(sentences: Iterable[str]) -> None:
    """Prints what to know about a result, on stderr."""
    for sentence in sentences:
        typer.echo(sentence, err=True)


def note_semicolons(file: Path) -> None:
    """Says on stderr that a CSV file's cells are separated by semicolons, where they are."""
    if separator_of(file) == ";":
        note = "columns are separated by semicolons; commas in numbers are decimal commas."
        typer.echo(f"{file.name}: {note}", err=True)


def print_formatted(
    rows: Sequence[dict[str, Any]], table_format: str, *, caption: str = ""
) -> None:
    """Prints the rows for a paper or a spreadsheet: as Markdown, LaTeX or CSV."""
    from empathylab.report.table_formats import table

    typer.echo(table(rows, table_format, caption=caption), nl=False)


def print_titled(
    title: str, rows: Sequence[Mapping[str, Any]], *, as_named: Collection[str] = ()
) -> None:
    """Prints the rows below an empty line and their title; nothing if there are none."""
    if rows:
        typer.echo(f"\n{title}" if title else "")
        print_rows(rows, as_named=as_named)


def print_rows(rows: Sequence[Mapping[str, Any]], *, as_named: Collection[str] = ()) -> None:
    """Prints the rows on stdout as a table.

    `as_named` are headings that are names of a user's own, and keep their underscores.
    """
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


def _print_records(
    names: Sequence[str], rows: Sequence[Mapping[str, Any]], console: Console
) -> None:
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
