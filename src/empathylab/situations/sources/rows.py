"""Many rows of a file as columns: in memory while they are few, else in a temporary folder."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import shutil
import tempfile
import weakref
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

if TYPE_CHECKING:
    import polars as pl

Thing = TypeVar("Thing")
_IN_MEMORY = 100_000


class Rows(Sequence[Thing], Generic[Thing]):
    """What a file holds, as things of one kind; `frames` gives them as columns, part by part.

    The columns are the fields of the thing, in their order.
    """

    def __init__(self, kind: Callable[..., Thing]) -> None:
        self._kind = kind
        self._parts: list[pl.DataFrame | Path] = []
        self._folder: Path | None = None
        self._length = 0
        self._digest = hashlib.sha256()

    def append(self, frame: pl.DataFrame) -> None:
        """Takes the next part."""
        self._length += frame.height
        self._digest.update(frame.hash_rows().to_numpy().tobytes())
        self._parts.append(frame)
        if self._length > _IN_MEMORY:
            self._parts = [self._stored(number, part) for number, part in enumerate(self._parts)]

    def frames(self) -> Iterator[pl.DataFrame]:
        """The parts, in the order of the file."""
        import polars as pl

        for part in self._parts:
            yield pl.read_ipc(part) if isinstance(part, Path) else part

    def at(self, positions: Collection[int]) -> Iterator[tuple[int, Thing]]:
        """The rows at these positions, with them."""
        start = 0
        for frame in self.frames() if positions else ():
            here = [n for n in range(start, start + frame.height) if n in positions]
            for position in here:
                yield position, self._kind(*frame.row(position - start))
            start += frame.height

    def without(self, positions: Sequence[int]) -> Rows[Thing]:
        """The rows but those at these positions."""
        import polars as pl

        kept: Rows[Thing] = Rows(self._kind)
        start = 0
        for frame in self.frames():
            here = pl.int_range(start, start + frame.height, dtype=pl.Int64)
            kept.append(frame.filter(~here.is_in(positions)))
            start += frame.height
        return kept

    def _stored(self, number: int, part: pl.DataFrame | Path) -> Path:
        if isinstance(part, Path):
            return part
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="empathylab-"))
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        path = self._folder / f"{number}.arrow"
        part.write_ipc(path)
        return path

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Thing]:
        for frame in self.frames():
            for row in frame.iter_rows():
                yield self._kind(*row)

    @overload
    def __getitem__(self, index: int) -> Thing: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Thing]: ...
    def __getitem__(self, index: int | slice) -> Thing | Sequence[Thing]:
        return tuple(self)[index]

    def __repr__(self) -> str:
        """The same for the same rows, so that a hash of what holds them tells their content."""
        return f"Rows({self._length}, {self._digest.hexdigest()})"


def frames_of(things: Sequence[Any], kind: type, types: dict[str, Any]) -> Iterator[pl.DataFrame]:
    """The things as columns of these types, part by part; mappings as JSON text."""
    import polars as pl

    if isinstance(things, Rows):
        yield from things.frames()
        return
    names = [field.name for field in dataclasses.fields(kind)]
    for start in range(0, len(things), _IN_MEMORY):
        rows = [
            tuple(_cell(getattr(thing, name)) for name in names)
            for thing in things[start : start + _IN_MEMORY]
        ]
        yield pl.DataFrame(rows, schema={name: types[name] for name in names}, orient="row")


def _cell(value: object) -> object:
    if isinstance(value, Mapping):
        return json.dumps(dict(value), ensure_ascii=False) if value else None
    return value
