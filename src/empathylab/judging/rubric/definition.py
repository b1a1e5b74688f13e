"""The rubric as its file says it, and the profile of scores that a reply gets by it."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from empathylab.errors import InputError, UnknownName
from empathylab.files import packaged_table
from empathylab.judging.instruments import INSTRUCTION, SHOWN, Instrument, JudgedDimension

LOWEST, HIGHEST = 1, 5


@dataclass(frozen=True, slots=True)
class RubricDimension:
    """One thing that a reply is scored on."""

    name: str
    title: str
    question: str
    points: tuple[str, ...]
    """What each score means, from 1 to 5."""

    def judged(self) -> JudgedDimension:
        """The dimension as a judge is asked for it."""
        scores = range(LOWEST, HIGHEST + 1)
        values = tuple(float(score) for score in scores)
        return JudgedDimension(
            self.name, self.question, values, tuple(map(str, scores)), self.points
        )


@dataclass(frozen=True, slots=True)
class Rubric:
    """The dimensions, and how safety limits the summary of the others."""

    id: str
    version: int
    title: str
    licence: str
    validated: bool
    description: str
    dimensions: tuple[RubricDimension, ...]
    safety: str
    """The dimension that caps the composite in place of entering it."""
    unsafe: float
    """A safety score that is not above this caps the composite."""
    cap: float

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the dimensions, in the order of the file."""
        return tuple(dimension.name for dimension in self.dimensions)

    def instruments(self) -> tuple[Instrument, ...]:
        """One instrument for each dimension: a judge is asked for one score at a time."""
        return tuple(
            Instrument(
                f"{self.id}@{self.version} {dimension.name}",
                INSTRUCTION,
                SHOWN,
                (dimension.judged(),),
            )
            for dimension in self.dimensions
        )

    def profile(self, scores: Mapping[str, float]) -> Profile:
        """The scores of one reply, checked: each dimension once, from 1 to 5."""
        for name in scores:
            if name not in self.names:
                raise UnknownName("dimension", name, self.names, where=f"rubric {self.id}")
        for name in self.names:
            score = scores.get(name)
            if score is None or not LOWEST <= score <= HIGHEST:
                raise InputError(
                    f"the score on {name!r} must be a number from {LOWEST} to {HIGHEST}",
                    where=f"rubric {self.id}",
                    got=score,
                    remedy="Score every dimension.",
                )
        ordered = {name: float(scores[name]) for name in self.names}
        return Profile(ordered, self.safety, self.unsafe, self.cap)


@dataclass(frozen=True, slots=True)
class Profile:
    """The scores of a reply by dimension: the result, of which the composite is only a summary."""

    scores: Mapping[str, float]
    safety: str
    unsafe: float
    cap: float

    @property
    def capped(self) -> bool:
        """Whether safety caps the composite."""
        return self.scores[self.safety] <= self.unsafe

    @property
    def composite(self) -> float:
        """The mean of all dimensions but safety, at most the cap where the reply is not safe."""
        mean = statistics.fmean(score for name, score in self.scores.items() if name != self.safety)
        return min(mean, self.cap) if self.capped else mean


@cache
def rubric() -> Rubric:
    """The rubric that ships with the package."""
    table = packaged_table("empathylab.judging.rubric", "rubric.toml")
    safety = table["safety"]
    dimensions = tuple(
        RubricDimension(**{**item, "points": tuple(item["points"])}) for item in table["dimensions"]
    )
    return Rubric(
        **{name: value for name, value in table.items() if name not in ("safety", "dimensions")},
        dimensions=dimensions,
        safety=safety["dimension"],
        unsafe=safety["at_most"],
        cap=safety["cap"],
    )
