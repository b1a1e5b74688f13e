"""What a file changes: things compared with those it brought before."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy import Connection, Table, delete

Key = TypeVar("Key", bound=Hashable)
CHUNK = 500


@dataclass(frozen=True, slots=True)
class ImportCounts:
    """How many things of one kind a file added, changed, took away and left as they were."""

    things: str
    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0


def compare_rows(
    old: Mapping[Key, Any], new: Mapping[Key, Any], things: str
) -> tuple[list[Key], list[Key], list[Key], ImportCounts]:
    """The keys that were added, changed and removed, and how many of each."""
    added = [key for key in new if key not in old]
    removed = [key for key in old if key not in new]
    changed = [key for key in new if key in old and old[key] != new[key]]
    same = len(new) - len(added) - len(changed)
    return (
        added,
        changed,
        removed,
        ImportCounts(things, len(added), len(changed), len(removed), same),
    )


def delete_rows(connection: Connection, table: Table, ids: Sequence[int]) -> None:
    """Deletes the rows of those ids."""
    for start in range(0, len(ids), CHUNK):
        chunk = ids[start : start + CHUNK]
        connection.execute(delete(table).where(table.c.id.in_(chunk)))
