"""The rubric: seven dimensions with five described points, and replies to try a judge on."""

from empathylab.judging.rubric.acceptance import (
    FaultCheck,
    JudgeAcceptance,
    ScoredReply,
    judge_acceptance,
)
from empathylab.judging.rubric.definition import Profile, Rubric, RubricDimension, rubric
from empathylab.judging.rubric.planted import PlantedReplies, PlantedReply, planted_replies

__all__ = [
    "FaultCheck",
    "JudgeAcceptance",
    "PlantedReplies",
    "PlantedReply",
    "Profile",
    "Rubric",
    "RubricDimension",
    "ScoredReply",
    "judge_acceptance",
    "planted_replies",
    "rubric",
]
