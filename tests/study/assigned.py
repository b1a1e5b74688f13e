"""The state of a study after someone takes or leaves a place, kept without a database."""

from __future__ import annotations

import dataclasses

from empathylab.study.assignment.allocation import Place, State, displaced


def with_place(state: State, place: Place) -> State:
    """The state after a place was claimed or seen; an earlier holder has abandoned its slot."""
    gone = displaced(state, place)
    kept = (
        dataclasses.replace(other, status="abandoned") if other in gone else other
        for other in state.places
        if (other.person, other.world) != (place.person, place.world)
    )
    return dataclasses.replace(state, places=(*kept, place))
