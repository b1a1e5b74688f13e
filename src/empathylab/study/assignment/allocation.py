"""Who gets which place: decisions on plain data, without a clock, a database or chance of its own.

A place is a person's hold on a slot. The caller keeps places, hands them in as a `State`, and
stores what comes back in the same transaction.

- Arms are kept level by completions plus live places: a newcomer goes where these are fewest.
- A live place is one whose holder has been seen within the study's limits. Beyond them it no
  longer counts, and its slot may be given on; but slots that nobody has begun go first, so that
  someone who comes back tomorrow mostly finds their own.
- A slot that its holder returned, ran out of, failed or left is free at once.
- People, simulated raters and test visits live in worlds of their own: none counts for another,
  and a test visit does not count at all.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

from empathylab.errors import InputError
from empathylab.study.assignment.blinding import opaque_id
from empathylab.study.assignment.quotas import has_room
from empathylab.study.blocks.interface import Outcome
from empathylab.study.design.definition import Study, TimeLimits

World = Literal["person", "simulated", "test"]
Status = Literal[
    "live",
    "finished",
    "abandoned",
    "returned",
    "timed-out",
    "withdrawn",
    "failed",
    "excluded",
]
Freed = Literal["returned", "timed-out", "abandoned"]
"""How a slot ends that its holder has not finished."""
Reason = Literal["full", "quota", "stopped", "paused", "closed", "ended", "given-on"]

FOR_GOOD: frozenset[Status] = frozenset({"withdrawn", "failed", "excluded"})
"""Anyone who left so does not come back."""
AHEAD = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Person:
    """Someone who comes in."""

    key: str
    """A pseudonym that stays the same when they come back; never the platform's own id."""
    world: World = "person"
    traits: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What quotas go by: `{"sex": "female"}`."""


@dataclass(frozen=True, slots=True)
class Place:
    """A person's hold on a slot."""

    person: str
    arm: str
    slot: int
    claimed_at: datetime
    seen_at: datetime
    status: Status = "live"
    world: World = "person"
    traits: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Full:
    """No place, and why."""

    reason: Reason

    @property
    def outcome(self) -> Outcome:
        """By which the completion code is chosen."""
        return "screened-out" if self.reason == "quota" else "full"


@dataclass(frozen=True, slots=True)
class State:
    """What is known when someone comes in."""

    slots: Mapping[str, int] = field(hash=False)
    """How many slots each arm has."""
    places: tuple[Place, ...] = ()
    stopped: frozenset[str] = frozenset()
    """Arms that take nobody new."""
    status: Literal["open", "paused", "closed"] = "open"
    shut: frozenset[tuple[str, int]] = frozenset()
    """Arm and number of slots that nobody new is given."""


def choose_place(
    study: Study, state: State, person: Person, now: datetime, *, secret: bytes
) -> Place | Full:
    """The place for a person who comes in: their own where they have one, else the next.

    The same person gets the same place for as long as nobody else holds it. A finished place comes
    back as it is. `now` and the times of places bear a time zone. `secret` is the study's own: it
    breaks ties between arms.
    """
    _refuse_naive(now)
    own = next((place for place in reversed(state.places) if _is_of(place, person)), None)
    if own is not None:
        return _returning(study, state, own, now)
    if person.world != "test" and state.status != "open":
        return Full(state.status)
    active = _active(study, state, person.world, now)
    if person.world != "test" and not has_room(
        study.quotas, sum(state.slots.values()), [item.traits for item in active], person.traits
    ):
        return Full("quota")
    arm = choose_arm(study, state, person, active, secret=secret)
    if isinstance(arm, Full):
        return arm
    slot = _next_slot(state, arm, person.world, active)
    return Place(person.key, arm, slot, now, now, "live", person.world, dict(person.traits))


def choose_arm(
    study: Study, state: State, person: Person, active: Collection[Place], *, secret: bytes
) -> str | Full:
    """The arm with the fewest active places among those that have room and are not stopped.

    Ties go to the arm with the fewest people of the same traits, then by a keyed hash of the
    person. The seed and the keys of people are public; the secret is not, so nobody can recompute
    the arms of an open study.
    """
    per_arm = Counter(item.arm for item in active)
    alike = Counter(
        item.arm
        for item in active
        for trait in (quota.by for quota in study.quotas)
        if item.traits.get(trait) == person.traits.get(trait)
    )
    occupied = {(item.arm, item.slot) for item in active} if state.shut else set()
    shut = Counter(arm for arm, _ in state.shut - occupied)
    room = [arm for arm, slots in state.slots.items() if per_arm[arm] + shut[arm] < slots]
    candidates = [arm for arm in room if arm not in state.stopped]
    if not candidates:
        return Full("stopped" if room else "full")
    return min(
        candidates,
        key=lambda arm: (per_arm[arm], alike[arm], opaque_id(secret, "arm", person.key, arm)),
    )


