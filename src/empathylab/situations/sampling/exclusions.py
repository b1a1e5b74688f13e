"""Which situations a draw leaves out, and why."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from empathylab.errors import InputError
from empathylab.situations.near_duplicates import repeated
from empathylab.situations.sets import Situation
from empathylab.situations.sources.openings import is_opening
from empathylab.situations.word_lists import WordList, unsafe_words
from empathylab.words import count_words

Reason = Literal[
    "no reply",
    "no label",
    "too short",
    "too long",
    "not an opening",
    "unsafe",
    "duplicate",
]
# The fewest words in which two people would not say the same by chance.
_TELLING = 4
Duplicates = Literal["near", "exact", "keep"]


@dataclass(frozen=True, slots=True)
class Rules:
    """What is left out of a draw. A situation is counted under the first rule that it breaks."""

    min_words: int = 5
    """The fewest words of what the person says (of the text, where they say nothing)."""
    max_words: int | None = None
    """The most; None for no limit."""
    opening: bool = True
    """Leave out what answers someone: the other speaker is involved already."""
    unsafe: WordList = field(default_factory=unsafe_words)
    """Words that none of a situation's texts may hold."""
    duplicates: Duplicates = "near"
    """Of situations that are the same, keep one; near: or almost the same."""
    similarity: float = 0.7
    """From which Jaccard index of their word pairs on two texts are almost the same."""
    replied: bool = False
    """Leave out what no human has replied to."""

    def __post_init__(self) -> None:
        if self.min_words < 0 or (self.max_words is not None and self.max_words < self.min_words):
            raise InputError(
                "the minimum number of words must be 0 or more and at most the maximum",
                got=f"{self.min_words} to {self.max_words}",
                remedy="Correct --min-words and --max-words.",
            )
        if not 0 < self.similarity <= 1:
            raise InputError(
                "the similarity of duplicates must be above 0 and at most 1",
                got=self.similarity,
                remedy="For example: 0.7.",
            )

    @property
    def recipe(self) -> dict[str, Any]:
        """The rules as plain values."""
        return {
            "min_words": self.min_words,
            "max_words": self.max_words,
            "opening": self.opening,
            "unsafe": list(self.unsafe.entries),
            "duplicates": self.duplicates,
            "similarity": self.similarity if self.duplicates == "near" else None,
            "replied": self.replied,
        }


def opening_text(situation: Situation) -> str:
    """What a respondent reads of the person: their words, or the situation where they say none."""
    return situation.utterance or situation.text


def broken_rules(
    situations: Iterable[Situation],
    rules: Rules,
    *,
    unlabelled: Collection[str] = (),
    replied: Collection[str] | None = None,
) -> Mapping[str, Reason]:
    """By the situation's id, the first rule it breaks; of duplicates the first in order stays.

    `unlabelled` are those without a label that the draw is balanced over, `replied` those that a
    human has replied to.
    """
    if rules.replied and replied is None:
        raise InputError(
            "this set does not say which situations have a human reply",
            remedy="Sample from a set in a lab, or omit the rule.",
        )
    answered = set(replied or ())
    bare = set(unlabelled)
    broken: dict[str, Reason] = {}
    kept: dict[str, tuple[str, ...]] = {}
    for situation in situations:
        reason = _reason(situation, rules, bare, answered)
        if reason is not None:
            broken[situation.id] = reason
        else:
            kept[situation.id] = _compared(situation)
    if rules.duplicates != "keep":
        similarity = rules.similarity if rules.duplicates == "near" else None
        broken |= dict.fromkeys(repeated(kept, similarity=similarity), "duplicate")
    return broken


def _compared(situation: Situation) -> tuple[str, ...]:
    """The texts by which it may repeat another; a greeting alone makes no two situations one."""
    texts = (situation.text, situation.utterance or "")
    distinctive = tuple(text for text in texts if count_words(text) >= _TELLING)
    return distinctive or (" ".join(texts),)


def _reason(
    situation: Situation, rules: Rules, bare: Collection[str], answered: Collection[str]
) -> Reason | None:
    words = count_words(opening_text(situation))
    if rules.replied and situation.id not in answered:
        return "no reply"
    if situation.id in bare:
        return "no label"
    if words < rules.min_words:
        return "too short"
    if rules.max_words is not None and words > rules.max_words:
        return "too long"
    if rules.opening and (situation.context or not is_opening(opening_text(situation))):
        return "not an opening"
    texts = (situation.title, situation.text, situation.utterance, *situation.context)
    if any(rules.unsafe.found_in(text) for text in texts if text):
        return "unsafe"
    return None
