"""The sets of situations a lab can use: those that ship, and those its user has brought."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, RowMapping, select

from empathylab.errors import InputError, UnknownName
from empathylab.situations import Situation, SituationSet, builtin_sets, builtin_versions
from empathylab.store import schema
from empathylab.store.inserts import SET_FIELDS, TEXT_FIELDS, add_situation_set
from empathylab.store.lab import Lab
from empathylab.store.schema.statements import ids_by

SITUATION_FIELDS = schema.situations.c["key", *TEXT_FIELDS, "context", "details"]
"""The columns that `situation_from_row` reads."""


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
    versions = {int(row.version): row.fingerprint for row in connection.execute(query)}
    newest = max(versions, default=0)
    same = dataclasses.replace(chosen, version=newest)
    if versions and same.fingerprint == versions[newest]:
        return SavedSet(same, "unchanged", add_situation_set(connection, same))
    stored = dataclasses.replace(chosen, version=newest + 1)
    ids = add_situation_set(connection, stored)
    return SavedSet(stored, "new version" if versions else "added", ids)


def stored_situations(connection: Connection, chosen: SituationSet) -> dict[str, int]:
    """The lab's ids of the set's situations, by the set's own; none where it does not hold them."""
    table, sets = schema.situations, schema.situation_sets
    own = select(sets.c.id).where(sets.c.name == chosen.id, sets.c.version == chosen.version)
    return ids_by(connection, table.c.key, table.c.situation_set_id.in_(own))


def _refuse_taken_name(connection: Connection, chosen: SituationSet) -> None:
    """A set must not hide a built-in one, nor be hidden by a draw."""
    shipped = builtin_versions().get(f"{chosen.id}@{chosen.version}")
    built_in = shipped or builtin_sets().get(chosen.id)
    table = schema.selections
    drawn = connection.execute(select(table.c.id).where(table.c.name == chosen.id)).first()
    if (built_in is not None and built_in != chosen) or drawn is not None:
        raise InputError(
            "this name belongs to another set" if built_in else "this name belongs to a selection",
            got=chosen.id,
            remedy="Give yours another with --name.",
        )


def lab_situation_sets(lab: Lab) -> dict[str, SituationSet]:
    """By id, the newest version that the lab has; else the newest that ships.

    A lab keeps the version it has begun with, so that its results can be compared.
    """
    table = schema.situation_sets
    with lab.reading() as connection:
        rows = connection.execute(select(table).order_by(table.c.version)).mappings().all()
        newest = {str(row["name"]): row for row in rows}
        stored = {name: _stored_set(connection, row) for name, row in newest.items()}
    return builtin_sets() | stored


def lab_situation_set(lab: Lab, name: str) -> SituationSet:
    """The lab's set of that id, or the built-in one; `id@version` names a version of it."""
    if name in (shipped := builtin_versions()):
        return shipped[name]
    sets = lab_situation_sets(lab)
    if name not in sets:
        raise UnknownName("situation set", name, [*sets, *shipped])
    return sets[name]


def _stored_set(connection: Connection, row: RowMapping) -> SituationSet:
    """The set in that row; one that ships is not read from the lab, which holds the same."""
    if shipped := builtin_versions().get(f"{row['name']}@{row['version']}"):
        return shipped
    return set_from_row(row, row["name"], situations_in_set(connection, row["id"]))


def set_from_row(
    row: Mapping[Any, Any], name: str, situations: tuple[Situation, ...]
) -> SituationSet:
    """The set of that name, with what the row says about it."""
    about = {field: row[field] for field in SET_FIELDS}
    return SituationSet(id=name, **about, situations=situations)


def situations_in_set(connection: Connection, set_row: int) -> tuple[Situation, ...]:
    """The situations of the set in that row, in their order."""
    table = schema.situations
    query = select(table).where(table.c.situation_set_id == set_row).order_by(table.c.id)
    return tuple(situation_from_row(row) for row in connection.execute(query).mappings())


def situation_from_row(row: Mapping[Any, Any]) -> Situation:
    """The situation in a row of the table, or of a query for `SITUATION_FIELDS`."""
    details = row["details"] or {}
    return Situation(
        id=row["key"],
        **{name: row[name] for name in TEXT_FIELDS},
        context=tuple(row["context"] or ()),
        tags=tuple(details.get("tags", ())),
        norms=details.get("norms"),
    )
