"""What simulated raters met, summed up."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass
class BotCounts:
    """Counts of what the simulated raters of one run experience."""

    ends: Counter[str] = field(default_factory=Counter)
    """Number of raters by the title of their last page."""
    left: int = 0
    """Number of raters who dropped out on purpose."""
    lost: int = 0
    """Number of raters stopped by an error."""
    pages: dict[str, list[float]] = field(default_factory=dict)
    """Seconds until a page was loaded, by block."""
    refused: Counter[str] = field(default_factory=Counter)
    """Number of pages shown again because of an invalid answer, by block."""
    errors: Counter[str] = field(default_factory=Counter)
    """Number of errors, by request and response."""
    submits: list[float] = field(default_factory=list)
    """Seconds until an answer was acknowledged."""
    people: list[str] = field(default_factory=list)
    """The pseudonyms under which they took part."""

    @property
    def done(self) -> int:
        """Number of raters who are done."""
        return sum(self.ends.values()) + self.left + self.lost


@dataclass(frozen=True, slots=True)
class BlockReport:
    """The results of one block."""

    block: str
    pages: int
    """Shown, over all raters."""
    refused: int
    median_ms: float
    """Until a page was there."""


@dataclass(frozen=True, slots=True)
class BotReport:
    """The results of a pilot with simulated raters."""

    bots: int
    behaviours: Mapping[str, int] = field(hash=False)
    ends: Mapping[str, int] = field(hash=False)
    """Number of raters by the title of their last page."""
    finished: int | None
    """Number of raters who finished; None if the lab is on another machine."""
    dropped: int
    """Number of raters who dropped out on purpose."""
    lost: int
    """Number of raters stopped by an error."""
    refused: int
    """Number of pages shown again because of an invalid answer."""
    errors: Mapping[str, int] = field(hash=False)
    submit_p50_ms: float
    submit_p99_ms: float
    arms: Mapping[str, int] | None = field(hash=False)
    """Completions of these raters by arm; None if the lab is on another machine."""
    blocks: tuple[BlockReport, ...]
    seconds: float


def summed_up(
    met: BotCounts, behaviours: Sequence[str], seconds: float, arms: Mapping[str, int] | None
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
