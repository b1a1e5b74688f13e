"""How carefully one participant took part: evidence for a researcher, never a verdict.

While a study is open, times are in whole minutes, and nothing here depends on how long a reply is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from empathylab.study.admin.embargo import unlisted_blocks, whole_minutes
from empathylab.study.blocks.steps import block_of
from empathylab.study.design.definition import Study
from empathylab.study.session.signals import INSTANT, Signals, signals_of


@dataclass(frozen=True, slots=True)
class Quality:
    """One participant's attention checks, times and signals."""

    pages: int
    """Answered; of an open study without those that tell the arm."""
    seconds: float | None
    """From arrival to the last answer."""
    checks: int
    failed: int
    """Of the attention checks."""
    away: float | None
    """Seconds out of sight, by the browser; None where it said nothing."""
    losses: int | None
    instant: int
    """Pages that were answered in less than `INSTANT`."""
    signals: Signals | None
    """What the browser observed, summed over pages; None: not collected, or not observed."""


def quality_of(
    study: Study,
    pages: Sequence[Any],
    *,
    arrived: datetime,
    last: datetime | None,
    closed: bool,
) -> Quality:
    """The quality of one participant, from the pages that they answered."""
    unlisted = () if closed else unlisted_blocks(study)
    checks = {block.id: block for block in study.blocks if block.checks_attention}
    asked = [page for page in pages if block_of(page.step) in checks and page.given is not None]
    failed = sum(not checks[block_of(page.step)].passed(page.given) for page in asked)
    total = None if last is None else (last - arrived).total_seconds()
    away = _sum(page.timing.get("away") for page in pages)
    losses = _sum(page.timing.get("losses") for page in pages)
    times = (page.timing.get("seconds") for page in pages)
    return Quality(
        pages=sum(block_of(page.step) not in unlisted for page in pages),
        seconds=total if closed else whole_minutes(total),
        checks=len(asked),
        failed=failed,
        away=away if closed else whole_minutes(away),
        losses=None if losses is None else int(losses),
        instant=sum(time is not None and time < INSTANT for time in times),
        signals=signals_of(page.timing.get("signals") for page in pages),
    )


def _sum(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
