"""Situations, and the responses to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, func, select

from empathylab.store.listings.pages import (
    Listing,
    Row,
    equal_where_given,
    first_row,
    read_page,
    values_of,
)
from empathylab.store.listings.search import matches
from empathylab.store.schema import (
    answers,
    respondents,
    responses,
    situation_sets,
    situations,
)
from empathylab.store.schema.joins import RESPONSES, SITUATION
from empathylab.store.studies.embargo import written_openly

_SNIPPET = 400
_SITUATIONS = situations.join(situation_sets)


@dataclass(frozen=True, slots=True)
class ReplyFilter:
    """Which responses to list."""

    query: str = ""
    respondent: str = ""
    situation_set: str = ""
    emotion: str = ""
    outcome: str = ""

    @property
    def of_replies(self) -> bool:
        """Whether it chooses between the responses to one situation."""
        return bool(self.query or self.respondent or self.outcome)


def list_situations(
    connection: Connection,
    wanted: ReplyFilter,
    *,
    offset: int = 0,
    limit: int = 20,
    whole: bool = False,
) -> Listing:
    """Situations with how many responses, and the beginning of each text; `whole`, all of it."""
    text = situations.c.text if whole else func.substr(situations.c.text, 1, _SNIPPET)
    query = (
        select(
            situations.c.id.label("situation"),
            situation_sets.c.name.label("set"),
            *situations.c["key", "emotion", "topic", "title"],
            text.label("text"),
        )
        .select_from(_SITUATIONS)
        .where(
            select(responses.c.id).where(responses.c.situation_id == situations.c.id).exists(),
            *_of_situation(wanted),
        )
        .order_by(situations.c.id)
    )
    listing = read_page(connection, query, offset=offset, limit=limit)
    counts = _reply_counts(connection, [row["situation"] for row in listing.rows])
    rows = [{**row, "replies": counts.get(row["situation"], 0)} for row in listing.rows]
    return Listing(rows, listing.total)


def _reply_counts(connection: Connection, chosen: Sequence[int]) -> dict[int, int]:
    query = (
        select(responses.c.situation_id, func.count())
        .where(responses.c.situation_id.in_(chosen))
        .group_by(responses.c.situation_id)
    )
    query = query.where(written_openly(connection))
    return {int(situation): int(count) for situation, count in connection.execute(query)}


def find_situation(connection: Connection, situation: int) -> Row | None:
    """One situation with all its texts."""
    query = (
        select(situations, situation_sets.c.name.label("set"))
        .select_from(_SITUATIONS)
        .where(situations.c.id == situation)
    )
    return first_row(connection, query)


def list_replies(
    connection: Connection,
    wanted: ReplyFilter,
    *,
    situation: int | None = None,
    offset: int = 0,
    limit: int = 25,
) -> Listing:
    """Responses with who wrote them and to what, in the order in which they came."""
    rules = equal_where_given(
        {responses.c.situation_id: situation, responses.c.outcome: wanted.outcome}
    )
    query = _replies().where(*rules).order_by(responses.c.id)
    holding = matches(connection.dialect.name, wanted.query)
    if holding is not None:
        query = query.where(holding)
    if wanted.respondent:
        writer = select(respondents.c.id).where(respondents.c.name == wanted.respondent)
        query = query.where(responses.c.respondent_id.in_(writer))
    if of_situation := _of_situation(wanted):
        chosen = select(situations.c.id).select_from(_SITUATIONS).where(*of_situation)
        query = query.where(responses.c.situation_id.in_(chosen))
    query = query.where(written_openly(connection))
    return read_page(connection, query, offset=offset, limit=limit)


def find_reply(connection: Connection, response: int) -> Row | None:
    """One response, as in the list."""
    query = _replies().where(responses.c.id == response)
    return first_row(connection, query.where(written_openly(connection)))


def replies_by_id(connection: Connection, chosen: Sequence[int]) -> dict[int, Row]:
    """These responses by id, as in the list."""
    query = _replies().where(responses.c.id.in_(chosen), written_openly(connection))
    return {row["response"]: dict(row) for row in connection.execute(query).mappings()}


def _replies() -> Select[Any]:
    return select(
        responses.c.id.label("response"),
        respondents.c.name.label("respondent"),
        respondents.c.kind,
        *SITUATION,
        situations.c.id.label("situation_id"),
        situations.c.emotion,
        *responses.c["sample", "prompt", "text", "outcome", "reason"],
        responses.c.answer_id.label("answer"),
        answers.c.run_id.label("run"),
    ).select_from(RESPONSES.outerjoin(answers))


def _of_situation(wanted: ReplyFilter) -> list[ColumnElement[bool]]:
    return equal_where_given(
        {situation_sets.c.name: wanted.situation_set, situations.c.emotion: wanted.emotion}
    )


def reply_choices(connection: Connection) -> dict[str, list[str]]:
    """What the list can be narrowed to: respondents, sets, emotions, outcomes."""
    wrote = select(responses.c.id).where(responses.c.respondent_id == respondents.c.id).exists()
    emotions = select(situations.c.emotion).distinct().order_by(situations.c.emotion)
    return {
        "respondent": values_of(
            connection, select(respondents.c.name).where(wrote).order_by(respondents.c.name)
        ),
        "set": values_of(
            connection, select(situation_sets.c.name).distinct().order_by(situation_sets.c.name)
        ),
        "emotion": values_of(connection, emotions.where(situations.c.emotion.is_not(None))),
        "outcome": _outcomes(connection),
    }


def _outcomes(connection: Connection) -> list[str]:
    """The outcomes of responses, each found by one step in their index: there are few of them."""
    outcomes: list[str] = []
    query = select(func.min(responses.c.outcome))
    value = connection.execute(query).scalar()
    while value is not None:
        outcomes.append(value)
        value = connection.execute(query.where(responses.c.outcome > value)).scalar()
    return outcomes
