"""What is said where people rated the compared arms at different times."""

from __future__ import annotations

from collections.abc import Sequence

from empathylab.analysis.benchmark.frames import ReferenceRatings
from empathylab.analysis.ratings.analysis import raters_compared
from empathylab.analysis.ratings.collection_periods import (
    collected_apart,
    collected_arms,
    collection_sentences,
)
from empathylab.analysis.ratings.rater_prose import raters_paragraph
from empathylab.store import Lab


def apart_notes(
    lab: Lab, reference: ReferenceRatings, respondents: Sequence[str]
) -> tuple[str, ...]:
    """When these were rated, and whether the first one's raters resemble the others'.

    Empty where they were rated together, or where no day is known.
    """
    arms = [reference.arm(name) for name in respondents]
    collected = collected_arms(lab, reference.study.name, arms)
    if len(collected) < 2 or not collected_apart(collected):
        return ()
    compared = raters_compared(lab, reference.study.name, arms)
    said = collection_sentences(collected, comparable=compared is not None)
    return (*said, raters_paragraph(compared)) if compared is not None else tuple(said)
