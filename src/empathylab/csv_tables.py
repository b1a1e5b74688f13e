"""CSV tables as frames, part by part, with errors that name the row.

Polars reads a part where it is certain to find what Python's reader would find. From the first part
where it is not, Python's reader reads the rest: it says which row is broken, and does not fill up
short ones.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, BinaryIO

from empathylab.errors import InputError

if TYPE_CHECKING:
    import polars as pl

# The csv module cuts at 131,072 characters by default; a text may be longer.
_LONGEST_CELL = 64 * 1024 * 1024
_BYTES = 8 * 1024 * 1024
_ROWS = 50_000
_BOM = b"\xef\xbb\xbf"


def csv_frames(file: BinaryIO, *, where: str, separator: str = ",") -> Iterator[pl.DataFrame]:
    """The rows of a CSV table in parts, at least one; every cell is text, an empty one null.

    A row with another number of cells than the header is refused, and UnicodeDecodeError raised
    where the text is not UTF-8. A comma-separated table whose header has semicolons and no comma
    is read as spreadsheets of many languages write it: cells between semicolons, decimal commas.
    """
    line = file.readline(_BYTES).removeprefix(_BOM)
    if separator == "," and has_semicolons(line):
        file.seek(0)
        yield from map(_decimal_points, csv_frames(file, where=where, separator=";"))
        return
    header = _plain_header(line, separator)
    if header is None:
        file.seek(0)
        yield from _read_by_python(file, where, separator)
        return
    names = _names(header, where)
    number, rest, more = 1, b"", True
    while more:
        start = file.tell() - len(rest)
        read = file.read(_BYTES)
        more = len(read) == _BYTES
        block = rest + read
        end = _end_of_last_row(block) if more else len(block)
        if more and not end and len(block) < _LONGEST_CELL:
            rest = block
            continue
        frame = _read_by_polars(block[:end], names, separator)
        if frame is None:
            file.seek(start)
            yield from _read_by_python(file, where, separator, header, number)
            return
        if frame.height or number == 1:
            yield frame
        number += frame.height
        rest = block[end:]


def has_semicolons(header: bytes) -> bool:
    """Whether the cells of a header are separated by semicolons; quoted ones may hold any."""
    outside = b"".join(header.split(b'"')[::2])
    return b";" in outside and b"," not in outside


def _decimal_points(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with 3.5 for a cell that is 3,5."""
    import polars as pl

    return frame.with_columns(pl.all().str.replace(r"^(\s*[+-]?\d+),(\d+\s*)$", "${1}.${2}"))


def _plain_header(line: bytes, separator: str) -> list[str] | None:
    """The cells of the first line; None where they are not for certain one row of several cells."""
    if b'"' in line or b"\r" in line.removesuffix(b"\r\n") or not line.endswith(b"\n"):
        return None
    cells = line.decode().rstrip("\r\n").split(separator)
    return cells if len(cells) > 1 and any(cell.strip() for cell in cells) else None


def _names(header: Sequence[str], where: str) -> list[str]:
    names = [name.strip() for name in header]
    for name in names:
        if names.count(name) > 1:
            raise InputError(
                "a column appears twice",
                where=where,
                got=name or "a column without a name",
                remedy="Keep one of them.",
            )
    return names


def _end_of_last_row(block: bytes) -> int:
    """Where the last row ends that is there as a whole: a line break outside quotes; else 0."""
    end = len(block)
    quotes = block.count(b'"')
    while (found := block.rfind(b"\n", 0, end)) >= 0:
        quotes -= block.count(b'"', found, end)
        if quotes % 2 == 0:
            return found + 1
        end = found
    return 0


def _read_by_polars(block: bytes, names: Sequence[str], separator: str) -> pl.DataFrame | None:
    """The rows of the block; None where Python's reader might find something else.

    Polars fills up short rows, and refuses long ones. So every row has all of its cells where the
    block has no separator less than that takes, those inside of cells left out.
    """
    import polars as pl

    if not block:
        return pl.DataFrame(schema=dict.fromkeys(names, pl.String))
    if not _has_plain_quotes(block, separator.encode()):
        return None
    try:
        frame = pl.read_csv(
            block,
            has_header=False,
            schema=dict.fromkeys(names, pl.String),
            separator=separator,
        )
    except pl.exceptions.PolarsError:
        return None
    separators = (len(names) - 1) * frame.height
    if b'"' in block:
        inside = frame.select(pl.all().str.count_matches(separator, literal=True).sum())
        separators += sum(count or 0 for count in inside.row(0))
    return _empty_as_null(frame) if block.count(separator.encode()) == separators else None


def _has_plain_quotes(block: bytes, separator: bytes) -> bool:
    """Whether quotes enclose whole cells only, and rows end in one of the two usual ways."""
    if b"\r" in block and block.count(b"\r") != block.count(b"\r\n"):
        return False
    if b'"' not in block:
        return True
    pieces = block.split(b'"')
    outside = pieces[::2]  # empty between the two quotes that stand for one
    before = {piece[-1:] for piece in outside[:-1]}
    after = {piece[:1] for piece in outside[1:]}
    usual = {separator, b"\n", b""}
    return len(pieces) % 2 == 1 and before <= usual and after <= {*usual, b"\r"}


def _read_by_python(
    file: BinaryIO,
    where: str,
    separator: str,
    header: Sequence[str] | None = None,
    number: int = 1,
) -> Iterator[pl.DataFrame]:
    """The rest of the table, from row `number` on."""
    encoding = "utf-8-sig" if header is None else "utf-8"
    lines = io.TextIOWrapper(file, encoding=encoding, newline="")
    csv.field_size_limit(_LONGEST_CELL)
    reader = csv.reader(lines, delimiter=separator, strict=True)
    first, rows = number, list[list[str]]()
    try:
        for cells in reader:
            if header is None:
                header = cells
                continue
            if not cells:
                continue
            number += 1
            if len(cells) != len(header):
                raise InputError(
                    f"the row has a different number of cells ({len(cells)}) than the header "
                    f"({len(header)})",
                    where=f"{where} row {number}",
                    remedy="Put quotes around texts that contain "
                    f"{'semicolons' if separator == ';' else 'commas'}, quotes or line breaks.",
                )
            rows.append(cells)
            if len(rows) == _ROWS:
                yield _framed(rows, header, where)
                rows = []
    except csv.Error as error:
        raise InputError(
            f"this is not a CSV table: {error}",
            where=f"{where} row {number + 1}",
            remedy="Fix the file's quotes.",
        ) from None
    finally:
        lines.detach()
    if header is None or (number == 1 and not any(name.strip() for name in header)):
        raise InputError("the file is empty", where=where, remedy="Give a table with a header.")
    if rows or number == first == 1:
        yield _framed(rows, header, where)


def _framed(rows: list[list[str]], header: Sequence[str], where: str) -> pl.DataFrame:
    import polars as pl

    names = _names(header, where)
    columns = list(zip(*rows, strict=True)) if rows else [() for _ in names]
    return _empty_as_null(
        pl.DataFrame(
            [pl.Series(name, cells, pl.String) for name, cells in zip(names, columns, strict=True)]
        )
    )


def _empty_as_null(frame: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    filled = pl.all().str.strip_chars() != ""
    return frame.with_columns(pl.when(filled).then(pl.all()).name.keep())
