"""When the arms of a study were rated; arms rated at different times had different raters."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import polars as pl

from empathylab.analysis.json_values import json_value
from empathylab.analysis.ratings.raters import raters_paragraph, study_rater_comparison
from empathylab.analysis.text.apa import listed
from empathylab.analysis.text.names import name_of
from empathylab.analysis.text.numbers import number
from empathylab.store import Lab
from empathylab.store.ratings import arms_frame


@dataclass(frozen=True, slots=True)
class CollectionPeriod:
    """When one arm was rated."""

    arm: str
    raters: int
    ratings: int
    first: date | None
    """The day of its first rating; None where that is not known."""
    last: date | None


def collection_periods(
    arms: pl.DataFrame | None, names: Sequence[str]
) -> tuple[CollectionPeriod, ...]:
    """When each of these arms was rated, by a table with arm, raters, ratings, first and last."""
    if arms is None or not {"raters", "ratings", "first", "last"} <= set(arms.columns):
        return ()
    rows = {row["arm"]: row for row in arms.iter_rows(named=True) if row["ratings"]}
    return tuple(
        CollectionPeriod(name, row["raters"], row["ratings"], _day(row["first"]), _day(row["last"]))
        for name in names
        if (row := rows.get(name)) is not None
    )


def _day(value: date | str | None) -> date | None:
    return date.fromisoformat(value) if isinstance(value, str) else value


def collection_notes(lab: Lab, study: str, arms: Sequence[str]) -> tuple[str, ...]:
    """When these arms were rated, and whether the first one's raters resemble the others'.

    Empty where they were rated together, or where no day is known.
    """
    collected = collection_periods(arms_frame(lab, study), arms)
    if len(collected) < 2 or not in_different_periods(collected):
        return ()
    compared = study_rater_comparison(lab, study, arms)
    sentences = collection_sentences(collected, comparable=compared is not None)
    return (*sentences, raters_paragraph(compared)) if compared is not None else tuple(sentences)


def in_different_periods(collected: Sequence[CollectionPeriod]) -> bool:
    """Whether two arms were rated at different times, with no day in common.

    So are arms of which it is known and arms of which it is not: nothing says that they were
    rated together.
    """
    known = [item for item in collected if item.first is not None]
    if not known:
        return False
    if len(known) < len(collected):
        return True
    return any(_disjoint(one, other) for one, other in itertools.combinations(known, 2))


def _disjoint(period: CollectionPeriod, other: CollectionPeriod) -> bool:
    if period.first is None or period.last is None or other.first is None or other.last is None:
        return False
    return period.last < other.first or other.last < period.first


def collection_sentences(collected: Sequence[CollectionPeriod], *, comparable: bool) -> list[str]:
    """When the arms were rated; and what that means where it was not at the same time."""
    if all(item.first is None for item in collected):
        return []
    if not in_different_periods(collected):
        first = min(item.first for item in collected if item.first)
        last = max(item.last for item in collected if item.last)
        return [f"The ratings were given {_period(first, last)}."]
    sentences = [f"{name_of(item.arm)} {_period(item.first, item.last)}" for item in collected]
    checked = (
        "their raters were not assigned at random and may differ, so compare the raters first."
        if comparable
        else "their raters were not assigned at random, and too little is known to compare them: a "
        "difference between the arms may be a difference between their raters."
    )
    return [f"The arms were not rated together ({listed(sentences)}); {checked}"]


def _cell(value: object) -> str:
    if isinstance(value, int):
        return number(value, 0)
    return "–" if value is None else str(value)


def collection_table(collected: Sequence[CollectionPeriod]) -> list[dict[str, str]]:
    """As a reader sees it; empty where no day is known."""
    if all(period.first is None for period in collected):
        return []
    heads = {"first": "first rating", "last": "last rating"}
    return [
        {heads.get(name, name): _cell(value) for name, value in row.items()}
        for row in json_value(collected)
    ]


def _period(first: date | None, last: date | None) -> str:
    if first is None or last is None:
        return "on unknown days"
    if first == last:
        return f"on {first.isoformat()}"
    return f"from {first.isoformat()} to {last.isoformat()}"
