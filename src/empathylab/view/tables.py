"""Tables of the viewer: what they show, a page at a time, and the same as CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from urllib.parse import urlencode

from sqlalchemy import Connection

from empathylab.store.listings.pages import MOST_COUNTED, Listing, Row
from empathylab.tables import harmless_cell

Kind = Literal[
    "text",
    "respondent",
    "number",
    "change",
    "points",
    "money",
    "seconds",
    "time",
    "outcome",
    "status",
    "progress",
]
_CHUNK = 5_000
_SHORT = ("run", "administration", "protocol", "kind", "phase", "mode", "reversed", "emotion")
_LONG = ("text", "reason", "message", "words", "said", "first_text", "second_text")
_LAST_PAGE = 1_000_000


@dataclass(frozen=True, slots=True)
class Column:
    """One column: the key of its value in a row, its heading, and how it is written."""

    key: str
    label: str
    kind: Kind = "text"
    href: Callable[[Row], str | None] | None = None
    digits: int = 0
    note: str = ""
    """The key of a second line below it."""
    csv_only: bool = False
    """Whether only the download has it, as the page says it elsewhere."""

    @property
    def width(self) -> str:
        """How wide it is: `n` for numbers, `short`, `long`, `noted`, or empty for others."""
        if self.kind in ("number", "change", "points", "money", "seconds"):
            return "n"
        if self.note:
            return "noted"
        if self.kind in ("time", "outcome", "status", "progress") or self.key in _SHORT:
            return "short"
        return "long" if self.key in _LONG else ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table that can be read from any row on."""

    name: str
    caption: str
    columns: Sequence[Column]
    read: Callable[..., Listing]
    """The rows from an offset on, up to a limit."""
    cuts: bool = False
    """Whether it cuts texts, unless it is read `whole=True` for CSV."""
    size: int = 50
    empty: str = "There is nothing here yet."
    all_rows: str = ""
    """The page that lists all rows, where this shows the first ones only."""
    paged: bool = True
    """Whether the page number in the address is for this table."""

    def csv_lines(self, connection: Connection) -> Iterator[str]:
        """All rows as CSV, some lines at a time."""
        keys = [key for column in self.columns for key in (column.key, column.note) if key]
        yield _csv([keys])
        offset, how = 0, {"whole": True} if self.cuts else {}
        while rows := self.read(connection, offset, _CHUNK, **how).rows:
            yield _csv([[_cell(row.get(key)) for key in keys] for row in rows])
            offset += len(rows)
            if len(rows) < _CHUNK:
                return


def fixed_table(name: str, caption: str, columns: Sequence[Column], rows: Sequence[Row]) -> Table:
    """A table of rows that are known already."""

    def read(_connection: Connection, offset: int, limit: int) -> Listing:
        return Listing(rows[offset : offset + limit], len(rows))

    return Table(name, caption, columns, read, size=max(1, len(rows)), paged=False)


@dataclass(frozen=True, slots=True)
class TablePage:
    """A table's rows on one page, and the way to the others."""

    table: Table
    rows: Sequence[Row]
    number: int
    total: int
    path: str
    query: Mapping[str, str]

    @property
    def columns(self) -> list[Column]:
        """The columns that hold anything on this page."""

        def holds(column: Column) -> bool:
            return not column.csv_only and any(
                row.get(column.key) not in (None, "") for row in self.rows
            )

        return [column for column in self.table.columns if holds(column)]

    @property
    def first(self) -> int:
        """The number of the first row shown."""
        return (self.number - 1) * self.table.size + 1

    @property
    def last(self) -> int:
        """The number of the last row shown."""
        return self.first + len(self.rows) - 1

    @property
    def count(self) -> str:
        """How many rows there are."""
        return f"more than {MOST_COUNTED:,}" if self.total > MOST_COUNTED else f"{self.total:,}"

    @property
    def before(self) -> str | None:
        """The address of the page before; behind the list's end, that of its last page."""
        last_page = max(1, -(-self.total // self.table.size))
        number = self.number - 1 if self.rows else min(self.number - 1, last_page)
        return self._address(page=str(number)) if self.number > 1 else None

    @property
    def after(self) -> str | None:
        """The address of the page after."""
        more = self.table.paged and self.rows and self.last < self.total
        return self._address(page=str(self.number + 1)) if more else None

    @property
    def filtered(self) -> bool:
        """Whether the address asks for some of the rows only."""
        return any(self.query[name] for name in self.query if name not in ("page", "csv", "view"))

    @property
    def message(self) -> str:
        """What stands in place of rows where there are none."""
        if self.number > 1:
            return "The list ends before this page."
        return "Nothing matches these filters." if self.filtered else self.table.empty

    @property
    def csv(self) -> str:
        """The address of all rows as a file."""
        return self._address(csv=self.table.name)

    def _address(self, **more: str) -> str:
        kept = {name: value for name, value in self.query.items() if name not in ("page", "csv")}
        return f"{self.path}?{urlencode(kept | more)}"


def table_page(
    connection: Connection, table: Table, path: str, query: Mapping[str, str]
) -> TablePage:
    """The page of the table that the address asks for."""
    number = whole_number(query.get("page", "")) or 1
    number = min(max(1, number), _LAST_PAGE) if table.paged else 1
    listing = table.read(connection, (number - 1) * table.size, table.size)
    return TablePage(table, listing.rows, number, listing.total, path, query)


def whole_number(text: str) -> int | None:
    """The number in a part of an address; None where there is none that a row can have."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else None


def _csv(rows: Sequence[Sequence[str]]) -> str:
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows(rows)
    return written.getvalue()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds")
    if isinstance(value, dict | list):
        return harmless_cell(json.dumps(value, ensure_ascii=False, sort_keys=True))
    return repr(value) if isinstance(value, int | float) else harmless_cell(str(value))
