"""Deleting what a study may no longer keep, of everybody who came before a certain moment."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, Select, delete, select, update

from empathylab.store import schema


def closings(connection: Connection, study: int) -> list[datetime]:
    """When the study was closed: once, or oftener where an arm joined and opened it again."""
    table = schema.audit
    query = select(table.c.at).where(table.c.study_id == study, table.c.action == "close")
    return list(connection.execute(query.order_by(table.c.at)).scalars())


def _held(study: int, until: datetime) -> Select[tuple[int]]:
    places = schema.places
    return select(places.c.id).where(places.c.study_id == study, places.c.arrived_at <= until)


def expire_ids(connection: Connection, study: int, until: datetime) -> int:
    """How many platform ids were deleted, and with them what names or addresses their holders."""
    people, places = schema.people, schema.places
    invitations, messages = schema.invitations, schema.messages
    came = select(places.c.person).where(places.c.study_id == study, places.c.arrived_at <= until)
    done = connection.execute(
        delete(people).where(people.c.study_id == study, people.c.person.in_(came))
    )
    connection.execute(
        update(invitations)
        .where(invitations.c.study_id == study, invitations.c.added_at <= until)
        .values(label=None)
    )
    connection.execute(delete(messages).where(messages.c.place_id.in_(_held(study, until))))
    return done.rowcount


def expire_words(connection: Connection, study: int, steps: Sequence[str], until: datetime) -> int:
    """How many pages of free words were emptied."""
    table = schema.page_answers
    query = select(table.c.id, table.c.given).where(
        table.c.place_id.in_(_held(study, until)), table.c.step.in_(steps)
    )
    full = [row.id for row in connection.execute(query) if row.given]
    # One by one: a database takes only so many numbers in one statement.
    for number in full:
        connection.execute(update(table).where(table.c.id == number).values(given={}))
    return len(full)


def expire_drafts(connection: Connection, study: int, until: datetime) -> None:
    """Deletes what was begun on a page and never sent."""
    places = schema.places
    connection.execute(
        update(places)
        .where(places.c.study_id == study, places.c.arrived_at <= until)
        .values(draft={})
    )


def launched_rows(connection: Connection) -> Sequence[tuple[str, int]]:
    """Name and version of every study that was launched here."""
    table = schema.studies
    query = select(table.c.name, table.c.version).where(table.c.launched_at.is_not(None))
    rows = connection.execute(query.order_by(table.c.name, table.c.version))
    return [(row.name, row.version) for row in rows]
