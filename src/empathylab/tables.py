"""Anybody's tables: CSV, JSONL and Parquet files as frames, with errors that name the row.

A row's number is the one a person sees in a spreadsheet: the header is row 1.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from empathylab.errors import InputError, UnknownName
from empathylab.files import read_bytes

if TYPE_CHECKING:
    import polars as pl

_NULLS = {"", "na", "n/a", "nan", "null", "none"}
_FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".txt": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
}
# The csv module cuts at 131,072 characters by default; a text may be longer.
_LONGEST_CELL = 64 * 1024 * 1024
_PART = 50_000
TableFile = Literal["csv", "jsonl", "parquet"]
_FORMULA_STARTS = r"[=+\-@\t\n＝＋－＠]"
# Also after apostrophes of the text's own, so that what was put in front can be told from them.
_RISKY = re.compile(rf"'*{_FORMULA_STARTS}")
_HARMLESS = re.compile(rf"'+{_FORMULA_STARTS}")
_NUMBER = r"[+\-−]?[\d.,]+(e[+\-]?\d+)?%?"
_WITH_INTERVAL = re.compile(rf"{_NUMBER}( \[{_NUMBER}, {_NUMBER}\])?", re.IGNORECASE)
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def read_table(path: Path, *, required: Sequence[str] = ()) -> pl.DataFrame:
    """The file's rows. CSV cells are text, JSONL and Parquet keep their types; empty is null.

    Raises InputError where the file is no such table, is not UTF-8, or lacks a required column.
    """
    kind = _format(path)
    content = read_bytes(path)
    where = path.name
    if kind == "parquet":
        frame = _parquet(content, where)
    elif kind == "jsonl":
        frame = _jsonl(decoded(content, where), where)
    else:
        frame = parse_csv(content, where=where, separator="\t" if kind == "tsv" else ",")
    require_columns(frame.columns, required, where=where)
    return frame


def _format(path: Path) -> str:
    kind = _FORMATS.get(path.suffix.lower())
    if kind is None:
        raise InputError(
            "this file type is not supported",
            where=path.name,
            got=path.suffix or "no ending",
            remedy="Save it as .csv, .tsv, .jsonl or .parquet.",
        )
    return kind


class TableParts:
    """A file's rows as `read_table` gives them, part by part, each time it is iterated.

    CSV and Parquet files are never in memory as a whole; lines of JSON are, because the kind of a
    column shows only at the end. `tick` is called with the share of the file that was read.
    """

    def __init__(self, path: Path, tick: Callable[[float], None] = lambda share: None) -> None:
        self._path, self._tick, self._kind = path, tick, _format(path)

    def __iter__(self) -> Iterator[pl.DataFrame]:
        if self._kind == "jsonl":
            yield read_table(self._path)
        elif self._kind == "parquet":
            yield from self._parquet_parts()
        else:
            yield from self._csv_parts()
        self._tick(1.0)

    def _csv_parts(self) -> Iterator[pl.DataFrame]:
        separator = "\t" if self._kind == "tsv" else ","
        try:
            size = self._path.stat().st_size
            with self._path.open("rb") as file:
                lines = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
                for frame in _csv_frames(lines, self._path.name, separator, _PART):
                    yield frame
                    self._tick(file.tell() / max(1, size))
        except UnicodeDecodeError:
            decoded(read_bytes(self._path), self._path.name)  # says in which row
            raise
        except OSError:
            read_bytes(self._path)  # says why
            raise

    def _parquet_parts(self) -> Iterator[pl.DataFrame]:
        import polars as pl

        try:
            rows = pl.scan_parquet(self._path)
            height = rows.select(pl.len()).collect().item()
            for start in range(0, max(1, height), _PART):
                yield rows.slice(start, _PART).collect()
                self._tick(start / max(1, height))
        except (pl.exceptions.PolarsError, OSError):
            _parquet(read_bytes(self._path), self._path.name)  # says what is wrong
            raise


def first_row(path: Path) -> int:
    """The number of a file's first row of data: a CSV file has a header, lines of JSON have not."""
    return 2 if _FORMATS.get(path.suffix.lower()) in ("csv", "tsv") else 1


