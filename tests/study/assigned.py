"""The state of a study after someone takes or leaves a place, kept without a database."""

from __future__ import annotations

import dataclasses
from collections import Counter
from datetime import datetime

from empathylab.study.assignment.allocation import Place, State, counts, displaced
from empathylab.study.design.definition import Study


def with_place(state: State, place: Place) -> State:
    """The state after a place was claimed or seen; an earlier holder has abandoned its slot."""
    gone = displaced(state, place)
    kept = (
        dataclasses.replace(other, status="abandoned") if other in gone else other
        for other in state.places
        if (other.person, other.world) != (place.person, place.world)
    )
    return dataclasses.replace(state, places=(*kept, place))


def arm_counts(study: Study, state: State, now: datetime) -> dict[str, int]:
    """By arm, people's completions plus live places."""
    per_arm = Counter(
        place.arm
        for place in state.places
        if place.world == "person" and counts(place, study.time_limits, now)
    )
    return {arm: per_arm[arm] for arm in state.slots}
