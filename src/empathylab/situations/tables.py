"""Users' own situations, from a CSV file.

Columns: `id`, `text`, `emotion`, and if wanted `valence`, `factor`, `topic`, `utterance` and
`counterpart`. Without `valence`, that of the emotion is taken where the emotion is known.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import re
from typing import get_args

from empathylab.errors import InputError, UnknownName
from empathylab.situations.emotions import (
    APPRAISAL_EMOTIONS,
    DIALOGUE_EMOTIONS,
    Valence,
    valence_of,
)
from empathylab.situations.sets import Situation, SituationSet

REQUIRED = ("id", "text", "emotion")
COLUMNS = tuple(field.name for field in dataclasses.fields(Situation))


def parse_situations(
    content: bytes, *, where: str, set_id: str, title: str, licence: str, language: str = "en"
) -> SituationSet:
    """The set in the bytes of a CSV file; `where` names the file in errors."""
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", set_id):
        raise InputError(
            "a set's id is made of lower-case letters, digits and hyphens",
            where=where,
            got=set_id,
            remedy="Give another with --name.",
        )
    reader = csv.DictReader(io.StringIO(_decoded(content, where), newline=""), strict=True)
    found: list[Situation] = []
    lines: dict[tuple[str, str], int] = {}
    try:
        _check_columns(list(reader.fieldnames or ()), where)
        for row in reader:
            if any(value for value in row.values()):
                situation = _situation(row, f"{where} row {reader.line_num}")
                _refuse_repeated(situation, lines, reader.line_num, where)
                found.append(situation)
    except csv.Error as error:
        raise InputError(
            f"this is not a CSV table: {error}",
            where=f"{where} row {reader.line_num}",
            remedy="Mend the file's quotes.",
        ) from None
    if not found:
        raise InputError("there is no situation", where=where, remedy="Add a row for each.")
    return SituationSet(
        id=set_id,
        version=1,
        title=title,
        language=language,
        licence=licence,
        validated=False,
        description=f"Imported from {where}.",
        situations=tuple(found),
    )


def _decoded(content: bytes, where: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        row = content.count(b"\n", 0, error.start) + 1
        raise InputError(
            "the text is not UTF-8",
            where=f"{where} row {row}",
            got=content[error.start : error.start + 1],
            remedy="Save the file as UTF-8.",
        ) from None


def _check_columns(names: list[str], where: str) -> None:
    for name in names:
        if name not in COLUMNS:
            remedy = f"The columns are {', '.join(COLUMNS)}."
            raise UnknownName("column", name, COLUMNS, where=where, remedy=remedy)
        if names.count(name) > 1:
            raise InputError(
                "a column is there twice", where=where, got=name, remedy="Keep one of them."
            )
    missing = [name for name in REQUIRED if name not in names]
    if missing:
        raise InputError(
            f"the column {missing[0]!r} is missing",
            where=where,
            got=", ".join(names),
            remedy=f"Name the columns in the first row; {', '.join(REQUIRED)} must be there.",
        )


def _situation(row: dict[str | None, str | list[str] | None], where: str) -> Situation:
    if None in row or None in row.values():
        raise InputError(
            "the row has another number of cells than the first one",
            where=where,
            remedy="Put quotes round texts that hold commas.",
        )
    cells = {str(name): str(value).strip() for name, value in row.items()}
    for name in REQUIRED:
        if not cells[name]:
            raise InputError(f"{name!r} is empty", where=where, remedy="Fill it in.")
    optional = {name: cells.get(name) or None for name in COLUMNS[COLUMNS.index("factor") :]}
    emotion = cells["emotion"].lower()
    valence = _valence(cells.get("valence", "").lower(), emotion, where)
    return Situation(cells["id"], cells["text"], emotion, valence, **optional)


def _valence(given: str, emotion: str, where: str) -> Valence:
    for valence in get_args(Valence):
        if given == valence:
            return valence  # type: ignore[no-any-return]
    if given:
        raise InputError(
            "'valence' must be positive or negative", where=where, got=given, remedy="Fix the row."
        )
    known = valence_of(emotion)
    if known is None:
        emotions = {*APPRAISAL_EMOTIONS, *DIALOGUE_EMOTIONS}
        remedy = "An emotion of your own needs the column 'valence'."
        raise UnknownName("emotion", emotion, emotions, where=where, remedy=remedy)
    return known


def _refuse_repeated(
    situation: Situation, lines: dict[tuple[str, str], int], line: int, where: str
) -> None:
    for name, value in (("id", situation.id), ("text", " ".join(situation.text.split()))):
        first = lines.setdefault((name, value), line)
        if first != line:
            raise InputError(
                f"the {name} is the same as in row {first}",
                where=f"{where} row {line}",
                got=value if len(value) <= 60 else f"{value[:60]}…",
                remedy="Keep one of the rows, or change it.",
            )
