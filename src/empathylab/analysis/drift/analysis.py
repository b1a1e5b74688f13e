"""Two occasions side by side: who was measured on both, what changed, and what cannot be said."""

from __future__ import annotations

from dataclasses import dataclass

from empathylab.analysis.drift.judges import JudgeShift, JudgeVerdict, judge_shifts
from empathylab.analysis.drift.occasions import Side, without_repetition
from empathylab.analysis.drift.ratings import RatingShift, rating_shifts
from empathylab.analysis.drift.replies import (
    FeatureShift,
    UsableShift,
    feature_shifts,
    usable_shifts,
)
from empathylab.analysis.drift.scores import VerdictChange, comparable_scores, verdict_changes
from empathylab.analysis.drift.settings import SettingChange, setting_changes
from empathylab.stats.over_time import ScoreShift, score_shifts


@dataclass(frozen=True, slots=True)
class Incomparable:
    """Something that is not compared, and why."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class Changes:
    """Everything `analyze changes` gives."""

    before: Side
    after: Side
    both: tuple[str, ...]
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]
    scores: tuple[ScoreShift, ...]
    verdicts: tuple[VerdictChange, ...]
    usable: tuple[UsableShift, ...]
    style: tuple[FeatureShift, ...]
    ratings: tuple[RatingShift, ...]
    judges: tuple[JudgeShift, ...]
    judge_verdicts: tuple[JudgeVerdict, ...]
    settings: tuple[SettingChange, ...]
    incomparable: tuple[Incomparable, ...]
    confidence: float


def compare_sides(before: Side, after: Side, *, confidence: float = 0.95) -> Changes:
    """What changed from one occasion to the other.

    What both hold word for word (a copied lab, a file imported twice) counts before only. A scale
    whose definition differs is not compared; a difference of prompts, models or settings is
    reported beside the figures, as it may be what changed them.
    """
    new, repeated = without_repetition(before, after)
    there = set(new.respondents)
    both = tuple(name for name in before.respondents if name in there)
    earlier, later, unlike = comparable_scores(before, new)
    ratings, unrated = rating_shifts(before, new, confidence=confidence)
    usable, unreplied = usable_shifts(before, new, confidence=confidence)
    judges, judge_verdicts, unjudged = judge_shifts(
        before.judged, after.judged, confidence=confidence
    )
    problems = [Incomparable(*one) for one in (*unlike, *unreplied, *unrated, *unjudged)]
    return Changes(
        before=before,
        after=new,
        both=both,
        only_before=tuple(
            name for name in before.respondents if name not in set(after.respondents)
        ),
        only_after=tuple(name for name in after.respondents if name not in set(before.respondents)),
        scores=tuple(score_shifts(earlier, later, confidence=confidence)),
        verdicts=tuple(verdict_changes(before, new)),
        usable=tuple(usable),
        style=tuple(feature_shifts(before, new, confidence=confidence)),
        ratings=tuple(ratings),
        judges=tuple(judges),
        judge_verdicts=tuple(judge_verdicts),
        settings=tuple(setting_changes(before, new)),
        incomparable=(*_not_measured_anew(new, repeated), *problems),
        confidence=confidence,
    )


def _not_measured_anew(after: Side, repeated: tuple[str, ...]) -> list[Incomparable]:
    """Respondents whose later answers are, all or some, those of before."""
    left = set(after.answered)
    found = [
        Incomparable(
            f"{name}, answers",
            ("some" if name in left else "all")
            + " of them are in both labs, word for word, and count once",
        )
        for name in repeated
    ]
    found += [
        Incomparable(f"{name}, answers", "some were taken over from before; ask anew with --fresh")
        for name in after.taken_over
    ]
    return found
