"""Statistics as papers write them: `χ²(1, N = 4,000) = 96.77, p < .001`."""

from __future__ import annotations

import math
from collections.abc import Sequence

from empathylab.analysis.text.notes import note_text
from empathylab.analysis.text.numbers import number, p_value
from empathylab.stats.agreement import Coefficient
from empathylab.stats.arms import ContingencyTest, Estimate


def p_text(p: float, name: str = "p") -> str:
    """`p < .001` or `p = .012`."""
    text = p_value(p)
    return f"{name} {text}" if text.startswith("<") else f"{name} = {text}"


def bounded(value: float, digits: int = 2) -> str:
    """A statistic that cannot pass 1, without the zero before its point."""
    return number(value, digits).replace("0.", ".", 1) if abs(value) < 1 else number(value, digits)


def interval(
    estimate: Estimate, digits: int = 1, *, times: float = 1, confidence: float = 0.95
) -> str:
    """`95% CI [12.4, 18.5]`; says so where there is none."""
    if not (math.isfinite(estimate.low) and math.isfinite(estimate.high)):
        return "no interval"
    low, high = number(times * estimate.low, digits), number(times * estimate.high, digits)
    return f"{number(100 * confidence, 0)}% CI [{low}, {high}]"


def with_interval(coefficient: Coefficient) -> str:
    """A coefficient with the ends of its interval, where it has one: `0.52 (0.40 to 0.63)`."""
    text = number(coefficient.estimate, 2)
    return (
        text
        if math.isnan(coefficient.low)
        else f"{text} ({number(coefficient.low, 2)} to {number(coefficient.high, 2)})"
    )


def contingency_text(test: ContingencyTest) -> str:
    """The test that was made of a table, with its statistic and p."""
    if test.method == "none":
        return f"no test ({note_text(test.note)})"
    if test.method == "Fisher exact":
        return f"Fisher's exact test, {p_text(test.p)}"
    statistic = f"χ²({test.df}, N = {number(test.n, 0)}) = {number(test.chi2, 2)}, {p_text(test.p)}"
    return f"{statistic} (simulated)" if test.method == "chi-square, simulated" else statistic


def listed(names: Sequence[str], last: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`; with `last` another word than `and`."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} {last} {names[-1]}"


def full_sentence(text: str) -> str:
    """The text with a capital and a full stop; empty where it is."""
    return f"{text[0].upper()}{text[1:]}." if text else ""


def counted(count: int, one: str, many: str | None = None) -> str:
    """`1 rater`, `2,000 raters`."""
    return f"{number(count, 0)} {one if count == 1 else many or one + 's'}"


def excluded_sentence(count: int, unit: str, which: str) -> str:
    """`1 row with missing values was excluded.`"""
    first, _, rest = unit.partition(" ")
    units = counted(count, unit, f"{first}s {rest}".rstrip())
    return f"{units} {which} {'was' if count == 1 else 'were'} excluded."
