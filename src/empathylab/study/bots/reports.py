"""What simulated raters met, summed up."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass
class Met:
    """What one crowd met, written down as it happens."""

    ends: Counter[str] = field(default_factory=Counter)
    """By the title of the last page, how many came to it."""
    left: int = 0
    """Raters who went away by their own wish."""
    lost: int = 0
    """Raters who met an error that they could not get past."""
    pages: dict[str, list[float]] = field(default_factory=dict)
    """By block, the seconds until a page was there."""
    refused: Counter[str] = field(default_factory=Counter)
    """By block, the pages that were given back because of an answer."""
    errors: Counter[str] = field(default_factory=Counter)
    """By what was asked and answered."""
    submits: list[float] = field(default_factory=list)
    """Seconds until an answer was acknowledged."""
    people: list[str] = field(default_factory=list)
    """The pseudonyms under which they took part."""

    @property
    def done(self) -> int:
        """How many raters are through."""
        return sum(self.ends.values()) + self.left + self.lost


@dataclass(frozen=True, slots=True)
class BlockReport:
    """What was met in one block."""

    block: str
    pages: int
    """Shown, over all raters."""
    refused: int
    median_ms: float
    """Until a page was there."""


@dataclass(frozen=True, slots=True)
class BotReport:
    """What a crowd of simulated raters met."""

    bots: int
    behaviours: Mapping[str, int] = field(hash=False)
    ends: Mapping[str, int] = field(hash=False)
    """By the title of the last page, how many came to it."""
    finished: int | None
    """Whose work is complete; None where the lab was not at hand."""
    dropped: int
    """Who went away by their own wish."""
    lost: int
    """Who met an error that they could not get past."""
    refused: int
    """Pages that were given back because of an answer."""
    errors: Mapping[str, int] = field(hash=False)
    submit_p50_ms: float
    submit_p99_ms: float
    arms: Mapping[str, int] | None = field(hash=False)
    """Completions of these raters by arm; None where the lab was not at hand."""
    blocks: tuple[BlockReport, ...]
    seconds: float


def summed_up(
    met: Met, behaviours: Sequence[str], seconds: float, arms: Mapping[str, int] | None
) -> BotReport:
    """The report of a crowd; `arms` are its completions."""
    return BotReport(
        bots=len(behaviours),
        behaviours=dict(Counter(behaviours)),
        ends=dict(met.ends.most_common()),
        finished=None if arms is None else sum(arms.values()),
        dropped=met.left,
        lost=met.lost,
        refused=sum(met.refused.values()),
        errors=dict(met.errors.most_common()),
        submit_p50_ms=quantile_ms(met.submits, 0.5),
        submit_p99_ms=quantile_ms(met.submits, 0.99),
        arms=arms,
        blocks=tuple(
            BlockReport(block, len(took), met.refused[block], 1000 * statistics.median(took))
            for block, took in met.pages.items()
        ),
        seconds=seconds,
    )


def quantile_ms(seconds: Sequence[float], share: float) -> float:
    """The least time within which that share of them was done, in milliseconds; 0 of none."""
    if not seconds:
        return 0.0
    return 1000 * sorted(seconds)[max(0, math.ceil(share * len(seconds)) - 1)]
