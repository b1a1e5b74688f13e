"""A judge without a language model: it counts questions. A trained classifier fits in here."""

from __future__ import annotations

from empathylab.judging import JudgedDimension
from empathylab.situations import Situation


def rate_questions(situation: Situation, reply: str, dimension: JudgedDimension) -> float:
    """The value of one of the dimension's points: a point more for each question."""
    return dimension.values[min(reply.count("?"), len(dimension.values) - 1)]
