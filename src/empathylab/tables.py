"""Tables of any origin: CSV, JSONL and Parquet files as frames, with errors that name the row.

A row's number is the one a person sees in a spreadsheet: the header is row 1.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from empathylab.csv_tables import csv_frames, has_semicolons
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
_PART = 50_000
TableFile = Literal["csv", "jsonl", "parquet"]
_FORMULA_STARTS = r"[=+\-@\t\n＝＋－＠]"
# Also after apostrophes of the text's own, so that what was put in front can be distinguished from
# them.
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
        frame = _joined(
            list(_jsonl_frames(io.BytesIO(decoded(content, where).encode()), where)), where
        )
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

    The file is never in memory as a whole. `tick` is called with the share that was read.
    """

    def __init__(self, path: Path, tick: Callable[[float], None] = lambda share: None) -> None:
        self._path, self._tick, self._kind = path, tick, _format(path)
        self._types: pl.DataFrame | None = None

    def __iter__(self) -> Iterator[pl.DataFrame]:
        if self._kind == "parquet":
            yield from self._parquet_parts()
        else:
            yield from self._text_parts()
        self._tick(1.0)

    def _text_parts(self) -> Iterator[pl.DataFrame]:
        separator = "\t" if self._kind == "tsv" else ","
        try:
            size = self._path.stat().st_size
            with self._path.open("rb") as file:
                if self._kind == "jsonl":
                    parts = self._jsonl_parts(file)
                else:
                    parts = csv_frames(file, where=self._path.name, separator=separator)
                for frame in parts:
                    yield frame
                    self._tick(file.tell() / max(1, size))
        except UnicodeDecodeError:
            decoded(read_bytes(self._path), self._path.name)  # says in which row
            raise
        except OSError:
            read_bytes(self._path)  # says why
            raise

    def _jsonl_parts(self, file: BinaryIO) -> Iterator[pl.DataFrame]:
        """The kind of a column shows only at the end, so the file is read twice."""
        import polars as pl

        if self._types is None:
            types = pl.DataFrame()
            for frame in _jsonl_frames(file, self._path.name):
                types = _joined([types, frame.clear()], self._path.name)
            self._types = types
            file.seek(0)
        for frame in _jsonl_frames(file, self._path.name):
            yield _joined([self._types, frame], self._path.name)

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


def separator_of(path: Path) -> str:
    """What separates the cells of a CSV or TSV file; empty for other files."""
    kind = _format(path)
    if kind != "csv":
        return "\t" if kind == "tsv" else ""
    with path.open("rb") as file:
        return ";" if has_semicolons(file.readline(_PART)) else ","


def first_row(path: Path) -> int:
    """The number of a file's first row of data: a CSV file has a header, lines of JSON have not."""
    return 2 if _FORMATS.get(path.suffix.lower()) in ("csv", "tsv") else 1


def missing_as_null(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with null where a text cell says that there is nothing: NA, n/a, none …"""
    import polars as pl

    is_missing = pl.col(pl.String).str.strip_chars().str.to_lowercase().is_in(sorted(_NULLS))
    return frame.with_columns(pl.when(~is_missing).then(pl.col(pl.String)).name.keep())


def parse_csv(content: bytes, *, where: str, separator: str = ",") -> pl.DataFrame:
    """The rows of a CSV table, every cell as text; a row with too many or few cells is refused."""
    import polars as pl

    try:
        return pl.concat(csv_frames(io.BytesIO(content), where=where, separator=separator))
    except UnicodeDecodeError:
        decoded(content, where)  # says in which row
        raise


def _jsonl_frames(file: BinaryIO, where: str) -> Iterator[pl.DataFrame]:
    """The lines of JSON in parts, at least one, each with columns of its own kinds."""
    rows: list[dict[str, Any]] = []
    given = 0
    for number, line in enumerate(file, start=1):
        text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        if not text.strip():
            continue
        rows.append(_json_object(text, f"{where} row {number}"))
        if len(rows) == _PART:
            yield _framed(rows, where)
            given, rows = given + _PART, []
    if not rows and not given:
        raise InputError("the file is empty", where=where, remedy="Write one object per line.")
    if rows:
        yield _framed(rows, where)


def _json_object(line: str, where: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"this is not JSON: {error}", where=where, remedy="Fix the line."
        ) from None
    if not isinstance(row, dict):
        raise InputError(
            "a line must be one JSON object",
            where=where,
            got=line.strip()[:60],
            remedy='Write {"column": value, …} on each line.',
        )
    # Only an escape can hold half a character, which no table takes.
    return {clean_text(name): _whole(value) for name, value in row.items()}


def _framed(rows: list[dict[str, Any]], where: str) -> pl.DataFrame:
    import polars as pl

    with _one_kind_per_column(where):
        return pl.from_dicts(rows, infer_schema_length=None)


def _joined(frames: Sequence[pl.DataFrame], where: str) -> pl.DataFrame:
    """The frames below each other, with all their columns, each of a kind that holds its cells."""
    import polars as pl

    with _one_kind_per_column(where):
        return pl.concat(frames, how="diagonal_relaxed")


@contextlib.contextmanager
def _one_kind_per_column(where: str) -> Iterator[None]:
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, TypeError, UnicodeEncodeError) as error:
        raise InputError(
            "a column has values of different kinds",
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
            remedy="Export it again, or save it as CSV.",
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


def column_named(frame: pl.DataFrame, name: str, *, where: str, option: str | None = None) -> str:
    """The name, if the frame has such a column; else the error names near ones and the option."""
    if name not in frame.columns:
        remedy = f"Name the column with {option} COLUMN." if option else None
        raise UnknownName("column", name, frame.columns, where=where, remedy=remedy)
    return name


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
    return csv_text((frame.columns, *frame.iter_rows())).encode()


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """The rows as CSV that no spreadsheet runs as a formula; missing cells are empty."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerows([_csv_cell(value) for value in row] for row in rows)
    return written.getvalue()


def _csv_cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds")
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value) if isinstance(value, int | float) else harmless_cell(str(value))


def key_value(text: str, *, option: str, form: str = "OLD=NEW") -> tuple[str, str]:
    """The two sides of a pair such as OLD=NEW, as an option gives it."""
    key, sign, value = (part.strip() for part in text.partition("="))
    if not (key and sign and value):
        raise InputError(
            f"{option} needs {form}", got=text, remedy=f"Write {option} {form.lower()}."
        )
    return key, value


def key_values(
    texts: Iterable[str] | None, *, option: str, form: str = "OLD=NEW"
) -> dict[str, str]:
    """The pairs of an option that can be repeated."""
    return dict(key_value(text, option=option, form=form) for text in texts or ())


def renamed(
    frame: pl.DataFrame, named: Mapping[str, str], *, where: str, options: bool = False
) -> pl.DataFrame:
    """The frame with the user's columns under the names of their roles, and all others.

    A column that only has the name of a role is dropped. With `options`, errors name the option
    of each role.
    """
    missing = {role: column for role, column in named.items() if column not in frame.columns}
    if options and len(missing) > 1:
        raise InputError(
            f"there are no columns {', '.join(map(repr, missing.values()))}",
            where=where,
            got=", ".join(frame.columns),
            remedy=f"Name them: {' '.join(f'--{role} COLUMN' for role in missing)}.",
        )
    for role, column in missing.items():
        column_named(frame, column, where=where, option=f"--{role}" if options else None)
    replaced = [role for role, column in named.items() if role != column and role in frame.columns]
    return frame.drop(replaced).rename({column: role for role, column in named.items()})
