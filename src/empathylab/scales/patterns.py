"""Signs that a questionnaire was answered by position, not by what the items say."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, pairwise
from typing import Literal

_SHORTEST = 5  # fewer answers than this agree by chance too easily

Pattern = Literal["straight", "counting", "long run"]


def response_pattern(shown: Sequence[float], minimum: int, maximum: int) -> Pattern | None:
    """How answers, in the order shown, follow the page; None where they do not.

    Straight: all the same. Counting: steps of one, up or down, that start again at the end of
    the range (1, 2, 3, 4, 5, 1, 2 …) or stay there (1, 2, 3, 4, 5, 5, 5 …). Long run: half the
    answers or more, in a row, the same (the long-string index of careless answering, Johnson
    2005, Journal of Research in Personality 39, 103–129). Meant for scales whose neighbouring
    items point in different directions; on others, a long run may be honest.
    """
    if len(shown) < _SHORTEST:
        return None
    if len(set(shown)) == 1:
        return "straight"
    for step in (1, -1):
        if all(_next(a, b, step, minimum, maximum) for a, b in pairwise(shown)):
            return "counting"
    longest = max(len(list(run)) for _, run in groupby(shown))
    return "long run" if 2 * longest >= len(shown) else None


def _next(before: float, after: float, step: int, minimum: int, maximum: int) -> bool:
    end, start = (maximum, minimum) if step > 0 else (minimum, maximum)
    return after in (end, start) if before == end else after == before + step