def missing_as_null(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with null where a text cell says that there is nothing: NA, n/a, none …"""
    import polars as pl

    said = pl.col(pl.String).str.strip_chars().str.to_lowercase().is_in(sorted(_NULLS))
    return frame.with_columns(pl.when(~said).then(pl.col(pl.String)).name.keep())


def parse_csv(content: bytes, *, where: str, separator: str = ",") -> pl.DataFrame:
    """The rows of a CSV table, every cell as text; a row with another number of cells is refused.

    Python's reader, not Polars': it says which row is broken, and does not fill up short ones.
    """
    import polars as pl

    text = decoded(content, where)
    return pl.concat(_csv_frames(io.StringIO(text, newline=""), where, separator))


def _csv_frames(
    lines: Iterable[str], where: str, separator: str, most: int | None = None
) -> Iterator[pl.DataFrame]:
    """The rows of a CSV table in parts of at most so many; at least one part."""
    csv.field_size_limit(_LONGEST_CELL)
    reader = csv.reader(lines, delimiter=separator, strict=True)
    rows: list[list[str]] = []
    header: list[str] | None = None
    number = 1
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
                    f"the row has another number of cells ({len(cells)}) than the header "
                    f"({len(header)})",
                    where=f"{where} row {number}",
                    remedy="Put quotes round texts that hold commas, quotes or line breaks.",
                )
            rows.append(cells)
            if len(rows) == most:
                yield _framed(rows, header, where)
                rows = []
    except csv.Error as error:
        raise InputError(
            f"this is not a CSV table: {error}",
            where=f"{where} row {number + 1}",
            remedy="Fix the file's quotes.",
        ) from None
    if header is None or (number == 1 and not any(name.strip() for name in header)):
        raise InputError("the file is empty", where=where, remedy="Give a table with a header.")
    if rows or number == 1:
        yield _framed(rows, header, where)


def _framed(rows: list[list[str]], header: Sequence[str], where: str) -> pl.DataFrame:
    import polars as pl

    names = [name.strip() for name in header]
    for name in names:
        if names.count(name) > 1:
            raise InputError(
                "a column appears twice",
                where=where,
                got=name or "a column without a name",
                remedy="Keep one of them.",
            )
    columns = list(zip(*rows, strict=True)) if rows else [() for _ in names]
    frame = pl.DataFrame(
        [pl.Series(name, cells, pl.String) for name, cells in zip(names, columns, strict=True)]
    )
    filled = pl.all().str.strip_chars() != ""
    return frame.with_columns(pl.when(filled).then(pl.all()).name.keep())


def _jsonl(text: str, where: str) -> pl.DataFrame:
    import polars as pl

    rows: list[dict[str, Any]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(
                f"this is not JSON: {error}", where=f"{where} row {number}", remedy="Fix the line."
            ) from None
        if not isinstance(row, dict):
            raise InputError(
                "a line must be one JSON object",
                where=f"{where} row {number}",
                got=line[:60],
                remedy='Write {"column": value, …} on each line.',
            )
        # Only an escape can hold half a character, which no table takes.
        rows.append({clean_text(name): _whole(value) for name, value in row.items()})
    if not rows:
        raise InputError("the file is empty", where=where, remedy="Write one object per line.")
    try:
        return pl.from_dicts(rows, infer_schema_length=None)
    except (pl.exceptions.PolarsError, TypeError, UnicodeEncodeError) as error:
        raise InputError(
            "a column holds values of different kinds",
            where=where,
            got=str(error).splitlines()[0],
            remedy="Write each column as text, or each as a number.",
        ) from None


def _whole(value: object) -> object:
    return clean_text(value) if isinstance(value, str) else value


def _parquet(content: bytes, where: str) -> pl.DataFrame:
    import polars as pl

    try:
        return pl.read_parquet(io.BytesIO(content))
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(
            "this is not a Parquet file",
            where=where,
            got=str(error).splitlines()[0],
            remedy="Write it again, or save it as CSV.",
        ) from None


def decoded(content: bytes, where: str) -> str:
    """The bytes as text; where they are not UTF-8, the row and the likely remedy are named."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        utf16 = content[:2] in (b"\xff\xfe", b"\xfe\xff")
        row = content.count(b"\n", 0, error.start) + 1
        raise InputError(
            "the text is UTF-16, not UTF-8" if utf16 else "the text is not UTF-8",
            where=f"{where} row {row}",
            got=content[error.start : error.start + 1],
            remedy="Save the file as UTF-8 (in a spreadsheet: CSV UTF-8).",
        ) from None


def require_columns(names: Sequence[str], required: Iterable[str], *, where: str) -> None:
    """Raises InputError, naming every required column that is not there."""
    missing = [name for name in required if name not in names]
    if missing:
        plural = "s" if len(missing) > 1 else ""
        listed = ", ".join(repr(name) for name in missing)
        raise InputError(
            f"the column{plural} {listed} {'are' if plural else 'is'} missing",
            where=where,
            got=", ".join(names),
            remedy="Rename the file's columns, or add what is missing.",
        )


def column_named(frame: pl.DataFrame, name: str, *, where: str, remedy: str | None = None) -> str:
    """The name, if the frame has such a column; else the error says which comes near."""
    if name not in frame.columns:
        raise UnknownName("column", name, frame.columns, where=where, remedy=remedy)
    return name


def numbers(frame: pl.DataFrame, column: str, *, where: str) -> pl.Series:
    """The column as floats; nulls stay, and anything else that is no number is refused by row."""
    import polars as pl

    series = frame[column]
    if series.dtype.is_numeric():
        return series.cast(pl.Float64)
    texts = series.cast(pl.String).str.strip_chars()
    texts = texts.set(texts.str.to_lowercase().is_in(list(_NULLS)), None)
    cast = texts.cast(pl.Float64, strict=False)
    wrong = (texts.is_not_null() & (cast.is_null() | cast.is_infinite())).arg_true()
    if len(wrong):
        first = int(wrong[0])
        raise InputError(
            f"{column!r} must be a number",
            where=f"{where} row {first + 2}",
            got=texts[first],
            remedy="Fix the row.",
        )
    return cast


def clean_text(text: str) -> str:
    """The text with one kind of line break and without control characters and half characters."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text if text.isascii() and text.isprintable() else _CONTROLS.sub("\ufffd", text)


def harmless_cell(text: str) -> str:
    """The text as a CSV cell; with an apostrophe in front where a spreadsheet would run it.

    Texts, names of raters and of arms come from strangers. A number, with or without its interval,
    stays as it is.
    """
    # The csv module leaves a lone \r unquoted, and what follows it would start a row of its own.
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    risky = _RISKY.match(text) and not _WITH_INTERVAL.fullmatch(text)
    return f"'{text}" if risky else text


def plain_cell(cell: str) -> str:
    """The text that `harmless_cell` made the cell from, but for its kind of line break."""
    return cell[1:] if _HARMLESS.match(cell) else cell


def table_bytes(frame: pl.DataFrame, kind: TableFile) -> bytes:
    """The frame as a file, the same bytes for the same frame; missing cells of CSV are empty."""
    if kind == "parquet":
        parquet = io.BytesIO()
        frame.write_parquet(parquet, statistics=False)
        return parquet.getvalue()
    if kind == "jsonl":
        lines = (json.dumps(row, ensure_ascii=False) for row in frame.iter_rows(named=True))
        return "".join(f"{line}\n" for line in lines).encode()
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow([harmless_cell(name) for name in frame.columns])
    writer.writerows([_csv_cell(value) for value in row] for row in frame.iter_rows())
    return written.getvalue().encode()


def _csv_cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value) if isinstance(value, int | float) else harmless_cell(str(value))


def mapped(text: str, *, option: str) -> tuple[str, str]:
    """The two sides of OLD=NEW, as an option gives it."""
    old, sign, new = text.partition("=")
    if not sign or not old.strip() or not new.strip():
        raise InputError(f"{option} needs OLD=NEW", got=text, remedy=f"Write {option} old=new.")
    return old.strip(), new.strip()


def roles(frame: pl.DataFrame, named: Mapping[str, str | None], *, where: str) -> pl.DataFrame:
    """The frame with the user's columns under the names of their roles, and no others.

    `named` gives for each role the user's column; None where the role is optional and absent.
    """
    chosen = {role: column for role, column in named.items() if column is not None}
    for column in chosen.values():
        column_named(frame, column, where=where)
    import polars as pl

    return frame.select(pl.col(column).alias(role) for role, column in chosen.items())
