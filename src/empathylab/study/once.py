"""Whether somebody has been in a study before, in any version of it."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row

from empathylab.store.erasing import add_departure, has_departed
from empathylab.store.study_places import took_part
from empathylab.store.study_records import other_versions
from empathylab.study.assignment import FOR_GOOD
from empathylab.study.blinding import opaque_id
from empathylab.study.launched import Launched


def was_here(connection: Connection, launched: Launched, person: str) -> bool:
    """Whether the person had a place in another version, or one in any that was deleted since."""
    own = launched.row
    others = other_versions(connection, launched.study.name, own)
    if took_part(connection, others, person):
        return True
    return has_departed(connection, [own, *others], _digest(launched, person))


def note_departure(connection: Connection, launched: Launched, row: Row[Any]) -> None:
    """Keeps that somebody was here who is about to be deleted, if they may not come again.

    Else whoever fails could delete their data and try again as often as they like.
    """
    tried = row.arm is not None or row.status in FOR_GOOD or row.outcome == "screened-out"
    if row.world == "person" and tried:
        add_departure(connection, row.study_id, _digest(launched, row.person))


def _digest(launched: Launched, person: str) -> str:
    """Of the key under which they were known, which is in no table any more."""
    return opaque_id(launched.secret, "departed", person)
