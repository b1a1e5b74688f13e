"""How sure a respondent was of each answer, from the alternatives it weighed."""

from __future__ import annotations

import bisect
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from empathylab.scales.definition import Scale

_PAIR = re.compile(r'"(?P<shown>\d+)"\s*:\s*(?P<value>-?\d+)')
_WHOLE = re.compile(r"\s*(-?\d+)\D*")


@dataclass(frozen=True, slots=True)
class AnswerDistribution:
    """The probabilities of an item's possible answers; they sum to 1."""

    probabilities: dict[int, float]
    mass: float
    """The probability that the model gave to all possible answers together, before they were
    made to sum to 1: near 1 if it meant to answer, near 0 if it was held to an answer."""

    @property
    def expected(self) -> float:
        """The expected answer."""
        return sum(value * share for value, share in self.probabilities.items())

    @property
    def entropy(self) -> float:
        """How undecided the answer is, in bits: 0 if certain."""
        return -sum(p * math.log2(p) for p in self.probabilities.values() if p > 0) + 0.0


def answer_distributions(
    tokens: Sequence[tuple[str, Mapping[str, float]]], scale: Scale, order: Sequence[int]
) -> dict[int, AnswerDistribution]:
    """The distribution over the answers to each item, by the scale's own item numbers.

    `tokens` are the tokens of an answer that obeys `answer_schema`, each with the log-probability
    of the alternatives at its place. Each distribution is conditional on the answers before it, as
    they were given. An item is left out if no alternative at its place is a possible answer, or
    if the answer names it twice.
    """
    text = "".join(token for token, _ in tokens)
    starts = _token_starts(tokens)
    distributions: dict[int, AnswerDistribution] = {}
    seen: set[int] = set()
    for match in _PAIR.finditer(text):
        shown = int(match["shown"])
        if not 1 <= shown <= len(order):
            continue
        item = order[shown - 1]
        if item in seen:
            distributions.pop(item, None)
            continue
        seen.add(item)
        place = _token_at(starts, match.start("value"))
        distribution = _distribution(tokens[place][1], scale)
        if distribution is not None:
            distributions[item] = distribution
    return distributions


def _token_starts(tokens: Sequence[tuple[str, Mapping[str, float]]]) -> list[int]:
    starts, position = [], 0
    for token, _ in tokens:
        starts.append(position)
        position += len(token)
    return starts


def _token_at(starts: Sequence[int], position: int) -> int:
    return bisect.bisect_right(starts, position) - 1


def _distribution(top: Mapping[str, float], scale: Scale) -> AnswerDistribution | None:
    shares: dict[int, float] = {}
    for token, logprob in top.items():
        whole = _WHOLE.fullmatch(token)
        if whole and scale.minimum <= int(whole[1]) <= scale.maximum:
            value = int(whole[1])  # "3" and " 3" are the same answer
            shares[value] = shares.get(value, 0.0) + math.exp(logprob)
    mass = sum(shares.values())
    if mass <= 0:
        return None
    ordered = {value: shares.get(value, 0.0) / mass for value in _range(scale)}
    return AnswerDistribution(ordered, min(mass, 1.0))


def _range(scale: Scale) -> range:
    return range(scale.minimum, scale.maximum + 1)
