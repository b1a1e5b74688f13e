"""Scale administrations of respondents, and their item answers."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Select, select

from empathylab.store.administrations import (
    ADMINISTRATIONS,
    KIND,
    RESPONDENT,
    SUBJECT,
    with_respondents,
)
from empathylab.store.listings.pages import (
    Listing,
    Row,
    equal_where_given,
    first_row,
    read_page,
    read_rows,
    values_of,
)
from empathylab.store.schema import (
    administrations,
    answers,
    item_answers,
    respondents,
    scales,
    situations,
)
from empathylab.store.schema.joins import SITUATION


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
    chosen = {
        RESPONDENT: respondent,
        scales.c.name: scale,
        administrations.c.phase: phase,
        administrations.c.outcome: outcome,
    }
    query = _administrations().where(*equal_where_given(chosen)).order_by(administrations.c.id)
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
        select(*item_answers.c["item", "value", "entropy"])
        .where(item_answers.c.administration_id == administration)
        .order_by(item_answers.c.item)
    )
    return read_rows(connection, query)


def rater_questionnaires(connection: Connection, rater: int) -> list[Row]:
    """The item answers of what a rater filled in about themselves, with the scales' definitions."""
    query = (
        select(
            administrations.c.id.label("administration"),
            scales.c.name.label("scale"),
            scales.c.definition,
            administrations.c.phase,
            *item_answers.c["item", "value"],
        )
        .select_from(administrations.join(scales).join(item_answers))
        .where(administrations.c.rater_id == rater)
        .order_by(administrations.c.id, item_answers.c.item)
    )
    return read_rows(connection, query)


def administration_choices(connection: Connection) -> dict[str, list[str]]:
    """What the list can be narrowed to."""
    asked = select(administrations.c.id).where(administrations.c.respondent_id == respondents.c.id)
    names = select(respondents.c.name).where(asked.exists()).order_by(respondents.c.name)
    used = select(administrations.c.id).where(administrations.c.scale_id == scales.c.id)
    named = select(scales.c.name).where(used.exists()).distinct().order_by(scales.c.name)
    # Without joins, which would take most of the page's time in a large lab.
    outcome = administrations.c.outcome
    outcomes = select(outcome).where(administrations.c.respondent_id.is_not(None)).distinct()
    return {
        "respondent": values_of(connection, names),
        "scale": values_of(connection, named),
        "phase": ["default", "evoked"],
        "outcome": values_of(connection, outcomes.order_by(outcome)),
    }


def _administrations(*more: Any) -> Select[Any]:
    return with_respondents(
        select(
            administrations.c.id.label("administration"),
            RESPONDENT.label("respondent"),
            KIND.label("kind"),
            SUBJECT.label("subject"),
            scales.c.name.label("scale"),
            *administrations.c["phase", "mode", "order_index", "repeat", "outcome", "reason"],
            *SITUATION,
            situations.c.emotion,
            administrations.c.answer_id.label("answer"),
            answers.c.run_id.label("run"),
            *more,
        ),
        ADMINISTRATIONS,
    )
