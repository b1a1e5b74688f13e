"""Signs that a program or a language model answered: counted by the browser, kept as numbers.

They are collected only where the study file declares them. No key, no text and no position of the
pointer is recorded. A participant can forge all of it, so it is evidence and never proof.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

SIGNAL_FIELDS = ("pastes", "pasted", "keys", "interval", "spread")
"""As the browser sends them, each behind `signal-`."""
_MOST = 1e7
INSTANT = 1.0
"""Seconds; nobody reads a page and answers it in less."""
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
    def signs(self) -> tuple[str, ...]:
        """The names of the signs that are there."""
        even = (
            self.interval is not None
            and self.spread is not None
            and self.keys >= EVEN_KEYS
            and self.spread < EVEN_SPREAD * self.interval
        )
        known = {"paste": self.pastes > 0, "even typing": even, "hidden field": self.trap}
        return tuple(name for name, is_there in known.items() if is_there)


def rater_columns(pages: Iterable[Mapping[str, Any]]) -> dict[str, float | None]:
    """A participant's signals as columns about raters; None: not observed.

    `pages` are the stored timings. Pages that were answered instantly are known without a script.
    """
    timings = list(pages)
    signals = signals_of(timing.get("signals") for timing in timings)
    times = (timing.get("seconds") for timing in timings)
    return {
        "pastes": None if signals is None else signals.pastes,
        "even_typing": None if signals is None else int("even typing" in signals.signs),
        "hidden_field": None if signals is None else int(signals.trap),
        "instant_pages": sum(time is not None and time < INSTANT for time in times),
    }


def read_signals(sent: Mapping[str, float]) -> dict[str, float] | None:
    """What a form says, as it is stored; None where the browser observed nothing.

    The hidden field counts even without a script: a program filled it in.
    """
    stored = {name: min(sent[name], _MOST) for name in (*SIGNAL_FIELDS, "trap") if name in sent}
    return stored if stored.keys() & {"keys", "trap"} else None


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
