"""Sets of situations: what a person experiences, in words."""

from empathylab.situations.emotions import APPRAISAL_EMOTIONS, DIALOGUE_EMOTIONS, valence_of
from empathylab.situations.sets import (
    Situation,
    SituationSet,
    builtin_set,
    builtin_sets,
    builtin_versions,
)

__all__ = [
    "APPRAISAL_EMOTIONS",
    "DIALOGUE_EMOTIONS",
    "Situation",
    "SituationSet",
    "builtin_set",
    "builtin_sets",
    "builtin_versions",
    "valence_of",
]
