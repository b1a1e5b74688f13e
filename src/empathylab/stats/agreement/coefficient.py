"""The result that every coefficient of agreement comes as."""

from __future__ import annotations

import math
from dataclasses import dataclass

from empathylab.stats.notes import Note


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A coefficient of agreement with its interval."""

    estimate: float
    """NaN where it is not defined; `note` says why."""
    low: float
    """Lower end of the interval; NaN where it is undefined."""
    high: float
    n: int
    """Situations used."""
    dropped: int
    """Situations left out because fewer than two raters rated them."""
    confidence: float
    interval: str = "none"
    """How the interval was made: bootstrap over situations, F, large sample, Wilson …"""
    note: Note | None = None
    """Why there is no estimate or interval."""


def missing(note: Note, n: int, dropped: int, confidence: float) -> Coefficient:
    """A coefficient that is not defined, and why."""
    return Coefficient(
        math.nan, math.nan, math.nan, n, dropped, confidence, interval="none", note=note
    )
