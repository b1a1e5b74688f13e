"""A finished rater's work, written where every analysis reads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func, select

from empathylab.store import schema
from empathylab.store.inserts import add_item_answers, add_respondent, insert_returning_ids
from empathylab.store.results import clear_results
from empathylab.store.schema.statements import change_rows, insert_rows

HUMAN = "human"


@dataclass(frozen=True, slots=True)
class GivenRating:
    """One rating."""

    response: int
    arm: int
    dimension: str
    value: float
    label: str | None
    rated_at: datetime
    seconds: float | None


@dataclass(frozen=True, slots=True)
class GivenScale:
    """One answered scale."""

    scale: int
    phase: str
    situation: int | None
    item_order: tuple[int, ...]
    values: Mapping[int, float] = field(hash=False)


@dataclass(frozen=True, slots=True)
class GivenReply:
    """A reply in the person's own words."""

    situation: int
    text: str
    position: int
    """Which of the situations it was, from 1."""


@dataclass(frozen=True, slots=True)
class FinishedWork:
    """All that one rater did."""

    person: str
    details: Mapping[str, Any] = field(hash=False)
    seconds: float | None
    ratings: tuple[GivenRating, ...]
    scales: tuple[GivenScale, ...]
    replies: tuple[GivenReply, ...]


def add_finished_work(
    connection: Connection, study: int, source: Mapping[str, Any], work: FinishedWork, at: datetime
) -> int:
    """The id of the rater whose work was written; `source` says where their replies come from."""
    row = {
        "study_id": study,
        "name": work.person,
        "kind": "person",
        "details": dict(work.details),
        "seconds": work.seconds,
        "added_at": at,
    }
    (rater,) = insert_returning_ids(connection, schema.raters, [row])
    _add_ratings(connection, rater, work.ratings)
    _add_scales(connection, rater, work.scales, at)
    _add_replies(connection, {**source, "rater": work.person}, work.replies, at)
    return rater


def exclude_rater(connection: Connection, study: int, person: str, reason: str | None) -> None:
    """Marks the rater, if there is one, so that no analysis counts them; None undoes it."""
    table = schema.raters
    mine = (table.c.study_id == study) & (table.c.name == person)
    details = connection.execute(select(table.c.details).where(mine)).scalar_one_or_none()
    if details is not None:
        marks = {key: mark for key, mark in details.get("marks", {}).items() if key != "excluded"}
        if reason is not None:
            marks["excluded"] = reason
        kept = {key: value for key, value in details.items() if key != "marks"}
        marked = {**kept, "marks": marks} if marks else kept
        change_rows(connection, table, mine, details=marked)
        clear_results(connection)


def _add_ratings(connection: Connection, rater: int, given: Sequence[GivenRating]) -> None:
    rows = [
        {
            "rater_id": rater,
            "response_id": item.response,
            "arm_id": item.arm,
            "dimension": item.dimension,
            "value": item.value,
            "label": item.label,
            "rated_at": item.rated_at,
            "seconds": item.seconds,
        }
        for item in given
    ]
    insert_rows(connection, schema.ratings, rows)


def _add_scales(
    connection: Connection, rater: int, given: Sequence[GivenScale], at: datetime
) -> None:
    rows = [
        {
            "rater_id": rater,
            "scale_id": item.scale,
            "situation_id": item.situation,
            "phase": item.phase,
            "counterpart": False,
            "mode": "study",
            "order_index": 0,
            "item_order": list(item.item_order),
            "repeat": 0,
            "outcome": "valid",
            "added_at": at,
        }
        for item in given
    ]
    numbers = insert_returning_ids(connection, schema.administrations, rows)
    add_item_answers(
        connection, ((number, scale.values) for number, scale in zip(numbers, given, strict=True))
    )


def _add_replies(
    connection: Connection, details: Mapping[str, Any], given: Sequence[GivenReply], at: datetime
) -> None:
    if not given:
        return
    table = schema.responses
    human = add_respondent(connection, HUMAN, "human")
    # Replies are numbered, and every study's human replies together: one person at a time.
    names = schema.respondents
    connection.execute(
        select(names.c.id).where(names.c.id == human).with_for_update(key_share=True)
    )
    rows = []
    for item in given:
        query = select(func.max(table.c.sample)).where(
            table.c.situation_id == item.situation, table.c.respondent_id == human
        )
        last = connection.execute(query).scalar_one()
        rows.append(
            {
                "situation_id": item.situation,
                "respondent_id": human,
                "sample": 0 if last is None else last + 1,
                "text": item.text,
                "outcome": "valid",
                "added_at": at,
                "details": {**details, "position": item.position},
            }
        )
    connection.execute(table.insert(), rows)
