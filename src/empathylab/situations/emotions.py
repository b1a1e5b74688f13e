"""The emotion words of the two literatures, and their valence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Literal, get_args

Valence = Literal["positive", "negative", "mixed"]

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


def stated_valence(emotion: str | None, given: str | None) -> Valence | None:
    """The valence that was given, or else that of the emotion; None where neither is known."""
    for valence in get_args(Valence):
        if (given or "").strip().lower() == valence:
            return valence  # type: ignore[no-any-return]
    return None if emotion is None else valence_of(emotion)


def emotion_warnings(
    counts: Mapping[str, int], known: Iterable[str] = DIALOGUE_EMOTIONS
) -> list[str]:
    """A sentence for each emotion outside the known ones: it is kept, and how to map it."""
    names = sorted(known)
    sentences = []
    for emotion, count in counts.items():
        if emotion in names:
            continue
        near = get_close_matches(emotion, names, n=1)
        sentences.append(
            f"The emotion {emotion!r} ({count} ×) is not one of the {len(names)} known emotions. "
            "It is kept as it is. To map it, import with --map "
            f"{emotion}={near[0] if near else 'NAME'}."
        )
    return sentences
