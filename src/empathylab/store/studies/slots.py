"""Everybody who came to a study: their slots, their answers page by page, their platform ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypedDict

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    bindparam,
    case,
    func,
    insert,
    not_,
    or_,
    select,
    update,
)

from empathylab.store import schema
from empathylab.store.inserts import insert_or_ignore
from empathylab.store.schema.statements import Rows, change_rows, count_rows

# Statements of every page: built once, because building them costs more than running them.
_OF_STUDY = (
    select(schema.slots, schema.studies.c.status.label("study_status"), schema.studies.c.revision)
    .select_from(schema.slots.join(schema.studies))
    .where(schema.slots.c.study_id == bindparam("study"))
)
_FIND = _OF_STUDY.where(schema.slots.c.person == bindparam("who"))
_FIND_LOCKED = _FIND.with_for_update(of=schema.slots, key_share=True)
# In one order, so that two transactions that lock the same people wait and do not block each other.
_FIND_MANY = _OF_STUDY.where(
    schema.slots.c.person.in_(bindparam("people", expanding=True))
).order_by(schema.slots.c.person)
_FIND_MANY_LOCKED = _FIND_MANY.with_for_update(of=schema.slots, key_share=True)
_ANSWERS = (
    select(*schema.page_answers.c["id", "step", "given"])
    .where(schema.page_answers.c.place_id == bindparam("row"))
    .order_by(schema.page_answers.c.id)
)
_ANSWERS_MANY = (
    select(*schema.page_answers.c["place_id", "id", "step", "given"])
    .where(schema.page_answers.c.place_id.in_(bindparam("rows", expanding=True)))
    .order_by(schema.page_answers.c.id)
)
_SEEN_SINCE = or_(
    schema.slots.c.status == "finished",
    (schema.slots.c.seen_at >= bindparam("seen_since"))
    & (schema.slots.c.seen_at <= bindparam("seen_until"))
    & (schema.slots.c.claimed_at >= bindparam("claimed_since")),
)


def _occupied(*columns: ColumnElement[Any]) -> Select[Any]:
    table = schema.slots
    return select(*columns).where(
        table.c.study_id == bindparam("study"),
        table.c.world.in_(bindparam("worlds", expanding=True)),
        table.c.status.in_(("live", "finished")),
        # Who was excluded by mistake counts again, and someone else may have their slot.
        table.c.slot.is_not(None),
        table.c.person != bindparam("besides"),
    )


_OCCUPIED_COLUMNS = (*schema.slots.c["arm", "slot", "world"], not_(_SEEN_SINCE).label("late"))
_OCCUPIED = _occupied(*_OCCUPIED_COLUMNS)
_OCCUPIED_TRAITS = _occupied(*_OCCUPIED_COLUMNS, schema.slots.c.traits)
_LATE = _occupied(*schema.slots.c).where(not_(_SEEN_SINCE)).order_by(schema.slots.c.id)
_TOOK_PART = select(schema.slots.c.id).where(
    schema.slots.c.study_id.in_(bindparam("studies", expanding=True)),
    schema.slots.c.person == bindparam("who"),
    schema.slots.c.arm.is_not(None),
)
_PLATFORM_DETAILS = select(schema.people.c.told).where(
    schema.people.c.study_id == bindparam("study"), schema.people.c.person == bindparam("who")
)
_TIMES = select(*schema.page_answers.c["step", "shown_at", "answered_at", "timing"]).where(
    schema.page_answers.c.place_id == bindparam("row")
)
_CHANGE = update(schema.slots).where(schema.slots.c.id == bindparam("row"))
_ADD_ANSWER = insert(schema.page_answers)


def find_slot(
    connection: Connection, study: int, person: str, *, lock: bool = False
) -> Row[Any] | None:
    """The person's row, with how the study stands; `lock` keeps others off it meanwhile."""
    query = _FIND_LOCKED if lock else _FIND
    return connection.execute(query, {"study": study, "who": person}).one_or_none()


def find_slots(
    connection: Connection, study: int, people: Sequence[str], *, lock: bool = False
) -> dict[str, Row[Any]]:
    """By person, the same of several at once; unknown people are left out."""
    query = _FIND_MANY_LOCKED if lock else _FIND_MANY
    rows = connection.execute(query, {"study": study, "people": tuple(people)})
    return {row.person: row for row in rows}


def count_deleted(connection: Connection, study: int) -> int:
    """How many people of the study were deleted; their rows keep no language."""
    table = schema.slots
    return count_rows(connection, table, table.c.study_id == study, table.c.language == "")


def took_part(connection: Connection, studies: Sequence[int], person: str) -> bool:
    """Whether the person has been given a slot in one of the studies."""
    given = {"studies": tuple(studies), "who": person}
    return connection.execute(_TOOK_PART, given).first() is not None


