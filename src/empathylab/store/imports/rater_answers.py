"""Questionnaires that raters answered about themselves, from a study's files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlalchemy import Connection, select

from empathylab.errors import InputError
from empathylab.scales import Scale, find_scale, score
from empathylab.situations.sources.released import Rater
from empathylab.store import schema
from empathylab.store.inserts import add_item_answers, add_scale, insert_returning_ids, now


def without_answers(
    connection: Connection, raters: Iterable[Rater], ids: Mapping[str, int]
) -> list[Rater]:
    """Those raters whose questionnaires no other file brought."""
    table = schema.administrations
    query = select(table.c.rater_id).where(table.c.rater_id.is_not(None))
    answered = set(connection.execute(query).scalars())
    return [rater for rater in raters if ids[rater.name] not in answered]


def stored_answers(
    connection: Connection, kind: str, source: str
) -> dict[tuple[str, str], list[float]]:
    """The questionnaires that this source brought before, by rater and scale."""
    table, imports = schema.administrations, schema.imports
    items, raters, scales = schema.item_answers, schema.raters, schema.scales
    query = (
        select(raters.c.name, scales.c.name.label("scale"), items.c.value)
        .join(table, table.c.id == items.c.administration_id)
        .join(imports, imports.c.id == table.c.import_id)
        .join(raters, raters.c.id == table.c.rater_id)
        .join(scales, scales.c.id == table.c.scale_id)
        .where(imports.c.kind == kind, imports.c.source == source)
        .order_by(items.c.administration_id, items.c.item)
    )
    stored: dict[tuple[str, str], list[float]] = {}
    for row in connection.execute(query):
        stored.setdefault((row.name, row.scale), []).append(row.value)
    return stored


def store_answers(
    connection: Connection,
    number: int,
    raters: Iterable[Rater],
    ids: Mapping[str, int],
    scales: Mapping[str, Scale],
) -> Iterable[str]:
    """Adds the raters' own questionnaires, and gives what does not add up.

    Those that the same source brought before are gone already.
    """
    answered = [(rater, name) for rater in raters for name in rater.answers]
    chosen = {name: _scale(scales, name) for _, name in answered}
    rows = [
        {
            "respondent_id": None,
            "rater_id": ids[rater.name],
            "scale_id": add_scale(connection, chosen[name]),
            "situation_id": None,
            "answer_id": None,
            "phase": "default",
            "counterpart": False,
            "mode": "imported",
            "order_index": 0,
            "item_order": list(range(1, chosen[name].items + 1)),
            "repeat": 0,
            "outcome": "valid",
            "reason": None,
            "subject": rater.name,
            "added_at": now(),
            "import_id": number,
        }
        for rater, name in answered
    ]
    numbers = insert_returning_ids(connection, schema.administrations, rows)
    values = [dict(enumerate(rater.answers[name], start=1)) for rater, name in answered]
    add_item_answers(connection, zip(numbers, values, strict=True))
    return _totals_that_differ(answered, chosen)


def _scale(scales: Mapping[str, Scale], name: str) -> Scale:
    found = find_scale(name, scales.values())
    if found is None:
        raise InputError(
            "the lab does not know the raters' scale", got=name, remedy="Import the scale first."
        )
    return found


def _totals_that_differ(
    answered: Iterable[tuple[Rater, str]], scales: Mapping[str, Scale]
) -> Iterable[str]:
    wrong: dict[str, list[str]] = {}
    for rater, name in answered:
        if name in rater.stated:
            values = dict(enumerate(rater.answers[name], start=1))
            total = score(scales[name], values)[-1].value
            if total != rater.stated[name]:
                wrong.setdefault(name, []).append(rater.name)
    for name, names in wrong.items():
        yield (
            f"the stated {scales[name].name} total of {len(names)} raters is not the one that "
            f"their answers give (first: {names[0]}); the answers count."
        )
