"""When the arms of a study were rated: arms that were not rated together had other raters."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from empathylab.analysis.text.apa import listed
from empathylab.store import Lab
from empathylab.store.ratings import collection_frame


@dataclass(frozen=True, slots=True)
class Collected:
    """When one arm was rated."""

    arm: str
    raters: int
    ratings: int
    first: date | None
    """The day of its first rating; None where that is not known."""
    last: date | None


def collected_arms(lab: Lab, study: str, arms: Sequence[str]) -> tuple[Collected, ...]:
    """Of each arm when it was rated, in the order of the arms."""
    rows = {row["arm"]: row for row in collection_frame(lab, study).iter_rows(named=True)}
    return tuple(Collected(**rows[arm]) for arm in arms if arm in rows)


def collected_apart(collected: Sequence[Collected]) -> bool:
    """Whether two arms were rated at different times, with no day in common.

    So are arms of which it is known and arms of which it is not: nothing says that they were
    rated together.
    """
    known = [one for one in collected if one.first is not None]
    if not known:
        return False
    if len(known) < len(collected):
        return True
    return any(_apart(one, other) for one, other in itertools.combinations(known, 2))


def _apart(one: Collected, other: Collected) -> bool:
    if one.first is None or one.last is None or other.first is None or other.last is None:
        return False
    return one.last < other.first or other.last < one.first


def collection_sentences(collected: Sequence[Collected], *, comparable: bool) -> list[str]:
    """When the arms were rated; and what that means where it was not at the same time."""
    if all(one.first is None for one in collected):
        return []
    if not collected_apart(collected):
        first = min(one.first for one in collected if one.first)
        last = max(one.last for one in collected if one.last)
        return [f"The ratings were given {_period(first, last)}."]
    said = [f"{one.arm} {_period(one.first, one.last)}" for one in collected]
    checked = (
        "their raters were not assigned by chance, so whether they are alike is looked at before "
        "the arms are compared."
        if comparable
        else "their raters were not assigned by chance, and too little is known about them to say "
        "whether they are alike: a difference between the arms may be one between their raters."
    )
    return [f"The arms were not rated together ({listed(said)}); {checked}"]


def collection_rows(collected: Sequence[Collected]) -> list[dict[str, Any]]:
    """As JSON holds it."""
    return [
        {
            "arm": one.arm,
            "raters": one.raters,
            "ratings": one.ratings,
            "first": None if one.first is None else one.first.isoformat(),
            "last": None if one.last is None else one.last.isoformat(),
        }
        for one in collected
    ]


def collection_table(collected: Sequence[Collected]) -> list[dict[str, str]]:
    """As a reader sees it; empty where no day is known."""
    if all(one.first is None for one in collected):
        return []
    return [
        {
            "arm": one.arm,
            "raters": str(one.raters),
            "ratings": str(one.ratings),
            "first rating": "–" if one.first is None else one.first.isoformat(),
            "last rating": "–" if one.last is None else one.last.isoformat(),
        }
        for one in collected
    ]


def _period(first: date | None, last: date | None) -> str:
    if first is None or last is None:
        return "on days that are not known"
    if first == last:
        return f"on {first.isoformat()}"
    return f"from {first.isoformat()} to {last.isoformat()}"
