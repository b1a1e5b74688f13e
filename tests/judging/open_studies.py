"""A study of some replies that is still open, for tests of what it hides."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import select

from empathylab.store import Lab, schema
from empathylab.store.inserts import insert_returning_ids, now


def show_replies(
    lab: Lab, replies: Collection[int], *, name: str = "running", status: str = "open"
) -> int:
    """The id of a new study whose one arm shows these replies."""
    row = {"name": name, "title": "A study", "version": 1, "protocol": {}, "protocol_hash": name}
    with lab.writing() as connection:
        [study] = insert_returning_ids(
            connection, schema.studies, [row | {"status": status, "added_at": now()}]
        )
        [arm] = insert_returning_ids(connection, schema.arms, [{"study_id": study, "name": "arm"}])
        responses = schema.responses
        query = select(*responses.c["id", "situation_id"]).where(responses.c.id.in_(replies))
        shown = [
            {"arm_id": arm, "situation_id": reply.situation_id, "response_id": reply.id}
            for reply in connection.execute(query).all()
        ]
        connection.execute(schema.shown_responses.insert(), shown)
    return study


def rate_by_people(lab: Lab, study: int, replies: Collection[int]) -> None:
    """A person's ratings of these replies in that study."""
    with lab.writing() as connection:
        rater = {"study_id": study, "name": f"person {study}", "kind": "person", "details": {}}
        [number] = insert_returning_ids(connection, schema.raters, [rater | {"added_at": now()}])
        rated = {"rater_id": number, "dimension": "empathy", "value": 3.0}
        connection.execute(
            schema.ratings.insert(), [rated | {"response_id": reply} for reply in replies]
        )
