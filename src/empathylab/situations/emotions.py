"""The emotion words of the two literatures, and their valence."""

from __future__ import annotations

from typing import Literal

Valence = Literal["positive", "negative"]

# The eight of the appraisal protocol (Huang et al. 2024), in the paper's order.
APPRAISAL_EMOTIONS = (
    "anger",
    "anxiety",
    "depression",
    "frustration",
    "jealousy",
    "guilt",
    "fear",
    "embarrassment",
)

_NEGATIVE = [
    "afraid",
    "angry",
    "annoyed",
    "anxious",
    "apprehensive",
    "ashamed",
    "devastated",
    "disappointed",
    "disgusted",
    "embarrassed",
    "furious",
    "guilty",
    "jealous",
    "lonely",
    "sad",
    "terrified",
]
_POSITIVE = [
    "anticipating",
    "caring",
    "confident",
    "content",
    "excited",
    "faithful",
    "grateful",
    "hopeful",
    "impressed",
    "joyful",
    "nostalgic",
    "prepared",
    "proud",
    "sentimental",
    "surprised",
    "trusting",
]

# The 32 of the rating studies (EmpatheticDialogues' labels).
DIALOGUE_EMOTIONS = tuple(sorted(_NEGATIVE + _POSITIVE))

_VALENCE: dict[str, Valence] = {
    **dict.fromkeys(APPRAISAL_EMOTIONS, "negative"),
    **dict.fromkeys(_NEGATIVE, "negative"),
    **dict.fromkeys(_POSITIVE, "positive"),
}


def valence_of(emotion: str) -> Valence | None:
    """The valence of a known emotion word; None for any other."""
    return _VALENCE.get(emotion)
