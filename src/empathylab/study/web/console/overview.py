"""The first page: how far the study is, with a small chart that the template draws."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import datetime

from starlette.responses import Response

from empathylab.study.admin.balance import BOUND
from empathylab.study.admin.monitoring import LATEST_PAGES, Arrivals
from empathylab.study.web.console.rendering import page
from empathylab.study.web.console.texts import text
from empathylab.study.web.console.visits import Visit

_VERDICTS = {
    "alike": text(
        "The raters of all arms are similar: they differ by less than {bound} standard deviations."
    ),
    "different": text("The arms have different raters. State this when you report the comparison."),
    "unclear": text(
        "We found no difference, but there are too few raters to call the arms similar."
    ),
    "too few": text("There are too few raters yet to compare the arms."),
    "one arm": text("There is one group of raters, so there is nothing to compare."),
}


WIDTH, HEIGHT = 720.0, 158.0
_FLOOR = 128.0
_TOP = 18.0
_LEFT = 34.0
_FORMATS = {"hour": "%m-%d %H:00", "day": "%Y-%m-%d", "week": "%Y-%m-%d"}
_AMOUNT = re.compile(r"\d+(?:[.,]\d{1,2})?")


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


def show_overview(visit: Visit) -> Response:
    """How far the study is, never which arm leads."""
    watched = visit.console.progress()
    study = visit.console.launched.study
    return page(
        visit,
        "overview",
        text("Overview"),
        watched=watched,
        kinds={block.id: block.kind for block in study.blocks},
        chart=arrival_bars(watched.by_time),
        verdicts=_VERDICTS,
        bound=BOUND,
        latest=LATEST_PAGES,
        places=sum(arm.places for arm in watched.arms),
        now=visit.console.clock(),
        pay=hourly_pay(study.recruitment.payment, watched.median),
    )


def arrival_bars(arrivals: Arrivals) -> Bars:
    """The chart of arrivals."""
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


def hourly_pay(payment: str | None, seconds: float) -> str:
    """What the payment comes to in an hour, in its own currency; empty where it is not known."""
    amount = _AMOUNT.search(payment or "")
    if payment is None or amount is None or math.isnan(seconds) or seconds <= 0:
        return ""
    hourly = float(amount[0].replace(",", ".")) * 3600 / seconds
    return f"{payment[: amount.start()]}{hourly:.2f}{payment[amount.end() :]}"
