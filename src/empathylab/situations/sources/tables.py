"""Users' own situations and posts, from a CSV, JSONL or Parquet file.

Columns: `id`, `text`, `emotion` (or `topic`, for posts), and if wanted `valence`, `factor`,
`topic`, `title`, `utterance`, `counterpart` and `tags`, which are separated by semicolons. Without
`valence`, that of the emotion is taken where the emotion is known.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, get_args

from empathylab.errors import InputError, UnknownName
from empathylab.situations.emotions import Valence, stated_valence
from empathylab.situations.sets import Situation, SituationSet, check_tags
from empathylab.situations.sources.cells import texts_in

if TYPE_CHECKING:
    import polars as pl

REQUIRED = ("id", "text")
COLUMNS = tuple(
    field.name for field in dataclasses.fields(Situation) if field.name not in ("context", "norms")
)


def situations_from(
    table: pl.DataFrame,
    *,
    where: str,
    set_id: str,
    title: str,
    licence: str,
    language: str = "en",
    emotions: Mapping[str, str] | None = None,
    first_row: int = 2,
) -> SituationSet:
    """The set in a table; `where` names it in errors, `emotions` maps the file's words to ours."""
    check_set_id(set_id, where)
    _check_columns(table.columns, where)
    situations: list[Situation] = []
    rows: dict[tuple[str, str], int] = {}
    for number, cells in enumerate(table.iter_rows(named=True), start=first_row):
        if texts := texts_in(cells):
            situation = _situation(texts, emotions or {}, f"{where} row {number}")
            _refuse_repeated(situation, rows, number, where)
            situations.append(situation)
    if not situations:
        raise InputError(
            "the file contains no situations", where=where, remedy="Add a row for each."
        )
    return SituationSet(
        id=set_id,
        version=1,
        title=title,
        language=language,
        licence=licence,
        validated=False,
        description=f"Imported from {where}.",
        situations=tuple(situations),
    )


def check_set_id(set_id: str, where: str) -> None:
    """Raises InputError for a name that would not do in commands and file names."""
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", set_id):
        raise InputError(
            "a set's ID must be lower-case letters, digits and hyphens",
            where=where,
            got=set_id,
            remedy="Choose another name with --name.",
        )


def _check_columns(names: list[str], where: str) -> None:
    for name in names:
        if name not in COLUMNS:
            remedy = f"The columns are {', '.join(COLUMNS)}."
            raise UnknownName("column", name, COLUMNS, where=where, remedy=remedy)
    missing = [name for name in REQUIRED if name not in names]
    if missing or not {"emotion", "topic"} & set(names):
        raise InputError(
            f"the column {missing[0] if missing else 'emotion'!r} is missing",
            where=where,
            got=", ".join(names),
            remedy="Name the columns in the first row; id, text and emotion (or topic) must be "
            "there.",
        )


def _situation(cells: dict[str, str], emotions: Mapping[str, str], where: str) -> Situation:
    for name in REQUIRED:
        if name not in cells:
            raise InputError(f"{name!r} is empty", where=where, remedy="Fill it in.")
    emotion = cells.pop("emotion", "").lower() or None
    emotion = emotions.get(emotion, emotion) if emotion else None
    if emotion is None and "topic" not in cells:
        raise InputError("'emotion' is empty", where=where, remedy="Fill it in, or 'topic'.")
    given = cells.pop("valence", "").lower()
    if given and given not in get_args(Valence):
        raise InputError(
            "'valence' must be positive, negative or mixed",
            where=where,
            got=given,
            remedy="Fix the row.",
        )
    tags = tuple(tag for part in cells.pop("tags", "").split(";") if (tag := part.strip()))
    check_tags(tags, where=where)
    return Situation(emotion=emotion, valence=stated_valence(emotion, given), tags=tags, **cells)  # type: ignore[arg-type]


def _refuse_repeated(
    situation: Situation, rows: dict[tuple[str, str], int], number: int, where: str
) -> None:
    for name, value in (("id", situation.id), ("text", " ".join(situation.text.split()))):
        first = rows.setdefault((name, value), number)
        if first != number:
            raise InputError(
                f"the {name} is the same as in row {first}",
                where=f"{where} row {number}",
                got=value if len(value) <= 60 else f"{value[:60]}…",
                remedy="Keep one of the rows, or change it.",
            )
