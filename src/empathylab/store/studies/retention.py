"""Deleting what a study may no longer keep, of everybody who came before a certain moment."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, select

from empathylab.store import schema
from empathylab.store.results import clear_results
from empathylab.store.schema.statements import change_rows, remove_rows
from empathylab.store.studies.live import expire_turns


def closings(connection: Connection, study: int) -> list[datetime]:
    """When the study was closed: once, or oftener where an arm joined and opened it again."""
    table = schema.audit
    query = select(table.c.at).where(table.c.study_id == study, table.c.action == "close")
    return list(connection.execute(query.order_by(table.c.at)).scalars())


def _until(
    study: int, until: datetime, column: ColumnElement[Any] = schema.slots.c.id
) -> Select[Any]:
    """The column of the slots of everybody who came by then."""
    return select(column).where(_arrived(study, until))


def _arrived(study: int, until: datetime) -> ColumnElement[bool]:
    return (schema.slots.c.study_id == study) & (schema.slots.c.arrived_at <= until)


def expire_ids(connection: Connection, study: int, until: datetime) -> int:
    """How many platform ids were deleted, and with them what names or addresses their holders."""
    people, invitations, messages = schema.people, schema.invitations, schema.messages
    given = (invitations.c.study_id == study) & (invitations.c.added_at <= until)
    change_rows(connection, invitations, given, label=None)
    remove_rows(connection, messages, messages.c.place_id.in_(_until(study, until)))
    arrived = people.c.person.in_(_until(study, until, schema.slots.c.person))
    return remove_rows(connection, people, people.c.study_id == study, arrived)


def expire_words(
    connection: Connection, study: int, free: Mapping[str, Collection[str]], until: datetime
) -> int:
    """On how many pages free words were deleted; `free` are the names of such answers by block.

    What raters' details repeat of them goes, too, and so do stored results.
    """
    table = schema.page_answers
    query = select(*table.c["id", "step", "given"]).where(
        table.c.place_id.in_(_until(study, until))
    )
    pages = 0
    # One by one: a database takes only so many numbers in one statement.
    for row in connection.execute(query).all():
        names = free.get(row.step.partition("/")[0], ())
        kept = {name: value for name, value in row.given.items() if name not in names}
        if len(kept) < len(row.given):
            pages += change_rows(connection, table, table.c.id == row.id, given=kept)
    expire_turns(connection, _until(study, until))
    if pages:
        clear_results(connection)
        _expire_details(connection, study, set().union(*free.values()), until)
    return pages


def _expire_details(
    connection: Connection, study: int, names: Collection[str], until: datetime
) -> None:
    raters, arrived = schema.raters, _until(study, until, schema.slots.c.person)
    query = select(*raters.c["id", "details"]).where(
        raters.c.study_id == study, raters.c.name.in_(arrived)
    )
    for row in connection.execute(query).all():
        kept = without_free_words(row.details, names)
        if kept != row.details:
            change_rows(connection, raters, raters.c.id == row.id, details=kept)


def without_free_words(details: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """A rater's details without the free words under these names and about items."""
    kept = {name: value for name, value in details.items() if name not in names}
    if "answers" in (marks := kept.get("marks") or {}):
        about = [answer for answer in marks["answers"] if not answer.get("free")]
        kept["marks"] = {**marks, "answers": about}
    return kept


def expire_drafts(connection: Connection, study: int, until: datetime) -> None:
    """Deletes what was begun on a page and never sent."""
    change_rows(connection, schema.slots, _arrived(study, until), draft={})


def launched_rows(connection: Connection) -> Sequence[tuple[str, int]]:
    """Name and version of every study that was launched here."""
    table = schema.studies
    query = select(table.c.name, table.c.version).where(table.c.launched_at.is_not(None))
    rows = connection.execute(query.order_by(table.c.name, table.c.version))
    return [(row.name, row.version) for row in rows]
