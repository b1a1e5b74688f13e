"""The numbers behind the conclusions: mean scores, and comparisons with a baseline."""

from __future__ import annotations

from dataclasses import dataclass

from empathylab.store.judgements import JudgeRun

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
class RunReplies:
    """The replies of a run that a judge was to score."""

    respondent: str
    usable: int
    scored: int
    """Those with a score on every dimension that is not hidden."""
    judging: JudgeRun | None
    """What became of the judge's requests; None where it was not asked about this run."""
    hidden: int = 0
    """Those whose scores are hidden, because a study that is not closed shows the replies."""

    @property
    def unscored(self) -> int:
        return self.usable - self.scored


@dataclass(frozen=True, slots=True)
class DimensionChange:
    """A run's mean on a dimension less the baseline's, over the situations with scores of both."""

    dimension: str
    baseline: float
    mean: float
    difference: float
    low: float
    """Ends of the 95% interval, paired by situation; NaN where nothing varies."""
    high: float


@dataclass(frozen=True, slots=True)
class ScoreLoss:
    """A situation in which the composite is lower than the baseline's."""

    set: str
    situation: str
    baseline: float
    score: float
    baseline_reply: str = ""
    reply: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A run's composite compared with a baseline's, paired by situation."""

    run: int
    baseline: int
    margin: float
    difference: float
    low: float
    """The lower end of the one-sided 95% interval; NaN where all differences are the same."""
    high: float
    """The upper end of the other one-sided interval."""
    p: float
    """That the mean is lower than the baseline's by the margin or more."""
    passed: bool
    """Whether it is shown not to be worse by the margin."""
    situations: int
    """With a score of both."""
    shared: int = 0
    """With a usable reply of both."""
    baseline_name: str | None = None
    """As the caller named it."""
    dimensions: tuple[DimensionChange, ...] = ()
    """The composite first, then the dimensions."""
    losses: tuple[ScoreLoss, ...] = ()
    """The situations that lost most, the largest loss first."""

    @property
    def reference(self) -> str:
        """What sentences call the baseline."""
        return self.baseline_name or f"run {self.baseline}"

    @property
    def worse(self) -> bool:
        """Whether the run is shown to be worse than the baseline, and by too much or perhaps so."""
        certain = self.difference < 0 if self.high != self.high else self.high < 0
        return not self.passed and certain
