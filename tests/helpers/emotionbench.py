"""Small files in the shape of EmotionBench's, written for tests."""

from __future__ import annotations

import csv
import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

ITEMS = 20  # of the PANAS


def told(text: str) -> str:
    """A prompt as the result files hold it."""
    return f'Imagine you are the protagonist in the scenario: "{text}"'


def write_results(
    path: Path,
    columns: Mapping[str, Sequence[object]],
    *,
    orders: Mapping[int, Sequence[int]] | None = None,
    prompts: Mapping[str, str] | None = None,
) -> Path:
    """A result file; each column's answers come in the order of its `order-k`."""
    orders = {0: range(1, ITEMS + 1)} if orders is None else orders
    table: dict[str, list[object]] = {}
    for number, order in orders.items():
        table[f"question-{number}"] = ["Prompt: answer.", *(f"{item}. word" for item in order)]
        table[f"order-{number}"] = ["answer.", *order]
    for name, answers in columns.items():
        table[name] = [(prompts or {}).get(name, " "), *answers]
    rows = max(len(cells) for cells in table.values())
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        for row in range(rows):
            writer.writerow([cells[row] if row < len(cells) else "" for cells in table.values()])
    return path


def write_situations(path: Path) -> Path:
    """Two emotions, three factors."""
    content = {
        "emotions": [
            {
                "name": "Anger",
                "factors": [
                    {"name": "Queues", "scenarios": ["Someone pushes in.", "The till closes."]},
                    {"name": "Noise", "scenarios": ["A drill starts at six."]},
                ],
            },
            {"name": "Guilt", "factors": [{"name": "Plants", "scenarios": ["The fern is dead."]}]},
        ]
    }
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def write_people(
    path: Path, people: Sequence[tuple[str, Sequence[object], Sequence[object]]]
) -> Path:
    """A `crowd.xlsx` with one column per person: header, answers at rest, answers after."""
    columns: list[list[object]] = [["", *range(45)], ["Info", *["question"] * 45]]
    columns += [[header, *["about"] * 5, *rest, *after] for header, rest, after in people]
    write_sheet(path, "Raw", columns)
    return path


def write_sheet(path: Path, sheet: str, columns: Sequence[Sequence[object]]) -> None:
    """A workbook with one sheet; texts are shared strings, as spreadsheet programs write them."""
    texts = list(dict.fromkeys(str(c) for column in columns for c in column if _is_text(c)))
    rows = []
    for number in range(max(len(column) for column in columns)):
        cells = ""
        for place, column in enumerate(columns):
            value = column[number] if number < len(column) else None
            if value in (None, ""):
                continue
            where = f'r="{_letters(place)}{number + 1}"'
            if _is_text(value):
                cells += f'<c {where} t="s"><v>{texts.index(str(value))}</v></c>'
            else:
                cells += f"<c {where}><v>{value}</v></c>"
        rows.append(f'<row r="{number + 1}">{cells}</row>')
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    strings = "".join(f"<si><t>{escape(text)}</t></si>" for text in texts)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
            f'<sheet name="{sheet}" sheetId="1" r:id="rId1"/></sheets></workbook>',
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels",
            '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
            '<Relationship Id="rId1" Target="worksheets/sheet1.xml"/></Relationships>',
        )
        archive.writestr("xl/sharedStrings.xml", f'<sst xmlns="{main}">{strings}</sst>')
        archive.writestr(
            "xl/worksheets/sheet1.xml",
            f'<worksheet xmlns="{main}"><sheetData>{"".join(rows)}</sheetData></worksheet>',
        )


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _letters(place: int) -> str:
    letters = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters
