"""How a judge divides its choice among the points, from the alternatives it weighed."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from empathylab.models import TokenAlternatives

_END = '"'


@dataclass(frozen=True, slots=True)
class PointDistribution:
    """The shares of the points; they sum to 1."""

    shares: dict[str, float]
    """By the point as it was shown, in the scale's order."""
    mass: float
    """What all points had together before their shares were made to sum to 1: near 1 if the judge
    meant to choose one, near 0 if it was held to it."""

    @property
    def entropy(self) -> float:
        """How undecided the choice is, in bits: 0 if certain."""
        return -sum(p * math.log2(p) for p in self.shares.values() if p > 0) + 0.0

    def expected(self, values: Mapping[str, float]) -> float:
        """The expected value; `values` are those of the points."""
        return sum(values[point] * share for point, share in self.shares.items())


def point_distribution(
    tokens: Sequence[TokenAlternatives], dimension: str, points: Sequence[str]
) -> PointDistribution | None:
    """The distribution at the place where the answer names a point of the dimension.

    The answer must be JSON in which the point is a string. It may take several tokens: where the
    first does not tell two points apart, the walk goes on along the answer. An alternative that
    could become one of several points, but was not taken, counts for none of them and is missing
    in `mass`. None where the place is not found, or nothing there is a point.
    """
    start = _place("".join(token.token for token in tokens), dimension)
    if start is None:
        return None
    ends = list(accumulate(len(token.token) for token in tokens))
    written = {_escaped(point) + _END: point for point in points}
    shares = dict.fromkeys(points, 0.0)
    reached, before = 1.0, ""
    for token_info, end in zip(tokens, ends, strict=True):
        if end <= start:
            continue
        lead = max(0, start - (end - len(token_info.token)))
        on_path: float | None = None
        for token, logprob in ({token_info.token: token_info.logprob} | token_info.top).items():
            # The quotation mark may belong to the first token, of this alternative or of another.
            text_so_far = before + (token.lstrip(' ":') if lead else token)
            fitting = [text for text in written if _could_be(text_so_far, text)]
            if len(fitting) == 1:
                shares[written[fitting[0]]] += reached * math.exp(logprob)
            elif fitting and token == token_info.token:
                on_path = math.exp(logprob)
        if on_path is None:
            break
        reached, before = reached * on_path, before + token_info.token[lead:]
    mass = sum(shares.values())
    if mass <= 0:
        return None
    return PointDistribution({point: p / mass for point, p in shares.items()}, min(mass, 1.0))


def _place(text: str, dimension: str) -> int | None:
    """Where the point begins, behind its quotation mark; None unless it is there exactly once."""
    keys = {re.escape(json.dumps(dimension, ensure_ascii=plain)) for plain in (True, False)}
    matches = list(re.finditer(rf'(?:{"|".join(sorted(keys))})\s*:\s*"', text))
    return matches[0].end() if len(matches) == 1 else None


def _could_be(start: str, text: str) -> bool:
    """Whether what was said so far is, or may become, that text."""
    return bool(start) and (text.startswith(start) or start.startswith(text))


def _escaped(point: str) -> str:
    return json.dumps(point, ensure_ascii=False)[1:-1]
