"""Who holds which place, as a claim sees it: read once a batch, and carried on by its claims.

Nobody else can change it meanwhile, because anyone who claims has the study locked.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection

from empathylab.store.studies.records import stopped_arms
from empathylab.store.studies.slots import Holders, held_slots, late_slots
from empathylab.study.assignment.allocation import AHEAD, Place, State, World
from empathylab.study.group_commit.batches import Batch
from empathylab.study.session.launched import Launched

_LONG_AGO = datetime.min.replace(tzinfo=UTC)


def claim_state(batch: Batch, launched: Launched, row: Any, now: datetime) -> State:
    """What is known when the person of that row claims a place, or their own again."""
    return State(
        {arm: len(slots) for arm, slots in launched.slots.items()},
        (*_others(batch, launched, row, now), *(() if row.arm is None else (place_of(row),))),
        batch.known("stopped", lambda connection: stopped_arms(connection, launched.row)),
        row.study_status,
        launched.shut,
    )


def note_claim(batch: Batch, place: Place) -> None:
    """Tells the claims that follow in the batch of this one."""
    for worlds, places in batch.all_known("places"):
        if place.world in worlds:
            places.append(place)


def place_of(row: Any) -> Place:
    """A row of the lab as the rules of assignment see it."""
    return Place(
        row.person,
        row.arm,
        row.slot,
        row.claimed_at,
        row.seen_at,
        row.status,
        row.world,
        row.traits,
    )


def _others(batch: Batch, launched: Launched, row: Any, now: datetime) -> list[Place]:
    worlds: tuple[World, ...] = ("person", "test") if row.world == "test" else (row.world,)

    def read(connection: Connection) -> list[Place]:
        return list(_read(connection, launched, worlds, now, besides=row.person))

    # Of most places it is not read whose they are; so nobody finds their own among them.
    return read(batch.reading) if row.arm is not None else batch.known(("places", worlds), read)


def _read(
    connection: Connection,
    launched: Launched,
    worlds: tuple[World, ...],
    now: datetime,
    *,
    besides: str,
) -> Iterator[Place]:
    """The places that count, of which no more is known than counts, and those given on."""
    study, limits = launched.study, launched.study.time_limits
    within = limits.finish_within
    holders = Holders(
        study=launched.row,
        worlds=worlds,
        besides=besides,
        seen_since=now - timedelta(minutes=limits.abandon_after),
        seen_until=now + AHEAD,
        claimed_since=_LONG_AGO if within is None else now - timedelta(minutes=within),
    )
    late: dict[tuple[str, int, str], Place] = {}
    for arm, slot, world, is_late, *traits in held_slots(
        connection, holders, traits=bool(study.quotas)
    ):
        place = _occupied(arm, slot, world)
        if traits:
            place = dataclasses.replace(place, traits=traits[0])
        if is_late:
            late[arm, slot, world] = place
        else:
            yield place
    if late:
        for row in late_slots(connection, holders):
            late.pop((row.arm, row.slot, row.world), None)
            yield place_of(row)
        yield from late.values()  # these were seen in this very moment


@functools.lru_cache(maxsize=100_000)
def _occupied(arm: str, slot: int, world: World) -> Place:
    """A place that is someone else's, whatever its state and age."""
    return Place("", arm, slot, _LONG_AGO, _LONG_AGO, "finished", world)
