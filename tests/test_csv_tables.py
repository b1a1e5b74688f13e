"""CSV tables: what Polars reads of them is what Python's reader finds, row numbers included."""

from __future__ import annotations

import csv
import io
import random
from pathlib import Path

import polars as pl
import pytest

from empathylab import csv_tables, tables
from empathylab.errors import InputError
from empathylab.tables import TableParts, read_table

PIECES = ["a", "b", " ", ",", '"', '""', "\n", "\r\n", "\r", "é", "\x00", "", '"x, y"', '"l\nm"']
CELLS = ["a", "b", " ", ",", '"', "\n", "é", "\r\n", "1.5", ""]


def found(content: bytes, *, by_python: bool = False) -> object:
    file = io.BytesIO(content)
    try:
        if by_python:
            return pl.concat(csv_tables._read_by_python(file, "t.csv", ",")).rows()
        return pl.concat(csv_tables.csv_frames(file, where="t.csv")).rows()
    except (InputError, UnicodeDecodeError) as error:
        return str(error) if isinstance(error, InputError) else "not UTF-8"


def written(source: random.Random) -> str:
    """A table as programs write it, now and then with something that does not belong there."""
    width = source.randint(1, 4)
    text = io.StringIO(newline="")
    style = csv.QUOTE_ALL if source.random() < 0.5 else csv.QUOTE_MINIMAL
    end = source.choice(["\n", "\r\n"])
    csv.writer(text, lineterminator=end, quoting=style).writerows(
        [
            [f"c{number}" for number in range(width)],
            *(
                ["".join(source.choices(CELLS, k=source.randint(0, 3))) for _ in range(width)]
                for _ in range(source.randint(0, 10))
            ),
        ]
    )
    content = text.getvalue()
    if source.random() < 0.4:
        at = source.randrange(len(content))
        content = content[:at] + source.choice(PIECES) + content[at:]
    return content


def test_polars_reads_what_python_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    source = random.Random(7)
    read, by_polars = csv_tables._read_by_polars, 0

    def counted(*given: object) -> pl.DataFrame | None:
        nonlocal by_polars
        frame = read(*given)  # type: ignore[arg-type]
        by_polars += frame is not None
        return frame

    monkeypatch.setattr(csv_tables, "_read_by_polars", counted)
    for _ in range(600):
        monkeypatch.setattr(csv_tables, "_BYTES", source.choice([16, 64, 8192]))
        content = written(source).encode()
        if source.random() < 0.05:
            content += b"\xff"
        assert found(content) == found(content, by_python=True), content
    assert by_polars > 300


def test_lines_of_json_in_parts_are_the_same_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "t.jsonl"
    file.write_text('{"a": 1}\n\n{"a": 2.5, "b": "x"}\n{"b": null, "c": [1]}\n{"a": 3}\n')
    whole = read_table(file)
    assert whole["a"].to_list() == [1.0, 2.5, None, 3.0]
    monkeypatch.setattr(tables, "_PART", 1)
    parts = list(TableParts(file))
    assert len(parts) == 4
    assert pl.concat(parts).equals(whole)
    file.write_text('{"a": 1}\n{"a": [1]}\n')
    with pytest.raises(InputError, match="different kinds"):
        list(TableParts(file))
    file.write_text('{"a": 1}\n\n[1]\n')
    with pytest.raises(InputError, match=r"t\.jsonl row 3: a line must be one JSON object"):
        list(TableParts(file))


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        ("a;b\n1,5;x, y\n", [("1.5", "x, y")]),
        ('"a";"b, c"\n-2,25;3\n', [("-2.25", "3")]),
        ("a;x,b\n1,2\n", [("1", "2")]),
    ],
)
def test_semicolons_separate_where_the_header_has_no_comma(
    content: str, rows: list[object]
) -> None:
    assert found(content.encode()) == rows


def test_a_row_too_long_between_semicolons_says_what_to_quote() -> None:
    assert "Put quotes around texts that contain semicolons" in str(found(b"a;b\n1;2;3\n"))
