"""Deleting what a person gave or was; nothing that others gave goes with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    and_,
    bindparam,
    func,
    null,
    or_,
    select,
    union,
)

from empathylab.store import schema
from empathylab.store.inserts import insert_or_ignore
from empathylab.store.results import clear_results
from empathylab.store.schema.statements import change_rows, remove_rows
from empathylab.store.studies.live import delete_conversations
from empathylab.store.studies.partners import blank_replies
from empathylab.store.studies.slots import change_slot

WITHDRAWN = "withdrawn"
"""The outcome of a reply whose words were deleted, while others' ratings of it are kept."""

_DEPARTURES = (
    select(schema.departures.c.digest)
    .where(schema.departures.c.study_id.in_(bindparam("studies", expanding=True)))
    .limit(1)
)
_DEPARTED = _DEPARTURES.where(schema.departures.c.digest == bindparam("digest"))


def erase_person(connection: Connection, study: int, row: Row[Any], pseudonym: str) -> None:
    """Deletes what the person answered and was; their slot stays, so that counts do.

    `pseudonym` stands in place of their key and is derived from nothing. What they wrote as replies
    is for `withdraw_replies`.
    """
    people, audit = schema.people, schema.audit
    remove_rows(connection, people, people.c.study_id == study, people.c.person == row.person)
    erase_answers(connection, study, row)
    change_slot(
        connection,
        row.id,
        person=pseudonym,
        status="withdrawn",
        outcome="withdrawn",
        traits={},
        language="",
        draft={},
        # Finished participants dropped out at no page.
        shown_step=None if row.status == "finished" else row.shown_step,
    )
    mentioned = audit.c.details["person"].as_string() == row.person
    details = {"person": pseudonym}
    change_rows(connection, audit, audit.c.study_id == study, mentioned, details=details)


def erase_answers(connection: Connection, study: int, row: Any) -> None:
    """Deletes the person's answers and stories, and the replies to them."""
    clear_results(connection)
    remove_rows(connection, schema.page_answers, schema.page_answers.c.place_id == row.id)
    blank_replies(connection, row.id)
    delete_conversations(connection, row.id)
    erase_rater(connection, study, row.person)


def erase_rater(connection: Connection, study: int, name: str) -> bool:
    """Whether there was a rater of that name, who is deleted with all their ratings."""
    clear_results(connection)
    table = schema.raters
    named = (table.c.study_id == study) & (table.c.name == name)
    return remove_rows(connection, table, named, table.c.kind == "person") > 0


def withdraw_replies(connection: Connection, study: str, person: str) -> dict[int, int]:
    """By study that shows them, how many of the replies that the person wrote are now empty.

    Where nobody has rated, judged or shown a reply, its row goes; else only its words do, because
    what others said of it is theirs. `study` is the name of the study in which they wrote.
    """
    table = schema.responses
    written = select(table.c.id).where(_written_by(person, study))
    replies = list(connection.execute(written).scalars())
    if not replies:
        return {}
    clear_results(connection)
    _empty_judges(connection, replies)
    used = _used(connection, replies)
    remove_rows(connection, table, table.c.id.in_(set(replies) - used))
    emptied = {"text": "", "outcome": WITHDRAWN, "reason": "deleted with its writer", "details": {}}
    change_rows(connection, table, table.c.id.in_(used), **emptied)
    shown, arms = schema.shown_responses, schema.arms
    showing = (
        select(arms.c.study_id, func.count())
        .select_from(shown.join(arms))
        .where(shown.c.response_id.in_(used))
        .group_by(arms.c.study_id)
        .order_by(arms.c.study_id)
    )
    return {int(number): int(count) for number, count in connection.execute(showing)}


def _written_by(person: str, study: str) -> ColumnElement[bool]:
    details = schema.responses.c.details
    written_in = details["study"].as_string() == study
    return and_(details["rater"].as_string() == person, written_in)


def _used(connection: Connection, replies: Sequence[int]) -> set[int]:
    """Those that something else refers to."""
    columns = (
        schema.shown_responses.c.response_id,
        schema.ratings.c.response_id,
        schema.judgements.c.response_id,
        *schema.preferences.c["first_response_id", "second_response_id"],
    )
    return {
        number
        for column in columns
        for number in connection.execute(select(column).where(column.in_(replies))).scalars()
    }


def _empty_judges(connection: Connection, replies: Sequence[int]) -> None:
    """Deletes the words from what judges were asked about the replies, and from what they said.

    Their points are kept.
    """
    single, pairs = schema.judgements, schema.preferences
    either = or_(pairs.c.first_response_id.in_(replies), pairs.c.second_response_id.in_(replies))
    judged = select(single.c.answer_id).where(single.c.response_id.in_(replies))
    compared = select(pairs.c.answer_id).where(either)
    asked = set(connection.execute(union(judged, compared)).scalars())
    if not asked:
        return
    for table in (single, pairs):
        change_rows(connection, table, table.c.answer_id.in_(asked), said=None, reason=None)
    answers = asked | _asked_alike(connection, asked)
    change_rows(
        connection,
        schema.answers,
        schema.answers.c.id.in_(answers),
        # A fingerprint of words that are gone could only tell that someone had guessed them.
        fingerprint=WITHDRAWN,
        messages=[],
        text="",
        logprobs=null(),
        reason=None,
    )


def _asked_alike(connection: Connection, asked: set[int]) -> set[int]:
    """Answers to the same questions that no judgement refers to: tried before, or taken over."""
    table = schema.answers
    alike: set[int] = set()
    query = select(*table.c["run_id", "key", "fingerprint"]).where(table.c.id.in_(asked))
    for row in connection.execute(query).all():
        first = row.key.partition("/retry-")[0]
        same = or_(
            table.c.fingerprint == row.fingerprint,
            (table.c.run_id == row.run_id)
            & or_(table.c.key == first, table.c.key.startswith(f"{first}/retry-", autoescape=True)),
        )
        alike.update(connection.execute(select(table.c.id).where(same)).scalars())
    return alike


def exclude_replies(connection: Connection, study: str, person: str, reason: str | None) -> int:
    """How many replies of an excluded person no new study shows or analyses; None undoes it."""
    table = schema.responses
    before, after = ("excluded", "valid") if reason is None else ("valid", "excluded")
    clear_results(connection)
    own = _written_by(person, study) & (table.c.outcome == before)
    return change_rows(connection, table, own, outcome=after, reason=reason)


def add_departure(connection: Connection, study: int, digest: str) -> None:
    """Keeps a digest of a participant whose data is deleted now."""
    insert_or_ignore(connection, schema.departures, [{"study_id": study, "digest": digest}])


def has_departed(connection: Connection, studies: Sequence[int], digest: str) -> bool:
    """Whether a participant of that digest was in one of the studies before deletion."""
    given = {"studies": tuple(studies), "digest": digest}
    return connection.execute(_DEPARTED, given).first() is not None


def has_departures(connection: Connection, study: int) -> bool:
    """Whether the data of a participant was deleted."""
    return connection.execute(_DEPARTURES, {"studies": (study,)}).first() is not None


def delete_departures(connection: Connection, study: int) -> None:
    """Deletes that they were here."""
    remove_rows(connection, schema.departures, schema.departures.c.study_id == study)
