"""Long lists, a page at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from urllib.parse import urlencode

from empathylab.store.schema.statements import Rows
from empathylab.study.web.console.visits import Visit

_MOST_PAGES = 1_000_000


@dataclass(frozen=True, slots=True)
class Pager:
    """Where one is in a long list."""

    path: str
    number: int
    """From 1."""
    size: int
    total: int
    query: tuple[tuple[str, str], ...] = ()

    @property
    def skipped(self) -> int:
        """How many entries come before."""
        return (self.number - 1) * self.size

    @property
    def is_empty(self) -> bool:
        """Whether nothing is shown, because there is nothing or the list ends before."""
        return self.skipped >= self.total

    @property
    def first(self) -> int:
        """The number of the first entry shown."""
        return self.skipped + 1

    @property
    def last(self) -> int:
        """The number of the last entry shown."""
        return min(self.skipped + self.size, self.total)

    @property
    def before(self) -> str | None:
        """The address of the page before."""
        return self._address(self.number - 1) if self.number > 1 else None

    @property
    def after(self) -> str | None:
        """The address of the page after."""
        return self._address(self.number + 1) if self.last < self.total else None

    def _address(self, number: int) -> str:
        return f"{self.path}?{urlencode([*self.query, ('page', str(number))])}"


def read_page(
    visit: Visit,
    read: Callable[..., tuple[int, Rows]],
    *,
    size: int,
    query: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Pager, Rows]:
    """The page of a list that the address asks for, and its rows.

    `read` takes a connection, the study's id, and its `limit` and `offset`; it also gives the
    length of the list. `query` is what else the addresses of the other pages say.
    """
    console = visit.console
    number = min(max(1, visit.asked_number("page")), _MOST_PAGES)
    with console.lab.reading() as connection:
        total, rows = read(connection, console.launched.row, limit=size, offset=(number - 1) * size)
    kept = tuple((name, value) for name, value in query.items() if value)
    path = f"{visit.root}{visit.request.url.path.removeprefix(visit.root)}"
    return Pager(path, number, size, total, kept), rows
