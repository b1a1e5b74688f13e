"""Draws from sets of situations, kept under a name with how they were made."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Connection, Row, select

from empathylab.errors import InputError, UnknownName
from empathylab.situations import Situation, SituationSet, builtin_sets, builtin_versions
from empathylab.situations.sampling.draws import Draw, Shortfall
from empathylab.situations.sampling.methods import methods_paragraph
from empathylab.situations.sources.tables import check_set_id
from empathylab.store import schema
from empathylab.store.inserts import add_situation_set, hash_of, insert_returning_ids, now
from empathylab.store.lab import Lab
from empathylab.store.schema.joins import RESPONSES
from empathylab.store.situations import lab_situation_sets, set_from_row, situations_in_set


@dataclass(frozen=True, slots=True)
class Selection:
    """Situations of a set that were chosen, in their order."""

    name: str
    situation_set: str
    version: int
    """Of the set, when it was drawn from."""
    situations: tuple[str, ...]
    """Their ids in the set."""
    recipe: Mapping[str, Any]
    """By which rules they were chosen."""
    result: Mapping[str, Any]
    """What came of them: counts, exclusions; whatever the one who chose wants kept."""
    fingerprint: str
    """A hash of the recipe and of what was chosen."""
    added_at: datetime


def save_selection(
    lab: Lab,
    name: str,
    situation_set: SituationSet,
    situations: Sequence[str],
    recipe: Mapping[str, Any],
    *,
    result: Mapping[str, Any] | None = None,
) -> Literal["added", "unchanged"]:
    """Keeps the situations of those ids under the name, with the recipe they were chosen by.

    The same choice again changes nothing; another under the same name is refused, because what was
    measured on the first would change its meaning. `result` is kept, but makes no
    difference.
    """
    check_set_id(name, "selection")
    fingerprint = hash_of({"recipe": dict(recipe), "situations": list(situations)})
    with lab.writing() as connection:
        _refuse_set_name(connection, name)
        existing = _named(connection, name)
        if existing is not None:
            _refuse_other(existing, name, fingerprint, recipe)
            return "unchanged"
        ids = add_situation_set(connection, situation_set)
        _check_members(situations, ids, situation_set.id)
        (number,) = insert_returning_ids(
            connection,
            schema.selections,
            [
                {
                    "name": name,
                    "situation_set_id": _set_row(connection, situation_set),
                    "recipe": {"recipe": dict(recipe), "result": dict(result or {})},
                    "fingerprint": fingerprint,
                    "added_at": now(),
                }
            ],
        )
        rows = [
            {"selection_id": number, "position": position, "situation_id": ids[key]}
            for position, key in enumerate(situations)
        ]
        connection.execute(schema.selected_situations.insert(), rows)
    return "added"


def save_draw(
    lab: Lab, name: str, situation_set: SituationSet, draw: Draw
) -> Literal["added", "unchanged"]:
    """Keeps a draw, so that `draw_of` gives it back."""
    result = dataclasses.asdict(draw)
    del result["situations"], result["recipe"]
    return save_selection(lab, name, situation_set, draw.situations, draw.recipe, result=result)


def draw_of(selection: Selection) -> Draw | None:
    """The draw that the selection keeps; None where it was made in another way."""
    if selection.recipe.get("kind") != "draw":
        return None
    result = dict(selection.result)
    short = tuple(Shortfall(**item) for item in result.pop("shortfalls"))
    return Draw(
        situations=selection.situations, recipe=selection.recipe, shortfalls=short, **result
    )


def lab_selections(lab: Lab) -> dict[str, Selection]:
    """By name, the selections that the lab has, the oldest first."""
    with lab.reading() as connection:
        rows = connection.execute(_selections().order_by(schema.selections.c.id)).all()
        return {row.name: _selection(connection, row) for row in rows}


def selection_paragraph(lab: Lab, name: str) -> str | None:
    """How the selection of that name was made, for a methods section.

    None where there is no such selection. One that is no draw may bring its own words in its
    result's `paragraph`.
    """
    with lab.reading() as connection:
        row = _named(connection, name)
        if row is None:
            return None
        selection = _selection(connection, row)
    draw = draw_of(selection)
    return selection.result.get("paragraph") if draw is None else methods_paragraph(draw)


def resolve_situations(lab: Lab, name: str) -> tuple[SituationSet, tuple[Situation, ...]]:
    """The set and the chosen of its situations, by a selection's name; by a set's id, all of them.

    A selection keeps the version of the set that it was drawn from.
    """
    with lab.reading() as connection:
        row = _named(connection, name)
        if row is not None:
            return _chosen(connection, row)
        names = connection.execute(select(schema.selections.c.name)).scalars().all()
    sets = lab_situation_sets(lab)
    if name not in sets and name not in builtin_versions():
        raise UnknownName("situation set or selection", name, [*sets, *names])
    whole = sets.get(name) or builtin_versions()[name]
    return whole, whole.situations


def situations_with_human_responses(lab: Lab, set_id: str) -> list[str]:
    """The ids of the set's situations that people have replied to."""
    query = (
        select(schema.situations.c.key)
        .select_from(RESPONSES)
        .where(
            schema.situation_sets.c.name == set_id,
            schema.respondents.c.kind == "human",
            schema.responses.c.outcome == "valid",
        )
        .distinct()
    )
    with lab.reading() as connection:
        return sorted(connection.execute(query).scalars())


