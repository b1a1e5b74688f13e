"""Who comes to a follow-up: people who completed the first study, known by their platform id.

The pseudonym of the first study is computed again from the id or the invitation with which someone
comes, so the link is made without any list, also after the first study's platform ids are deleted.
"""

from __future__ import annotations

import itertools
from typing import Any

from sqlalchemy import Connection

from empathylab.errors import InputError
from empathylab.store.studies.records import launched_study
from empathylab.store.studies.slots import find_slot
from empathylab.study.design.definition import FollowUp
from empathylab.study.session.running import RunningStudy, pseudonym
from empathylab.study.session.visits import PlatformIds

FIRST_PARTICIPANT, DAYS_AFTER = "first_participant", "days_after"
"""What is kept about someone: their pseudonym in the first study, and the days since then."""
_DAY = 24 * 3600


def first_part(running: RunningStudy, follow_up: FollowUp, ids: PlatformIds) -> dict[str, Any]:
    """What links someone new to their part in the first study; raises where there is none."""
    with running.lab.reading() as connection:
        first = launched_study(connection, follow_up.study)
        place = _completed(connection, first, ids)
    if place is None:
        raise InputError(
            "this person has not completed the first study",
            where=f"study {running.name}",
            remedy=f"Invite people who completed {follow_up.study}, by the same platform id.",
        )
    days = (running.now() - place.seen_at).total_seconds() / _DAY
    return {FIRST_PARTICIPANT: place.person, DAYS_AFTER: round(days, 2)}


def _completed(connection: Connection, first: Any, ids: PlatformIds) -> Any:
    secret = bytes.fromhex(first.secret)
    for turn in itertools.count(1):
        key = pseudonym(secret, ids.platform, ids.person, turn=turn)
        place = find_slot(connection, first.id, key)
        if place is None or place.status == "finished":
            return place
    return None
