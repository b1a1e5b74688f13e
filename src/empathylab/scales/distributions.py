"""How sure a respondent was of each answer, from the alternatives it weighed."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from empathylab.scales.definition import Scale

Choice = TypeVar("Choice", bound=Hashable)
Weighed = tuple[str, Mapping[str, float]]
"""A token of an answer, and the log-probabilities of the alternatives at its place."""

_PAIR = re.compile(r'"(?P<shown>\d+)"\s*:\s*(?P<value>-?\d+)')
_ENDED = re.compile(r"(-?\d+)\D+")
_BEFORE_CHOICE = ' ":\r\n\t'


@dataclass(frozen=True, slots=True)
class Distribution(Generic[Choice]):
    """The probabilities of possible choices; they sum to 1."""

    probabilities: dict[Choice, float]
    mass: float
    """The probability that the model gave to all choices together, before they were made to sum
    to 1: near 1 if it meant to choose one, near 0 if it was held to it."""

    @property
    def entropy(self) -> float:
        """How undecided the choice is, in bits: 0 if certain."""
        return -sum(p * math.log2(p) for p in self.probabilities.values() if p > 0) + 0.0


@dataclass(frozen=True, slots=True)
class AnswerDistribution(Distribution[int]):
    """The probabilities of an item's possible answers."""

    @property
    def expected(self) -> float:
        """The expected answer."""
        return sum(value * share for value, share in self.probabilities.items())


def answer_distributions(
    tokens: Sequence[Weighed], scale: Scale, order: Sequence[int]
) -> dict[int, AnswerDistribution]:
    """The distribution over the answers to each item, by the scale's own item numbers.

    `tokens` are the tokens of an answer that obeys `answer_schema`, each with the log-probability
    of the alternatives at its place. Each distribution is conditional on the answers before it, as
    they were given. An item is left out if no alternative at its place is a possible answer, or
    if the answer names it twice. `weigh` says how answers of several tokens are read.
    """
    written = {f"{value}!": value for value in range(scale.minimum, scale.maximum + 1)}
    distributions: dict[int, AnswerDistribution] = {}
    seen: set[int] = set()
    for match in _PAIR.finditer("".join(token for token, _ in tokens)):
        shown = int(match["shown"])
        if not 1 <= shown <= len(order):
            continue
        item = order[shown - 1]
        if item in seen:
            distributions.pop(item, None)
            continue
        seen.add(item)
        weighed = weigh(tokens, match.start("value"), written, _with_end)
        if weighed is not None:
            distributions[item] = AnswerDistribution(*weighed)
    return distributions


def weigh(
    tokens: Sequence[Weighed],
    start: int,
    written: Mapping[str, Choice],
    read: Callable[[str], str] = str,
) -> tuple[dict[Choice, float], float] | None:
    """The probability of each choice at that place of the answer, and their mass.

    `written` says how each choice is written, with a sign of its end, which `read` puts into a
    text. A choice may take several tokens: where the first does not tell two apart, the walk goes
    on along the answer. An alternative that could become one of several, but was not taken, counts
    for none of them and is missing in the mass. None where no alternative is a choice.
    """
    shares = dict.fromkeys(written.values(), 0.0)
    reached, before, end = 1.0, "", 0
    for taken, alternatives in tokens:
        begin, end = end, end + len(taken)
        if end <= start:
            continue
        on_path: float | None = None
        for token, logprob in alternatives.items():
            # What precedes the choice may belong to its token, of this alternative or of another.
            so_far = read(before + token if before else token.lstrip(_BEFORE_CHOICE))
            fitting = [text for text in written if _could_be(so_far, text)]
            if len(fitting) == 1:
                shares[written[fitting[0]]] += reached * math.exp(logprob)
            elif fitting and token == taken:
                on_path = math.exp(logprob)
        if on_path is None:
            break
        reached, before = reached * on_path, before + taken[max(0, start - begin) :]
    mass = sum(shares.values())
    if mass <= 0:
        return None
    return {choice: share / mass for choice, share in shares.items()}, min(mass, 1.0)


def _could_be(start: str, text: str) -> bool:
    """Whether what was written so far is, or may become, that text."""
    return bool(start) and (text.startswith(start) or start.startswith(text))


def _with_end(text: str) -> str:
    """A number with a sign of its end where something else follows: 1 is not yet 10."""
    ended = _ENDED.fullmatch(text)
    return f"{ended[1]}!" if ended else text
