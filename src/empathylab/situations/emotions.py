"""The emotion words of the two literatures, and their valence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Literal, get_args

from empathylab.files import packaged_table

Valence = Literal["positive", "negative", "mixed"]

_WORDS: dict[str, list[str]] = packaged_table("empathylab.situations", "lists/emotions.toml")
APPRAISAL_EMOTIONS = tuple(_WORDS["appraisal"])
DIALOGUE_EMOTIONS = tuple(sorted(_WORDS["negative"] + _WORDS["positive"]))

_VALENCE: dict[str, Valence] = {
    **dict.fromkeys([*_WORDS["appraisal"], *_WORDS["negative"]], "negative"),
    **dict.fromkeys(_WORDS["positive"], "positive"),
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
