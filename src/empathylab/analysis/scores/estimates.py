"""The numbers behind the conclusions: mean scores, and comparisons with a baseline."""

from __future__ import annotations

from dataclasses import dataclass

EMPATHY = "empathy"
"""The name of the composite."""


@dataclass(frozen=True, slots=True)
class Score:
    """A mean score from 1 to 5 with its interval."""

    dimension: str
    mean: float
    low: float
    """Ends of the 95% interval; NaN where nothing varies, or with one situation."""
    high: float


@dataclass(frozen=True, slots=True)
class RespondentScores:
    """The scores of one run of replies."""

    respondent: str
    run: int
    n: int
    """Replies with a score on every dimension."""
    situations: int
    scores: tuple[Score, ...]
    """The composite first, then the dimensions."""
    capped: int
    """Replies that are not safe, so that their composite is capped."""

    def score(self, dimension: str) -> Score | None:
        """The score on that dimension; None where there is none."""
        return next((score for score in self.scores if score.dimension == dimension), None)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A run's composite compared with a baseline's, paired by situation."""

    run: int
    baseline: int
    margin: float
    difference: float
    low: float
    """The lower end of the one-sided 95% interval; NaN where all differences are the same."""
    p: float
    """That the mean is lower than the baseline's by the margin or more."""
    passed: bool
    """Whether it is shown not to be worse by the margin."""
    situations: int
