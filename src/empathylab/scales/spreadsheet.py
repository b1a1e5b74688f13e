"""Reading one sheet of an .xlsx file as text; formulas give the value that was saved."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO
from xml.etree import ElementTree

from empathylab.errors import InputError
from empathylab.files import read_bytes

_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_LINK = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_MOST = 64 * 1024 * 1024  # bytes of one part, unpacked: a small file may hide a huge one
_CELL = re.compile(r"([A-Z]{1,3})\d+", re.ASCII)

Row = dict[int, str]
"""A row's cells by column, counted from 0; empty cells are left out."""


def read_sheet(path: Path, sheet: str) -> list[Row]:
    """The rows of the sheet of that name, blank rows included."""
    content = read_bytes(path)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return list(_rows(archive, sheet, path.name))
    except (zipfile.BadZipFile, ElementTree.ParseError, KeyError, ValueError, IndexError) as error:
        raise InputError(
            f"this is not a spreadsheet that can be read: {error}",
            where=path.name,
            remedy="Save it again as .xlsx.",
        ) from None


def _rows(archive: zipfile.ZipFile, sheet: str, where: str) -> Iterator[Row]:
    texts = list(_shared_texts(archive))
    expected = 1
    with _part(archive, _sheet_part(archive, sheet, where)) as stream:
        for _, element in _parsed(stream):
            if element.tag != f"{_MAIN}row":
                continue
            number = int(element.get("r") or expected)
            if not expected <= number <= expected + 100_000:
                raise ValueError(f"row {number} follows row {expected - 1}")
            yield from ({} for _ in range(number - expected))
            yield _cells(element, texts)
            expected = number + 1
            element.clear()


def _cells(row: ElementTree.Element, texts: list[str]) -> Row:
    cells: Row = {}
    for position, cell in enumerate(row.iterfind(f"{_MAIN}c")):
        match = _CELL.fullmatch(cell.get("r") or "")
        column = _number(match[1]) if match else position
        if cell.get("t") == "inlineStr":
            text = "".join(part.text or "" for part in cell.iter(f"{_MAIN}t"))
        else:
            value = cell.find(f"{_MAIN}v")
            text = (value.text or "") if value is not None else ""
            if text and cell.get("t") == "s":
                text = texts[int(text)]
        if text.strip():
            cells[column] = text.strip()
    return cells


def _number(letters: str) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number - 1


def _sheet_part(archive: zipfile.ZipFile, sheet: str, where: str) -> str:
    with _part(archive, "xl/workbook.xml") as stream:
        sheets = {
            str(element.get("name")): element.get(_LINK)
            for _, element in _parsed(stream)
            if element.tag == f"{_MAIN}sheet"
        }
    if sheet not in sheets:
        raise InputError(
            f"there is no sheet {sheet!r}",
            where=where,
            got=", ".join(sheets),
            remedy="Use the file as it was published.",
        )
    with _part(archive, "xl/_rels/workbook.xml.rels") as stream:
        targets = {element.get("Id"): element.get("Target") for _, element in _parsed(stream)}
    target = str(targets[sheets[sheet]])
    return target.lstrip("/") if target.startswith("/") else f"xl/{target}"


def _shared_texts(archive: zipfile.ZipFile) -> Iterator[str]:
    if "xl/sharedStrings.xml" not in archive.namelist():
        return
    with _part(archive, "xl/sharedStrings.xml") as stream:
        for _, element in _parsed(stream):
            if element.tag == f"{_MAIN}si":
                yield "".join(part.text or "" for part in element.iter(f"{_MAIN}t"))


def _part(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    if archive.getinfo(name).file_size > _MOST:
        raise ValueError(f"{name} is larger than {_MOST // 1024 // 1024} MiB")
    return archive.open(name)


def _parsed(stream: IO[bytes]) -> Iterator[tuple[str, ElementTree.Element]]:
    # Expat refuses entity bombs since 2.4, and the size above is bounded.
    return ElementTree.iterparse(stream)  # noqa: S314
