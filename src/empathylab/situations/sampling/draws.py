"""Balanced draws from a set of situations, the same on every machine.

What decides is a hash of the seed and the situation's id, never the order of the rows nor a random
number generator. With one balance a larger draw with the same seed holds the smaller one.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from empathylab import __version__
from empathylab.errors import InputError
from empathylab.situations.sampling.allocation import Cell, allocate
from empathylab.situations.sampling.exclusions import Rules, broken_rules
from empathylab.situations.sampling.strata import (
    Bands,
    check_balance,
    length_bands,
    marginal,
    stratum,
    unlabelled,
)
from empathylab.situations.sets import Situation, SituationSet


@dataclass(frozen=True, slots=True)
class Shortfall:
    """A value that gave less than its even share, for want of supply."""

    balance: str
    value: str
    drawn: int
    share: int
    """What each value would give, had all enough."""


@dataclass(frozen=True, slots=True)
class Draw:
    """Which situations were drawn, and how."""

    situations: tuple[str, ...]
    """The ids; the first of them are a balanced draw, too."""
    recipe: Mapping[str, Any]
    """All that decides the draw, as plain values."""
    source: Mapping[str, Any]
    """Title, licence and size of the set that was drawn from."""
    excluded: Mapping[str, int]
    """How many each rule left out."""
    counts: Mapping[str, Mapping[str, int]]
    """By balance and value, how many were drawn."""
    supply: Mapping[str, Mapping[str, int]]
    """By balance and value, how many were left to draw from."""
    shortfalls: tuple[Shortfall, ...] = ()
    software: str = field(default=__version__)

    @property
    def eligible(self) -> int:
        """How many situations were left after the exclusions."""
        return int(self.source["situations"]) - sum(self.excluded.values())


def draw(
    situation_set: SituationSet,
    count: int,
    *,
    seed: int = 1,
    balance: Sequence[str] = ("emotion",),
    bands: int | Sequence[int] = 3,
    rules: Rules | None = None,
    replied: Collection[str] | None = None,
) -> Draw:
    """A draw of `count` situations whose values of each balance are as even as can be.

    `balance` names emotion, valence, topic, factor or length, the most important first; none for a
    plain draw. `bands` are the upper bounds of length bands in words, or how many bands share out
    the situations. `replied` are the ids of those that a human has replied to.
    """
    rules = rules or Rules()
    check_balance(balance)
    _check_count(count)
    ordered = sorted(situation_set, key=lambda item: _rank(seed, item.id))
    bare = unlabelled(ordered, balance)
    _refuse_bare(bare, ordered, balance, situation_set.id)
    broken = broken_rules(ordered, rules, unlabelled=bare, replied=replied)
    eligible = [item for item in ordered if item.id not in broken]
    cut = length_bands(eligible, bands) if "length" in balance else Bands(())
    cells: dict[Cell, list[Situation]] = {}
    for item in eligible:
        cells.setdefault(stratum(item, balance, cut), []).append(item)
    supply = {cell: len(members) for cell, members in cells.items()}
    allocated = allocate(supply, count, lambda cell: _rank(seed, *cell))
    chosen = {cell: members[: allocated[cell]] for cell, members in cells.items()}
    counts = {name: marginal(allocated, place) for place, name in enumerate(balance)}
    left = {name: marginal(supply, place) for place, name in enumerate(balance)}
    return Draw(
        situations=_interleaved(chosen, seed),
        recipe={
            "kind": "draw",
            "set": situation_set.id,
            "version": situation_set.version,
            "fingerprint": situation_set.fingerprint,
            "count": count,
            "seed": seed,
            "balance": list(balance),
            "bands": list(cut.bounds) if "length" in balance else None,
            "rules": rules.recipe,
        },
        source={
            "title": situation_set.title,
            "licence": situation_set.licence,
            "situations": len(situation_set),
        },
        excluded=dict(sorted(Counter(broken.values()).items())),
        counts={name: dict(sorted(values.items())) for name, values in counts.items()},
        supply={name: dict(sorted(values.items())) for name, values in left.items()},
        shortfalls=tuple(_shortfalls(counts, left, count)),
    )


def _rank(seed: int, *words: str) -> str:
    """A place in the seed's order, which no machine, version or order of rows changes."""
    return hashlib.sha256("\x1f".join((str(seed), *words)).encode()).hexdigest()


def _check_count(count: int) -> None:
    if count < 1:
        raise InputError(
            "the sample needs at least one situation", got=count, remedy="Give --count 1 or more."
        )


def _refuse_bare(
    bare: Collection[str], situations: Sequence[Situation], balance: Sequence[str], set_id: str
) -> None:
    if situations and len(bare) == len(situations):
        raise InputError(
            f"no situation of the set has a label for {' and '.join(balance)}",
            where=f"situation set {set_id}",
            remedy="Balance over something else.",
        )


def _interleaved(chosen: Mapping[Cell, Sequence[Situation]], seed: int) -> tuple[str, ...]:
    """The ids so that every beginning is spread over the first balance's values."""
    groups: dict[Cell, list[Situation]] = {}
    for cell, members in chosen.items():
        groups.setdefault(cell[:1], []).extend(members)
    places: list[tuple[int, str, str]] = []
    for value, members in groups.items():
        members.sort(key=lambda item: _rank(seed, item.id))
        rank = _rank(seed, *value)
        places += ((turn, rank, situation.id) for turn, situation in enumerate(members))
    return tuple(key for _, _, key in sorted(places))


def _shortfalls(
    counts: Mapping[str, Mapping[str, int]], supply: Mapping[str, Mapping[str, int]], count: int
) -> list[Shortfall]:
    shortfalls = []
    for name, values in counts.items():
        share = count // len(values)
        shortfalls += [
            Shortfall(name, value, drawn, share)
            for value, drawn in sorted(values.items())
            if drawn < share and drawn == supply[name][value]
        ]
    return shortfalls
