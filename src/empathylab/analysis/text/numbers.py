"""Numbers and times as people read them. Rounding happens here and nowhere before."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime


def number(value: float | None, digits: int = 1) -> str:
    """A number as people read it; no sign on what rounds to zero, a dash where there is none."""
    if value is None or value != value:
        return "–"
    text = f"{value:,.{digits}f}"
    return (text.lstrip("-") if not text.strip("-0.") else text).replace("-", "−")


def signed(value: float | None, digits: int = 1) -> str:
    """A difference with its sign; no sign on what rounds to zero, a dash where there is none."""
    if value is None or value != value:
        return "–"
    text = f"{value:+.{digits}f}"
    return number(0.0, digits) if float(text) == 0 else text.replace("-", "−")


def with_ends(
    value: float | None,
    low: float | None,
    high: float | None,
    *,
    digits: int = 1,
    written: Callable[[float | None, int], str] = number,
) -> str:
    """A number with the ends of its interval, `0.52 [0.40, 0.63]`; alone where it has none."""
    text = written(value, digits)
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return text
    return f"{text} [{written(low, digits)}, {written(high, digits)}]"


def moment(value: datetime | None) -> str:
    """A time to the minute, in UTC."""
    return f"{value:%Y-%m-%d %H:%M} UTC" if value is not None else "–"


def percent(share: float | None) -> str:
    """A share in whole percent."""
    return "–" if share is None or share != share else f"{number(100 * share, 0)}%"


def p_value(p: float | None) -> str:
    """A p value to three digits, and never zero; a dash where there is none."""
    if p is None or p != p:
        return "–"
    return "< .001" if p < 0.001 else f"{p:.3f}".replace("0.", ".", 1)
