"""Options that the import commands share, and the id of a user's own set."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

from empathylab.cli.options import argument, option
from empathylab.errors import InputError

MapOption = Annotated[
    list[str] | None,
    option("Map an emotion of the file to another name; repeatable.", "--map", metavar="OLD=NEW"),
]
SetOption = Annotated[
    str | None,
    option("The set of situations, or a sample of it, if the file does not contain them.", "--set"),
]
NameOption = Annotated[str | None, option("The ID in the lab. Default: the file's name.")]
LicenceOption = Annotated[str, option("The licence of the texts.")]
ReplaceOption = Annotated[
    bool, option("Replace a file of the same name, even if most of it differs.", "--replace")
]
TableArgument = Annotated[Path, argument("A CSV, JSONL or Parquet file.")]


def own_set_id(name: str | None, path: Path) -> str:
    """The id of a set of the user's own: as named, or after the file."""
    set_id = name or slug(path.stem)
    _refuse_builtin(set_id, path.name)
    return set_id


def slug(stem: str) -> str:
    """The file's name as an id: lower-case letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", stem.lower()).strip("-") or "situations"


def _refuse_builtin(set_id: str, where: str) -> None:
    from empathylab.situations import builtin_sets
    from empathylab.situations.sources.emotionbench import SET_ID, TESTED_ID

    if set_id in (*builtin_sets(), SET_ID, TESTED_ID):
        raise InputError(
            "this name belongs to another set",
            where=where,
            got=set_id,
            remedy="Choose another name with --name.",
        )
