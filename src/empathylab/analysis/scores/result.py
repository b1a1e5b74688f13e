"""Scores by the rubric with the judge's card: what every score is shown with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

import polars as pl

from empathylab.analysis.json_values import json_value, picked
from empathylab.analysis.judges.cards import JudgeCard
from empathylab.analysis.results import Conclusion, Kind, ModelChoice, Result, row_frames
from empathylab.analysis.scores.estimates import EMPATHY, Comparison, RespondentScores, RunReplies
from empathylab.analysis.scores.prose import (
    card_sentence,
    comparison_sentence,
    score_sentence,
    unfit_sentence,
    unscored_sentence,
)
from empathylab.judging.rubric import JudgeAcceptance, rubric
from empathylab.store.judgements import JudgeRun


@dataclass(frozen=True, slots=True)
class ScoresResult(Result):
    """How empathetic replies are by the rubric, and how far the judge can be relied on."""

    main_table: ClassVar[str] = "scores"
    judge: str
    respondents: tuple[RespondentScores, ...]
    acceptance: JudgeAcceptance | None
    """What the judge made of the planted replies; None where it scored none of them."""
    tried: int | None
    """Planted replies that the judge was asked about; None where it was not asked."""
    cards: tuple[tuple[str, JudgeCard], ...]
    """By study and dimension, how the judge compares with people."""
    comparisons: tuple[Comparison, ...]
    planted: JudgeRun | None = None
    """What became of the judge's requests about the planted replies."""
    replies: Mapping[int, RunReplies] = field(default_factory=dict)
    """By run, the replies that the judge was to score."""

    @property
    def fit(self) -> bool | None:
        """Whether the judge separates the planted replies; None where it has not answered."""
        if self.tried is None:
            return None
        if self.acceptance is not None and self.acceptance.accepted:
            return True
        unanswered = self.planted is not None and self.planted.answered < self.planted.planned
        return None if unanswered else False

    @property
    def design(self) -> Mapping[str, Any]:
        """Who was scored by whom, on what."""
        return {
            "judge": self.judge,
            "rubric": f"{rubric().id}@{rubric().version}",
            "dimensions": list(rubric().names),
            "respondents": [respondent.respondent for respondent in self.respondents],
            "replies": sum(respondent.n for respondent in self.respondents),
        }

    @property
    def model(self) -> ModelChoice | None:
        """How the intervals are made."""
        return ModelChoice(
            name="mean with a cluster-robust interval",
            reason="Situations, not replies, are treated as independent.",
        )

    @property
    def conclusions(self) -> tuple[Conclusion, ...]:
        """The composite of each respondent, and whether the judge can be used."""
        return (*map(self._score, self.respondents), *map(_comparison, self.comparisons))

    def _score(self, scored: RespondentScores) -> Conclusion:
        score = scored.scores[0]
        names = [respondent.respondent for respondent in self.respondents]
        several = names.count(scored.respondent) > 1
        return Conclusion(
            kind="descriptive",
            sentence=score_sentence(scored, self.judge, fit=self.fit, several=several),
            subject=scored.respondent,
            dimension=EMPATHY,
            estimate=score.mean,
            low=score.low,
            high=score.high,
            unit="points",
            n=scored.n,
            model="mean, clustered by situation",
            basis=f"{scored.n} replies to {scored.situations} situations",
            caveats=self.caveats,
        )

    @property
    def caveats(self) -> tuple[str, ...]:
        """Replies without scores, whether the judge can be used, and its agreement with people."""
        unscored = [
            unscored_sentence(replies, self.judge)
            for replies in self.replies.values()
            if replies.unscored and replies.judging is not None
        ]
        return (*unscored, *self._unfit(), card_sentence(self.judge, self.cards))

    def _unfit(self) -> list[str]:
        if self.fit:
            return []
        return [unfit_sentence(self.judge, self.acceptance, self.tried, self.planted)]

    @property
    def tables(self) -> Mapping[str, pl.DataFrame]:
        """The scores by respondent and dimension."""
        rows = [
            {"respondent": respondent.respondent, "run": respondent.run, "n": respondent.n}
            | asdict(score)
            for respondent in self.respondents
            for score in respondent.scores
        ]
        return row_frames({"scores": rows})

    def to_dict(self) -> dict[str, Any]:
        """Scores, judge's card and conclusions."""
        return {
            "judge": self.judge,
            "judge_card": self.judge_card(),
            **picked(self, "respondents comparisons"),
            **self.stated(),
        }

    def judge_card(self) -> dict[str, Any]:
        """What every score of this judge carries."""
        return {
            "judge": self.judge,
            "fit": self.fit,
            "planted": self.acceptance
            and json_value(self.acceptance) | {"accepted": self.acceptance.accepted},
            "compared_with_people": [_agreement(study, card) for study, card in self.cards],
            "sentences": [*self._unfit(), card_sentence(self.judge, self.cards)],
        }


def _comparison(comparison: Comparison) -> Conclusion:
    kind: Kind = "worse" if comparison.worse else "inconclusive"
    if comparison.passed:
        kind = "equivalent"
    return Conclusion(
        kind=kind,
        sentence=comparison_sentence(comparison),
        subject=f"run {comparison.run}",
        reference=comparison.reference,
        dimension=EMPATHY,
        estimate=comparison.difference,
        **picked(comparison, "low p"),
        unit="points",
        n=comparison.situations,
        model="one-sided paired t test",
    )


def _agreement(study: str, card: JudgeCard) -> dict[str, Any]:
    return {
        "study": study or None,
        "dimension": card.dimension,
        "responses": card.n,
        "people": card.n_people,
        "spearman": json_value(card.spearman.estimate),
        "weighted_kappa": json_value(card.weighted_kappa.estimate),
        "decision": card.decision,
        "biases": [bias.name for bias in card.biases if bias.found],
    }
