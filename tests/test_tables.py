"""Anybody's tables, and what is said of broken ones."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from empathylab.columns import numbers
from empathylab.errors import InputError, UserError
from empathylab.tables import (
    clean_text,
    first_row,
    key_value,
    missing_as_null,
    parse_csv,
    read_table,
)


def written(folder: Path, content: bytes, name: str = "mine.csv") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def test_csv_cells_are_text_and_empty_ones_null(tmp_path: Path) -> None:
    frame = read_table(written(tmp_path, b"a,b\n01,\n2, x \n"))
    assert frame.to_dicts() == [{"a": "01", "b": None}, {"a": "2", "b": " x "}]


def test_the_three_formats_give_the_same_rows(tmp_path: Path) -> None:
    rows = [{"a": "x", "b": "1"}, {"a": 'é, "q"\nz', "b": "2"}]
    frame = pl.DataFrame(rows)
    frame.write_csv(tmp_path / "t.csv")
    frame.write_ndjson(tmp_path / "t.jsonl")
    frame.write_parquet(tmp_path / "t.parquet")
    for name in ("t.csv", "t.jsonl", "t.parquet"):
        assert read_table(tmp_path / name).to_dicts() == rows


def test_a_byte_order_mark_windows_line_ends_and_blank_lines_do_not_matter() -> None:
    frame = parse_csv(b'\xef\xbb\xbfa,b\r\n1,"x\r\ny"\r\n\r\n2,z\r\n', where="x")
    assert frame["b"].to_list() == ["x\r\ny", "z"]


def test_half_characters_in_jsonl_become_a_sign(tmp_path: Path) -> None:
    path = written(tmp_path, b'{"text": "a\\ud83d b", "n": 1}\n', "t.jsonl")
    assert read_table(path).to_dicts() == [{"text": "a\ufffd b", "n": 1}]


def test_a_cell_of_a_megabyte_is_read() -> None:
    frame = parse_csv(b"a,b\n1," + b"x" * 1_000_000 + b"\n", where="x")
    assert len(frame["b"][0]) == 1_000_000


@pytest.mark.parametrize(
    ("content", "name", "sentence"),
    [
        (b"", "t.csv", "t.csv: the file is empty"),
        (b"a,b\n1,2\n3\n", "t.csv", "t.csv row 3: the row has a different number of cells (1)"),
        (b"a,b\n1,2,3\n", "t.csv", "t.csv row 2: the row has a different number of cells (3)"),
        (b'a,b\n1,2\n"3,4\n', "t.csv", "t.csv row 3: this is not a CSV table"),
        (b"a,a\n1,2\n", "t.csv", "a column appears twice; got 'a'"),
        (b"a,b\n1,caf\xe9\n", "t.csv", "t.csv row 2: the text is not UTF-8"),
        ("a,b\n1,2\n".encode("utf-16"), "t.csv", "the text is UTF-16, not UTF-8"),
        (b"a,b\n1,2\n", "t.xlsx", "t.xlsx: this file type is not supported; got '.xlsx'"),
        (b'{"a": 1}\nnonsense\n', "t.jsonl", "t.jsonl row 2: this is not JSON"),
        (b"[1]\n", "t.jsonl", "t.jsonl row 1: a line must be one JSON object"),
        (b"PAR1", "t.parquet", "t.parquet: this is not a Parquet file"),
        (b"x,y\n1,2\n", "t.csv", "the columns 'a', 'b' are missing; got 'x, y'"),
    ],
)
def test_a_broken_table_is_one_sentence_with_its_place(
    tmp_path: Path, content: bytes, name: str, sentence: str
) -> None:
    with pytest.raises(UserError) as caught:
        read_table(written(tmp_path, content, name), required=["a", "b"])
    assert sentence in str(caught.value)


def test_numbers_may_be_missing_but_not_words() -> None:
    frame = pl.DataFrame({"x": ["1", " 2.5 ", None, "NA"]})
    assert numbers(frame, "x", where="t.csv").to_list() == [1.0, 2.5, None, None]
    with pytest.raises(InputError, match="t.csv row 3: 'x' must be a number; got 'two'"):
        numbers(pl.DataFrame({"x": ["1", "two"]}), "x", where="t.csv")
    with pytest.raises(InputError, match="row 2.*got 'inf'"):
        numbers(pl.DataFrame({"x": ["inf"]}), "x", where="t.csv")


def test_cells_that_say_nothing_are_null() -> None:
    frame = pl.DataFrame({"x": ["1", "NA", " n/a ", "none", "x"], "n": [1, 2, 3, 4, 5]})
    assert missing_as_null(frame)["x"].to_list() == ["1", None, None, None, "x"]


def test_rows_are_counted_from_the_header_where_there_is_one() -> None:
    assert [first_row(Path(name)) for name in ("a.csv", "a.tsv", "a.jsonl")] == [2, 2, 1]


def test_control_and_half_characters_become_a_sign_and_line_breaks_one_kind() -> None:
    assert clean_text("a\x00b\x1b\ud83dc\r\nd\te") == "a\ufffdb\ufffd\ufffdc\nd\te"
    assert clean_text("a\x85b\x9bc") == "a\ufffdb\ufffdc"  # C1 controls start terminal commands
    assert clean_text("👩‍👩‍👧 <b>é</b>") == "👩‍👩‍👧 <b>é</b>"


def test_a_mapping_has_two_sides() -> None:
    assert key_value("angri = angry", option="--map") == ("angri", "angry")
    with pytest.raises(InputError, match="--map needs OLD=NEW; got 'angri'"):
        key_value("angri", option="--map")
