"""How a judge divides its choice among the points, from the alternatives it weighed."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from empathylab.models import TokenAlternatives
from empathylab.scales.distributions import Distribution, weigh


@dataclass(frozen=True, slots=True)
class PointDistribution(Distribution[str]):
    """The probabilities of the points as they were shown, in the scale's order."""

    def expected(self, values: Mapping[str, float]) -> float:
        """The expected value; `values` are those of the points."""
        return sum(values[point] * share for point, share in self.probabilities.items())


def point_distribution(
    tokens: Sequence[TokenAlternatives], dimension: str, points: Sequence[str]
) -> PointDistribution | None:
    """The distribution at the place where the answer names a point of the dimension.

    The answer must be JSON in which the point is a string. None where the place is not found, or
    nothing there is a point.
    """
    start = _place("".join(token.token for token in tokens), dimension)
    if start is None:
        return None
    written = {json.dumps(point, ensure_ascii=False)[1:]: point for point in points}
    weighed = weigh([token.weighed for token in tokens], start, written)
    return None if weighed is None else PointDistribution(*weighed)


def _place(text: str, dimension: str) -> int | None:
    """Where the point begins, behind its quotation mark; None unless it is there exactly once."""
    keys = {re.escape(json.dumps(dimension, ensure_ascii=plain)) for plain in (True, False)}
    matches = list(re.finditer(rf'(?:{"|".join(sorted(keys))})\s*:\s*"', text))
    return matches[0].end() if len(matches) == 1 else None
