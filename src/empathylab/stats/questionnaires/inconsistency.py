"""How often a rater's answers to a questionnaire contradict each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from empathylab.errors import InputError

TEQ_REVERSED = (2, 4, 7, 10, 11, 12, 14, 15)
"""The reversed items of the Toronto Empathy Questionnaire (Spreng et al., 2009)."""


@dataclass(frozen=True, slots=True)
class Inconsistencies:
    """Contradictions per rater, in the order given, and their summary."""

    counts: NDArray[np.int64]
    """−1 where no answer was given."""
    most_possible: int
    n: int
    """Raters with an answer."""
    dropped: int
    share_without: float
    """Raters without any contradiction; NaN without raters."""
    share_over_half: float
    """Raters with more than half of the contradictions that are possible."""


def inconsistencies(
    answers: ArrayLike | pl.DataFrame,
    *,
    reversed_items: Sequence[int] = TEQ_REVERSED,
    lowest: float = 0,
    highest: float = 4,
) -> Inconsistencies:
    """The fewest answers a rater must change so that all lie on one side of the middle.

    Rows are raters, columns items in order; reversed items are numbered from 1 and given as they
    were answered. They are turned round first, so a person who agrees with an item and with its
    reversed kin is on both sides at once. The count is the smaller side's; answers in the middle
    and missing answers contradict nothing. At most half the items can contradict the others, and
    about as many do when someone ticks without reading or agrees with everything. Not a sign of
    carelessness in itself for questionnaires about several things.

    Welivita & Pu (2024) use the TEQ's 8 reversed items as such a check and report 60% of raters
    without an error and 2.3% with more than half of them wrong, in five arms; their rule is not
    known here. This one was picked after some fifty rules had been tried on the two released arms,
    for being among the nearest (60.3% and 2.5%; simpler ones gave 65 to 67% and 1 to 2%). So the
    nearness is no evidence that it is theirs, and the other three arms cannot be checked.
    """
    frame = answers.to_numpy() if isinstance(answers, pl.DataFrame) else answers
    values = np.asarray(frame, dtype=np.float64)
    if values.ndim != 2:
        raise InputError(
            "answers need a row per rater and a column per item",
            got=f"{values.ndim} dimensions",
            remedy="Give one row per rater.",
        )
    items = values.shape[1]
    if any(not 1 <= item <= items for item in reversed_items):
        raise InputError(
            f"the reversed items must be between 1 and {items}",
            got=list(reversed_items),
            remedy="Number the items from 1.",
        )
    outside = values[(values < lowest) | (values > highest)]
    if outside.size:
        raise InputError(
            f"an answer must be between {lowest:g} and {highest:g}",
            got=float(outside[0]),
            remedy="Give the answers' range with lowest= and highest=.",
        )
    turned = values - (lowest + highest) / 2
    turned[:, [item - 1 for item in reversed_items]] *= -1
    smaller = np.minimum((turned > 0).sum(axis=1), (turned < 0).sum(axis=1))
    answered = np.isfinite(values).any(axis=1)
    possible, kept = items // 2, smaller[answered]
    return Inconsistencies(
        np.where(answered, smaller, -1),
        possible,
        len(kept),
        int((~answered).sum()),
        float((kept == 0).mean()) if len(kept) else math.nan,
        float((kept > possible / 2).mean()) if len(kept) else math.nan,
    )
