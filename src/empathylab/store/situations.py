"""The sets of situations a lab can use: those that ship, and those its user has brought."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Connection, select

from empathylab.errors import InputError, UnknownName
from empathylab.situations import Situation, SituationSet, builtin_sets
from empathylab.store import schema
from empathylab.store.inserts import add_situation_set
from empathylab.store.lab import Lab

_COLUMNS = ("text", "emotion", "valence", "factor", "topic", "utterance", "counterpart", "title")


@dataclass(frozen=True, slots=True)
class SavedSet:
    """What became of a set that was imported."""

    situation_set: SituationSet
    """With the version it has in the lab."""
    change: Literal["added", "unchanged", "new version"]
    ids: dict[str, int]
    """The lab's ids of the situations, by the set's own."""


def save_situation_set(connection: Connection, chosen: SituationSet) -> SavedSet:
    """Adds the set; other texts than the newest under a known name become its next version."""
    _refuse_taken_name(connection, chosen)
    if chosen.id in builtin_sets():
        return SavedSet(chosen, "unchanged", add_situation_set(connection, chosen))
    table = schema.situation_sets
    query = select(table.c.version, table.c.fingerprint).where(table.c.name == chosen.id)
    held = {int(row.version): row.fingerprint for row in connection.execute(query)}
    newest = max(held, default=0)
    same = dataclasses.replace(chosen, version=newest)
    if held and same.fingerprint == held[newest]:
        return SavedSet(same, "unchanged", add_situation_set(connection, same))
    stored = dataclasses.replace(chosen, version=newest + 1)
    ids = add_situation_set(connection, stored)
    return SavedSet(stored, "new version" if held else "added", ids)


def stored_situations(connection: Connection, chosen: SituationSet) -> dict[str, int]:
    """The lab's ids of the set's situations, by the set's own; none where it does not hold them."""
    table, sets = schema.situations, schema.situation_sets
    query = (
        select(table.c.key, table.c.id)
        .join(sets, sets.c.id == table.c.situation_set_id)
        .where(sets.c.name == chosen.id, sets.c.version == chosen.version)
    )
    return {row.key: int(row.id) for row in connection.execute(query)}


def _refuse_taken_name(connection: Connection, chosen: SituationSet) -> None:
    """A set must not hide a built-in one, nor be hidden by a draw."""
    built_in = builtin_sets().get(chosen.id)
    table = schema.selections
    drawn = connection.execute(select(table.c.id).where(table.c.name == chosen.id)).first()
    if (built_in is not None and built_in != chosen) or drawn is not None:
        raise InputError(
            "this name belongs to another set" if built_in else "this name belongs to a draw",
            got=chosen.id,
            remedy="Give yours another with --name.",
        )


def lab_situation_sets(lab: Lab) -> dict[str, SituationSet]:
    """By id, the newest version in the lab; and the built-in ones."""
    table = schema.situation_sets
    with lab.reading() as connection:
        rows = connection.execute(select(table).order_by(table.c.version)).mappings().all()
        newest = {str(row["name"]): row for row in rows if row["name"] not in builtin_sets()}
        brought = {
            name: SituationSet(
                id=name,
                version=row["version"],
                title=row["title"],
                language=row["language"],
                licence=row["licence"],
                validated=row["validated"],
                description=row["description"],
                situations=situations_in_set(connection, row["id"]),
            )
            for name, row in newest.items()
        }
    return builtin_sets() | brought


def lab_situation_set(lab: Lab, name: str) -> SituationSet:
    """The lab's set of that id, or the built-in one."""
    sets = lab_situation_sets(lab)
    if name not in sets:
        raise UnknownName("situation set", name, sets)
    return sets[name]


def situations_in_set(connection: Connection, set_row: int) -> tuple[Situation, ...]:
    """The situations of the set in that row, in their order."""
    table = schema.situations
    query = select(table).where(table.c.situation_set_id == set_row).order_by(table.c.id)
    return tuple(
        Situation(
            id=row["key"],
            **{name: row[name] for name in _COLUMNS},
            context=tuple(row["context"] or ()),
        )
        for row in connection.execute(query).mappings()
    )
