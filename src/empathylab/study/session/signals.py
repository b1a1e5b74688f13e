"""Signs that a program or a language model answered: counted by the browser, kept as numbers.

They are collected only where the study file declares them. No key, no text and no position of the
pointer is recorded. A participant can forge all of it, so it is evidence and never proof.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

FIELDS = ("pastes", "pasted", "keys", "interval", "spread", "trap")
"""As the browser sends them, each behind `signal-`."""
_MOST = 10_000_000
EVEN_SPREAD = 0.15
EVEN_KEYS = 20
"""People's intervals between keys vary by more than this fraction of their mean."""


@dataclass(frozen=True, slots=True)
class Signals:
    """What the browser observed on one page, or on all of a participant's pages."""

    pastes: int
    """How often something was pasted or dropped into an answer."""
    pasted: int
    """How many characters that were."""
    keys: int
    """How many keys were pressed in answers."""
    interval: float | None
    """Mean milliseconds between two keys; None with fewer than two."""
    spread: float | None
    """Their standard deviation."""
    trap: bool
    """Whether a field was filled in that people cannot see."""

    @property
    def found(self) -> tuple[str, ...]:
        """The names of the signs that are there."""
        even = (
            self.interval is not None
            and self.spread is not None
            and self.keys >= EVEN_KEYS
            and self.spread < EVEN_SPREAD * self.interval
        )
        signs = {"paste": self.pastes > 0, "even typing": even, "hidden field": self.trap}
        return tuple(name for name, there in signs.items() if there)


SIGNS = ("paste", "even typing", "hidden field")


def read_signals(sent: Mapping[str, str]) -> dict[str, float] | None:
    """What a form says, as it is stored; None where the browser observed nothing.

    The hidden field counts even without a script: a program filled it in.
    """
    numbers = {name: _number(sent.get(name)) for name in FIELDS[:-1]}
    trap = bool(sent.get("trap"))
    if numbers["keys"] is None and not trap:
        return None
    stored = {name: value for name, value in numbers.items() if value is not None}
    return {**stored, "trap": 1.0} if trap else stored


def signals_of(stored: Iterable[Mapping[str, Any] | None]) -> Signals | None:
    """The signals of several pages together; None where no page was observed."""
    pages = [page for page in stored if page is not None]
    if not pages:
        return None
    keys = int(sum(page.get("keys", 0) for page in pages))
    timed = [
        (max(1.0, page["keys"] - 1), page["interval"], page["spread"])
        for page in pages
        if {"keys", "interval", "spread"} <= page.keys()
    ]
    weight = sum(count for count, _, _ in timed)
    mean = sum(count * interval for count, interval, _ in timed) / weight if timed else None
    spread = None
    if mean is not None:
        squares = sum(count * (sd**2 + (at - mean) ** 2) for count, at, sd in timed)
        spread = math.sqrt(squares / weight)
    return Signals(
        int(sum(page.get("pastes", 0) for page in pages)),
        int(sum(page.get("pasted", 0) for page in pages)),
        keys,
        mean,
        spread,
        any(page.get("trap") for page in pages),
    )


def _number(written: str | None) -> float | None:
    try:
        value = float(written or "")
    except ValueError:
        return None
    return value if math.isfinite(value) and 0 <= value <= _MOST else None
