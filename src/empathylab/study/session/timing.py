"""How long a page took, by the server's clock, and what the browser said about it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Timing:
    """The time on one page."""

    seconds: float | None
    """From showing to answering, by the server; None where its clock ran backwards."""
    reported: float | None
    """The same by the browser; None where it said nothing that can be."""
    away: float | None
    """Seconds out of sight, by the browser."""
    losses: int | None
    """How often the page lost the focus, by the browser."""


def page_timing(shown_at: datetime, answered_at: datetime, given: Mapping[str, str]) -> Timing:
    """The time on a page; `given` may hold the browser's `seconds`, `away` and `losses`.

    What a browser says is the rater's to forge, so it is kept apart and never trusted.
    """
    seconds: float | None = (answered_at - shown_at).total_seconds()
    if seconds is not None and seconds < 0:
        seconds = None
    losses = _amount(given.get("losses"), most=100_000)
    return Timing(
        seconds,
        _amount(given.get("seconds")),
        _amount(given.get("away")),
        None if losses is None else int(losses),
    )


def too_soon(shown_at: datetime, answered_at: datetime, least: int) -> bool:
    """Whether the page was left before its least time; a clock set back holds nobody up."""
    return 0 <= (answered_at - shown_at).total_seconds() < least


def _amount(written: str | None, most: float = 31 * 24 * 3600.0) -> float | None:
    try:
        value = float(written or "")
    except ValueError:
        return None
    return value if math.isfinite(value) and 0 <= value <= most else None
