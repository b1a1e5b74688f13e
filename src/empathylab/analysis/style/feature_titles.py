"""The features that tables, figures and sentences show, and what they are called there."""

from __future__ import annotations

from collections.abc import Mapping

from empathylab.analysis.style.estimates import StyleEstimates
from empathylab.style import FEATURES

_MOST_OWN = 12

OVERVIEW: Mapping[str, str] = {
    "words": "words",
    "words_per_sentence": "words/sentence",
    "exclamation_marks": "!",
    "question_marks": "?",
    "emoji": "emoji",
    "first_person_singular": "I, me, my",
    "second_person": "you, your",
    "sentiment": "sentiment of words",
}
"""The features of the shortest table, under the names they have there."""

MAIN: Mapping[str, str] = {
    "words": "words",
    "words_per_sentence": "words per sentence",
    "letters_per_word": "letters per word",
    "flesch_reading_ease": "reading ease (Flesch)",
    "mattr": "variety of words (MATTR)",
    "exclamation_marks": "exclamation marks",
    "question_marks": "question marks",
    "commas": "commas",
    "ellipses": "ellipses",
    "dashes": "dashes",
    "apostrophes": "apostrophes",
    "emoji": "emoji",
    "emoticons": "emoticons",
    "bullets": "list items",
    "first_person_singular": "I, me, my",
    "second_person": "you, your",
    "apologies": "apologies",
    "thanks": "thanks",
    "hedges": "hedges",
    "advice": "advice",
    "validation": "validation",
    "self_disclosure": "self-disclosure",
    "questions_to_person": "questions to the person",
    "sentiment": "sentiment of words (VADER)",
}
"""The features of figures and sentences; no two measure the same."""


def main_features(estimates: StyleEstimates) -> dict[str, str]:
    """The main features that vary here, and the user's own, with what they are called."""
    varying = {difference.feature for difference in estimates.differences} or {
        name for profile in estimates.profiles for name, f in profile.features.items() if f.sd > 0
    }
    own = [column for lexicon in estimates.dictionaries for column in lexicon.columns]
    titles = dict(MAIN) | {column: column for column in own[:_MOST_OWN]}
    return {name: title for name, title in titles.items() if name in varying}


def meaning(feature: str) -> str:
    """What a feature is, in words; a user's category is called as in the user's file."""
    return FEATURES[feature].meaning if feature in FEATURES else feature
