"""Participants of platforms: their platform data, and invitations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, and_, func, select

from empathylab.store import schema
from empathylab.store.schema.statements import Rows, change_rows, insert_rows, update_rows


def submitters(connection: Connection, study: int) -> Rows:
    """The people whose platform ids are kept, with their slots; no trials, nobody simulated."""
    people, slots = schema.people, schema.slots
    query = (
        select(
            *people.c["id", "person", "platform", "ids", "told", "state"],
            *slots.c["status", "outcome", "review", "review_reason"],
        )
        .join(
            slots,
            and_(slots.c.study_id == people.c.study_id, slots.c.person == people.c.person),
        )
        .where(people.c.study_id == study, slots.c.world == "person")
        .order_by(people.c.id)
    )
    return connection.execute(query).all()


def set_states(connection: Connection, states: Mapping[int, str], at: datetime) -> None:
    """Keeps what the platform says now, by the ids of rows that `submitters` gave."""
    rows = [{"id": row, "state": state, "state_at": at} for row, state in states.items()]
    update_rows(connection, schema.people, rows)


def set_platform_details(connection: Connection, row: int, details: Mapping[str, str]) -> None:
    """Replaces what the platform says about one person."""
    change_rows(connection, schema.people, schema.people.c.id == row, told=dict(details))


def rater_details(connection: Connection, study: int, person: str) -> dict[str, Any] | None:
    """What analyses know about someone who has finished; None for all others."""
    table = schema.raters
    query = select(table.c.details).where(table.c.study_id == study, table.c.name == person)
    details = connection.execute(query).scalar_one_or_none()
    return None if details is None else dict(details)


def set_rater_details(
    connection: Connection, study: int, person: str, details: Mapping[str, Any]
) -> None:
    """Keeps what analyses know about someone who has finished."""
    table = schema.raters
    own = (table.c.study_id == study) & (table.c.name == person)
    change_rows(connection, table, own, details=dict(details))


def visit_ids(connection: Connection, study: int, person: str) -> dict[str, str] | None:
    """The platform's ids of the person and their visit; None where they are not kept."""
    table = schema.people
    query = select(table.c.ids).where(table.c.study_id == study, table.c.person == person)
    ids = connection.execute(query).scalar_one_or_none()
    return None if ids is None else dict(ids)


def set_visit_ids(connection: Connection, study: int, person: str, ids: Mapping[str, str]) -> None:
    """Keeps the platform's ids of the person's latest visit."""
    table = schema.people
    change_rows(
        connection, table, table.c.study_id == study, table.c.person == person, ids=dict(ids)
    )


def add_invitations(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Keeps new invitations."""
    insert_rows(connection, schema.invitations, rows)


def find_invitation(
    connection: Connection, study: int, person: str, *, lock: bool = False
) -> Row[Any] | None:
    """The invitation with which that person comes."""
    table = schema.invitations
    query = select(table).where(table.c.study_id == study, table.c.person == person)
    return connection.execute(query.with_for_update() if lock else query).one_or_none()


def invitation_rows(connection: Connection, study: int) -> Rows:
    """All invitations in the order in which they were made, with participants' slots."""
    table, slots = schema.invitations, schema.slots
    query = (
        select(table, *slots.c["status", "outcome", "arrived_at"])
        .outerjoin(
            slots,
            and_(slots.c.study_id == table.c.study_id, slots.c.person == table.c.person),
        )
        .where(table.c.study_id == study)
        .order_by(table.c.id)
    )
    return connection.execute(query).all()


def revoke_invitation(connection: Connection, invitation: int, at: datetime) -> None:
    """Takes an invitation back."""
    table = schema.invitations
    change_rows(connection, table, table.c.id == invitation, revoked_at=at)


def empty_invitation(
    connection: Connection, study: int, person: str, pseudonym: str, at: datetime
) -> None:
    """Deletes whose an invitation was; that there was one still counts."""
    table = schema.invitations
    own = (table.c.study_id == study) & (table.c.person == person)
    revoked = func.coalesce(table.c.revoked_at, at)
    change_rows(connection, table, own, person=pseudonym, label=None, revoked_at=revoked)
