"""Small charts as numbers that a template draws."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from empathylab.study.admin.monitoring import Arrivals

WIDTH, HEIGHT = 720.0, 158.0
_FLOOR = 128.0
_TOP = 18.0
_LEFT = 34.0
_FORMATS = {"hour": "%m-%d %H:00", "day": "%Y-%m-%d", "week": "%Y-%m-%d"}


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar."""

    x: float
    y: float
    width: float
    height: float
    label: str
    at: datetime
    count: int


@dataclass(frozen=True, slots=True)
class Bars:
    """A bar chart, with the line of its highest value."""

    bars: tuple[Bar, ...]
    most: int
    total: int
    unit: str
    width: float = WIDTH
    height: float = HEIGHT
    floor: float = _FLOOR
    top: float = _TOP
    left: float = _LEFT


def arrival_bars(arrivals: Arrivals) -> Bars:
    """The chart of who came when."""
    counts = arrivals.counts
    most = max((count for _, count in counts), default=0)
    room = (WIDTH - _LEFT) / max(1, len(counts))
    bars = []
    for number, (at, count) in enumerate(counts):
        height = (_FLOOR - _TOP) * count / most if most else 0.0
        bars.append(
            Bar(
                round(_LEFT + number * room + room * 0.1, 2),
                round(_FLOOR - height, 2),
                round(min(room * 0.8, 40), 2),
                round(height, 2),
                at.strftime(_FORMATS[arrivals.unit]),
                at,
                count,
            )
        )
    total = sum(count for _, count in counts)
    return Bars(tuple(bars), most, total, arrivals.unit)
