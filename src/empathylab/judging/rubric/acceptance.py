"""Whether a judge may use the rubric: it must see the faults of the planted replies."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from empathylab.errors import InputError
from empathylab.judging.rubric.definition import Profile
from empathylab.judging.rubric.planted import RIGHT, PlantedReplies, planted_replies

REQUIRED = 0.95
"""In this proportion of situations and repeats the right reply must score above all others."""


@dataclass(frozen=True, slots=True)
class ScoredReply:
    """A planted reply as a judge scored it once."""

    situation: str
    kind: str
    repeat: int
    profile: Profile


@dataclass(frozen=True, slots=True)
class FaultCheck:
    """How replies with one fault score on the dimension where it shows."""

    fault: str
    dimension: str
    mean: float
    """Of the replies with this fault."""
    lowest_other: float
    """The lowest mean of any other kind of reply on that dimension."""

    @property
    def passed(self) -> bool:
        """Whether no other kind of reply scores as low."""
        return self.mean < self.lowest_other


@dataclass(frozen=True, slots=True)
class JudgeAcceptance:
    """What a judge made of the planted replies."""

    right_above: float
    """The proportion of situations and repeats in which the right reply has the best composite."""
    compared: int
    """Situations times repeats."""
    incomplete: int
    """Those in which a reply has no score; they count as failed."""
    faults: tuple[FaultCheck, ...]
    within_tolerance: float
    """The proportion of scores that are no further from the expected one than the tolerance."""

    @property
    def accepted(self) -> bool:
        """Whether the judge may be used."""
        return self.right_above >= REQUIRED and all(fault.passed for fault in self.faults)


def judge_acceptance(
    scored: Iterable[ScoredReply], planted: PlantedReplies | None = None
) -> JudgeAcceptance:
    """Whether a judge that gave these scores sees what is planted."""
    planted = planted or planted_replies()
    profiles = {(item.situation, item.kind, item.repeat): item.profile for item in scored}
    if not profiles:
        raise InputError(
            "the judge has not scored any planted replies",
            where=planted.id,
            remedy="Let the judge score the planted replies first.",
        )
    repeats = sorted({repeat for _, _, repeat in profiles})
    situations = dict.fromkeys(reply.situation for reply in planted.replies)
    rounds = [
        {
            reply.kind: profiles.get((situation, reply.kind, repeat))
            for reply in planted.replies
            if reply.situation == situation
        }
        for situation in situations
        for repeat in repeats
    ]
    return JudgeAcceptance(
        right_above=statistics.fmean(map(_right_above, rounds)),
        compared=len(rounds),
        incomplete=sum(None in item.values() for item in rounds),
        faults=tuple(
            _fault(fault, dimension, rounds) for fault, dimension in planted.faults.items()
        ),
        within_tolerance=_within_tolerance(profiles, planted),
    )


def _right_above(profiles: Mapping[str, Profile | None]) -> bool:
    right = profiles[RIGHT]
    return right is not None and all(
        other is not None and other.composite < right.composite
        for kind, other in profiles.items()
        if kind != RIGHT
    )


def _fault(
    fault: str, dimension: str, rounds: Iterable[Mapping[str, Profile | None]]
) -> FaultCheck:
    scores: dict[str, list[float]] = {}
    for profiles in rounds:
        for kind, profile in profiles.items():
            if profile is not None:
                scores.setdefault(kind, []).append(profile.scores[dimension])
    means = {kind: statistics.fmean(values) for kind, values in scores.items()}
    own = means.pop(fault, float("nan"))
    return FaultCheck(fault, dimension, own, min(means.values(), default=float("nan")))


def _within_tolerance(
    profiles: Mapping[tuple[str, str, int], Profile], planted: PlantedReplies
) -> float:
    expected = {(reply.situation, reply.kind): reply.expected for reply in planted.replies}
    near = [
        abs(score - expected[situation, kind].scores[name]) <= planted.tolerance
        for (situation, kind, _), profile in profiles.items()
        for name, score in profile.scores.items()
    ]
    return statistics.fmean(near)
