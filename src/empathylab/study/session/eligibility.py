"""Whether someone has been in a study before, in any version of it."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row

from empathylab.store.studies.deletion import add_departure, has_departed, has_departures
from empathylab.store.studies.records import other_versions
from empathylab.store.studies.slots import took_part
from empathylab.study.assignment.allocation import FOR_GOOD
from empathylab.study.assignment.blinding import opaque_id
from empathylab.study.group_commit.batches import Batch
from empathylab.study.session.launched import Launched


def was_here(batch: Batch, launched: Launched, person: str) -> bool:
    """Whether the person had a place in another version, or one in any that was deleted since."""
    name, own = launched.study.name, launched.row
    others = batch.known("versions", lambda connection: other_versions(connection, name, own))
    if others and took_part(batch.reading, others, person):
        return True
    # Nobody leaves this version while it is locked; of others one cannot know.
    if not others and not batch.known("departures", lambda item: has_departures(item, own)):
        return False
    return has_departed(batch.reading, [own, *others], _digest(launched, person))


def note_departure(connection: Connection, launched: Launched, row: Row[Any]) -> None:
    """Keeps that someone was here who is about to be deleted, if they may not take part again.

    Else anyone who fails could delete their data and try again as often as they like.
    """
    tried = row.arm is not None or row.status in FOR_GOOD or row.outcome == "screened-out"
    if row.world == "person" and tried:
        add_departure(connection, row.study_id, _digest(launched, row.person))


def _digest(launched: Launched, person: str) -> str:
    """Of the key under which they were known, which is in no table any more."""
    return opaque_id(launched.secret, "departed", person)
