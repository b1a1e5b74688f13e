"""Scale administrations of respondents, and their item answers."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Select, select

from empathylab.store.administrations import KIND, RESPONDENT, SUBJECT, with_respondents
from empathylab.store.listings.pages import Listing, Row, first_row, read_page, values_of
from empathylab.store.schema import (
    administrations,
    answers,
    item_answers,
    respondents,
    scales,
    situation_sets,
    situations,
)


def list_administrations(
    connection: Connection,
    *,
    respondent: str = "",
    scale: str = "",
    phase: str = "",
    outcome: str = "",
    offset: int = 0,
    limit: int = 50,
) -> Listing:
    """Administrations of models and of people whom closed studies measured."""
    query = _administrations().order_by(administrations.c.id)
    for column, value in (
        (RESPONDENT, respondent),
        (scales.c.name, scale),
        (administrations.c.phase, phase),
        (administrations.c.outcome, outcome),
    ):
        if value:
            query = query.where(column == value)
    return read_page(connection, query, offset=offset, limit=limit)


def find_administration(connection: Connection, administration: int) -> Row | None:
    """One administration with the scale's definition and the situation's text."""
    query = _administrations(
        scales.c.definition,
        situations.c.text.label("situation_text"),
        administrations.c.item_order,
        administrations.c.counterpart,
    )
    return first_row(connection, query.where(administrations.c.id == administration))


def administration_items(connection: Connection, administration: int) -> list[Row]:
    """Its item answers by item."""
    query = (
        select(item_answers.c.item, item_answers.c.value, item_answers.c.entropy)
        .where(item_answers.c.administration_id == administration)
        .order_by(item_answers.c.item)
    )
    return [dict(row) for row in connection.execute(query).mappings()]


def administration_choices(connection: Connection) -> dict[str, list[str]]:
    """What the list can be narrowed to."""
    asked = select(administrations.c.id).where(administrations.c.respondent_id == respondents.c.id)
    names = select(respondents.c.name).where(asked.exists()).order_by(respondents.c.name)
    used = select(administrations.c.id).where(administrations.c.scale_id == scales.c.id)
    named = select(scales.c.name).where(used.exists()).distinct().order_by(scales.c.name)
    return {
        "respondent": values_of(connection, names),
        "scale": values_of(connection, named),
        "phase": ["default", "evoked"],
    }


def _administrations(*more: Any) -> Select[Any]:
    columns = ("phase", "mode", "order_index", "repeat", "outcome", "reason")
    return (
        with_respondents(
            select(
                administrations.c.id.label("administration"),
                RESPONDENT.label("respondent"),
                KIND.label("kind"),
                SUBJECT.label("subject"),
                scales.c.name.label("scale"),
                *(administrations.c[name] for name in columns),
                situation_sets.c.name.label("set"),
                situations.c.key.label("situation"),
                situations.c.emotion,
                administrations.c.answer_id.label("answer"),
                answers.c.run_id.label("run"),
                *more,
            )
        )
        .join(scales, scales.c.id == administrations.c.scale_id)
        .join(situations, situations.c.id == administrations.c.situation_id, isouter=True)
        .join(situation_sets, situation_sets.c.id == situations.c.situation_set_id, isouter=True)
        .join(answers, answers.c.id == administrations.c.answer_id, isouter=True)
    )