def is_live(place: Place, limits: TimeLimits, now: datetime) -> bool:
    """Whether the holder has been seen within the limits.

    A clock set back makes nobody late, but one that was ahead by days must not hold places for as
    long.
    """
    if place.status != "live" or place.seen_at - now > AHEAD:
        return False
    if now - place.seen_at > timedelta(minutes=limits.abandon_after):
        return False
    within = limits.finish_within
    return within is None or now - place.claimed_at <= timedelta(minutes=within)


def last_seen(now: datetime, before: datetime) -> datetime:
    """The later of the two, unless that lies so far ahead that a clock must have been wrong."""
    return now if before - now > AHEAD else max(now, before)


def counts(place: Place, limits: TimeLimits, now: datetime) -> bool:
    """Whether the place counts when arms are kept level and quotas are filled."""
    return place.status == "finished" or is_live(place, limits, now)


def displaced(state: State, place: Place) -> tuple[Place, ...]:
    """The places to mark abandoned when this one is stored."""
    return tuple(item for item in state.places if _displaces(place, item))


def ended(place: Place, status: Status) -> Place:
    """The place after its holder finished or left.

    Finished work stays finished, whatever a platform says later; only the person (withdrawn) and
    the researcher (excluded) can undo it. A participant who left stays out. Only a live place can
    be finished: `choose_place` admits participants first and knows whether they are late.
    """
    undone = place.status == "finished" and status not in ("withdrawn", "excluded")
    too_late = place.status != "live" and status == "finished"
    if undone or too_late or place.status in FOR_GOOD:
        return place
    return dataclasses.replace(place, status=status)


def _returning(study: Study, state: State, own: Place, now: datetime) -> Place | Full:
    if own.status == "finished":
        return own
    if own.status in FOR_GOOD:
        return Full("ended")
    seen = dataclasses.replace(own, status="live", seen_at=last_seen(now, own.seen_at))
    if own.world == "test":
        return seen
    if state.status == "closed":
        return Full("closed")
    if is_live(own, study.time_limits, now):
        return seen
    others = [item for item in _active(study, state, own.world, now) if not _same_person(item, own)]
    if any((other.arm, other.slot) == (own.arm, own.slot) for other in others):
        return Full("given-on")
    if own.arm in state.stopped and own.status != "live":
        return Full("stopped")
    total = sum(state.slots.values())
    if not has_room(study.quotas, total, [other.traits for other in others], own.traits):
        return Full("quota")
    # The time to finish begins again; otherwise the place would be late the moment it is resumed.
    return dataclasses.replace(seen, claimed_at=now)


def _active(study: Study, state: State, world: World, now: datetime) -> list[Place]:
    """The places that count for a newcomer; a test visit is shown what a person would be."""
    of = "person" if world == "test" else world
    return [
        place
        for place in state.places
        if place.world == of and counts(place, study.time_limits, now)
    ]


def _next_slot(state: State, arm: str, world: World, active: Iterable[Place]) -> int:
    """The lowest free slot that nobody may come back to; else the one left longest ago."""
    occupied = {item.slot for item in active if item.arm == arm}
    occupied |= {slot for of, slot in state.shut if of == arm}
    left = {
        place.slot: place.seen_at
        for place in state.places
        if place.arm == arm and place.world == world and place.status == "live"
    }
    free = [slot for slot in range(state.slots[arm]) if slot not in occupied]
    unclaimed = [slot for slot in free if slot not in left]
    return unclaimed[0] if unclaimed else min(free, key=lambda slot: (left[slot], slot))


def _displaces(place: Place, other: Place) -> bool:
    return (
        place.world != "test"
        and other.status == "live"
        and (other.arm, other.slot, other.world) == (place.arm, place.slot, place.world)
        and not _same_person(place, other)
    )


def _is_of(place: Place, person: Person) -> bool:
    return place.person == person.key and place.world == person.world


def _same_person(place: Place, other: Place) -> bool:
    return place.person == other.person and place.world == other.world


def _refuse_naive(now: datetime) -> None:
    if now.tzinfo is None:
        raise InputError("the time has no time zone", got=now, remedy="Add one, such as UTC.")
