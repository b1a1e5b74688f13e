"""Replies and their ratings as files release them, in the one shape that the lab takes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal

from empathylab.situations.sets import SituationSet

Kind = Literal["model", "human"]
_PEOPLE = re.compile(r"human|(?:people|persons?)(?![a-z])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a respondent replied to a situation."""

    situation: str
    """The situation's id in its set."""
    respondent: str
    text: str
    sample: int = 0
    """Which of the respondent's replies to the situation."""
    details: Mapping[str, Any] | None = None
    """What the file says about the reply, such as labels of its sentences."""

    @property
    def key(self) -> tuple[str, str, int]:
        """What identifies a reply in a file."""
        return self.situation, self.respondent, self.sample


@dataclass(frozen=True, slots=True)
class Rating:
    """One rater's value for one reply on one dimension."""

    rater: str
    situation: str
    respondent: str
    value: float
    dimension: str = "empathy"
    sample: int = 0
    label: str | None = None
    seconds: float | None = None

    @property
    def key(self) -> tuple[str, str, str, int, str]:
        """What identifies a rating in a file."""
        return self.rater, self.situation, self.respondent, self.sample, self.dimension


@dataclass(frozen=True, slots=True)
class Rater:
    """A person who rated, without their identity."""

    name: str
    details: Mapping[str, Any] = field(default_factory=dict)
    """Age, country and the like."""
    seconds: float | None = None
    """How long the whole study took them."""
    answers: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """By scale, the answers to its items in the scale's order, as given (not reversed)."""
    stated: Mapping[str, float] = field(default_factory=dict)
    """By scale, the total that the file states; the lab counts for itself and compares."""
    kind: Literal["person", "model"] = "person"
    day: date | None = None
    """On which they took part."""


@dataclass(frozen=True, slots=True)
class Dimension:
    """What was rated, and on which points."""

    name: str
    values: tuple[float, ...] = ()
    """The points, lowest first; none for a scale that is not made of points."""
    labels: tuple[str, ...] = ()
    question: str | None = None
    """What raters were asked, as far as it is known."""
    ends: tuple[float, float] | None = None
    """The lowest and the highest value of a scale that is not made of points, where known."""


@dataclass(frozen=True, slots=True)
class RatedStudy:
    """The ratings of a file, with who gave them and on what scale."""

    name: str
    title: str
    design: Literal["between", "within"]
    """Whether a rater saw one respondent's replies, or several respondents'."""
    dimensions: tuple[Dimension, ...]
    raters: tuple[Rater, ...]
    ratings: Sequence[Rating]
    replies: Mapping[str, Any] | None = None
    """How to ask someone for replies who is measured later, as the respondents were asked."""


@dataclass(frozen=True, slots=True)
class Release:
    """All that one source brings: situations, replies, and a study of them if there was one."""

    situation_set: SituationSet
    respondents: Mapping[str, Kind]
    replies: Sequence[Reply]
    study: RatedStudy | None = None
    notes: tuple[str, ...] = ()
    """What a reader should know: what was left out, mapped or does not add up."""


def kind_of(respondent: str) -> Kind:
    """Whether a model or people replied, by the respondent's name."""
    return "human" if _PEOPLE.match(respondent) else "model"