def _selections() -> Any:
    table, sets = schema.selections, schema.situation_sets
    columns = (column for column in sets.c if column.name not in ("name", "id", "fingerprint"))
    return select(
        *table.c["id", "name", "situation_set_id", "recipe", "fingerprint"],
        table.c.added_at.label("drawn_at"),
        sets.c.name.label("set_name"),
        *columns,
    ).select_from(table.join(sets))


def _named(connection: Connection, name: str) -> Row[Any] | None:
    row: Row[Any] | None = connection.execute(
        _selections().where(schema.selections.c.name == name)
    ).one_or_none()
    return row


def _selection(connection: Connection, row: Row[Any]) -> Selection:
    return Selection(
        name=row.name,
        situation_set=row.set_name,
        version=row.version,
        situations=_keys(connection, row.id),
        recipe=row.recipe["recipe"],
        result=row.recipe["result"],
        fingerprint=row.fingerprint,
        added_at=row.drawn_at,
    )


def _chosen(connection: Connection, row: Row[Any]) -> tuple[SituationSet, tuple[Situation, ...]]:
    situations = situations_in_set(connection, row.situation_set_id)
    whole = set_from_row(row._mapping, row.set_name, situations)
    by_id = {item.id: item for item in whole}
    return whole, tuple(by_id[key] for key in _keys(connection, row.id))


def _keys(connection: Connection, number: int) -> tuple[str, ...]:
    table, situations = schema.selected_situations, schema.situations
    query = (
        select(situations.c.key)
        .select_from(table.join(situations))
        .where(table.c.selection_id == number)
        .order_by(table.c.position)
    )
    return tuple(connection.execute(query).scalars())


def _set_row(connection: Connection, chosen: SituationSet) -> int:
    table = schema.situation_sets
    query = select(table.c.id).where(table.c.name == chosen.id, table.c.version == chosen.version)
    return int(connection.execute(query).scalar_one())


def _refuse_set_name(connection: Connection, name: str) -> None:
    table = schema.situation_sets
    query = select(table.c.id).where(table.c.name == name).limit(1)
    if name in builtin_sets() or connection.execute(query).first() is not None:
        raise InputError(
            "a set of situations has this name", got=name, remedy="Give the selection another."
        )


def _refuse_other(
    existing: Row[Any], name: str, fingerprint: str, recipe: Mapping[str, Any]
) -> None:
    if existing.fingerprint == fingerprint:
        return
    old = existing.recipe["recipe"]
    differing = sorted(key for key in {*old, *recipe} if old.get(key) != recipe.get(key))
    raise InputError(
        "the lab already has a different selection with this name"
        + (f", which differs in {', '.join(differing)}" if differing else ""),
        got=name,
        remedy="Give this one another name; results on the first one stay valid.",
    )


def _check_members(situations: Sequence[str], ids: Mapping[str, int], set_id: str) -> None:
    if not situations:
        raise InputError("the selection is empty", remedy="Choose at least one situation.")
    for key in situations:
        if key not in ids:
            raise UnknownName("situation", key, ids, where=f"situation set {set_id}")
    if len(set(situations)) < len(situations):
        raise InputError("a situation is chosen twice", remedy="Name each once.")