def add_slots(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Keeps that people came; the same person again changes nothing."""
    insert_or_ignore(connection, schema.slots, rows)


def slot_is_held(connection: Connection, study: int, row: Row[Any]) -> bool:
    """Whether another participant holds or finished the slot of this row."""
    table = schema.slots
    occupied = select(table.c.id).where(
        table.c.study_id == study,
        table.c.world == row.world,
        table.c.arm == row.arm,
        table.c.slot == row.slot,
        table.c.status.in_(("live", "finished")),
        table.c.id != row.id,
    )
    return connection.execute(occupied).first() is not None


def change_slot(connection: Connection, slot_id: int, /, **values: Any) -> None:
    """Changes the person's row."""
    connection.execute(_CHANGE, {"row": slot_id, **values})


def change_slots(connection: Connection, changes: Mapping[int, Mapping[str, Any]]) -> None:
    """Changes several people's rows, by their ids."""
    alike: dict[frozenset[str], list[dict[str, Any]]] = {}
    for slot, values in changes.items():
        alike.setdefault(frozenset(values), []).append({"row": slot, **values})
    for rows in alike.values():
        connection.execute(_CHANGE, rows if len(rows) > 1 else rows[0])


def abandon_slot(connection: Connection, study: int, person: str, seen_at: datetime) -> bool:
    """Whether the person's live slot could be taken from them: not if they were seen since."""
    table = schema.slots
    own = (table.c.study_id == study) & (table.c.person == person)
    unseen = (table.c.status == "live") & (table.c.seen_at == seen_at)
    return change_rows(connection, table, own, unseen, status="abandoned") == 1


class Holders(TypedDict):
    """Whose slots are asked for."""

    study: int
    worlds: tuple[str, ...]
    besides: str
    """The person who asks."""
    seen_since: datetime
    """People last seen before this moment are late."""
    seen_until: datetime
    """People seen after this moment were seen by a wrong clock."""
    claimed_since: datetime
    """People who took their slot before this moment are late, too."""


def held_slots(connection: Connection, holders: Holders, *, traits: bool) -> Rows:
    """Arm, slot and world of the slots that are finished or held, and whether they are late.

    There may be thousands, so `traits` are read only where they are wanted.
    """
    query = _OCCUPIED_TRAITS if traits else _OCCUPIED
    return connection.execute(query, dict(holders)).all()


def late_slots(connection: Connection, holders: Holders) -> Rows:
    """The slots whose holders are late, in full, the oldest first."""
    return connection.execute(_LATE, dict(holders)).all()


def all_slots(connection: Connection, study: int) -> Rows:
    """Everybody who came, in that order, with how many pages they answered."""
    table, answers = schema.slots, schema.page_answers
    answered = select(func.count()).where(answers.c.place_id == table.c.id).scalar_subquery()
    query = select(table, answered.label("answered")).where(table.c.study_id == study)
    return connection.execute(query.order_by(table.c.id)).all()


def given_answers(connection: Connection, slot: int) -> Rows:
    """What was answered so far, page by page, in that order."""
    return connection.execute(_ANSWERS, {"row": slot}).all()


def given_by_slot(connection: Connection, slots: Sequence[int]) -> dict[int, list[Any]]:
    """By slot, the same of several at once."""
    given: dict[int, list[Any]] = {}
    for row in connection.execute(_ANSWERS_MANY, {"rows": tuple(slots)}):
        given.setdefault(row.place_id, []).append(row)
    return given


def page_times(connection: Connection, slot: int) -> dict[str, Any]:
    """By page, when it was shown and answered, and how long it took."""
    return {row.step: row for row in connection.execute(_TIMES, {"row": slot})}


def add_answers(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Keeps answers; a second one for the same page breaks a unique rule."""
    connection.execute(_ADD_ANSWER, [dict(row) for row in rows])


def correct_answer(connection: Connection, answer: int, **values: Any) -> None:
    """Puts another answer in the place of one, and counts that.

    The answer is never before its page was shown, even where the clock was set back.
    """
    table = schema.page_answers
    if (at := values.get("answered_at")) is not None:
        values["answered_at"] = case((table.c.shown_at > at, table.c.shown_at), else_=at)
    values["corrections"] = table.c.corrections + 1
    change_rows(connection, table, table.c.id == answer, **values)


def add_people(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Stores people's platform IDs, separate from everything else."""
    insert_or_ignore(connection, schema.people, rows)


def platform_details(connection: Connection, study: int, person: str) -> dict[str, str]:
    """What the platform says about the person."""
    details = connection.execute(_PLATFORM_DETAILS, {"study": study, "who": person})
    return dict(details.scalar_one_or_none() or {})


def people_rows(connection: Connection, study: int) -> Rows:
    """The platform ids that are still kept."""
    table = schema.people
    return connection.execute(
        select(table).where(table.c.study_id == study).order_by(table.c.id)
    ).all()
