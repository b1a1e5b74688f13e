"""How far the import of a large file is, on the terminal."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

_LARGE = 5_000_000


@dataclass(frozen=True, slots=True)
class ImportProgress:
    """Bars for reading and for storing; none where the file is small or nobody watches."""

    bar: Progress | None

    def reading(self, path: Path) -> Callable[[float], None]:
        """What takes the share of the file that was read."""
        if self.bar is None:
            return lambda share: None
        bar, task = self.bar, self.bar.add_task(f"reading {path.name}", total=1.0)
        return lambda share: bar.update(task, completed=share)

    def storing(self, rows: int) -> Callable[[int], None]:
        """What takes the number of rows that were stored, again and again."""
        if self.bar is None:
            return lambda stored: None
        bar, task = self.bar, self.bar.add_task(f"storing {rows:,} rows", total=rows)
        return lambda stored: bar.advance(task, stored)


@contextlib.contextmanager
def import_progress(path: Path) -> Iterator[ImportProgress]:
    """The bars of one import, on stderr."""
    large = path.is_file() and path.stat().st_size > _LARGE
    if not large or not sys.stderr.isatty():
        yield ImportProgress(None)
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        yield ImportProgress(bar)
