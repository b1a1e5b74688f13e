"""Whether someone opens a conversation, or answers in one that has begun.

A situation is put to respondents as the first thing they hear. In collected dialogues the speaker's
first turn sometimes answers an earlier conversation, or speaks about what the other has said; then
the respondent lacks something that the person who replied had. The signs are words, written down
for EmpathyLab; they miss some and take some for others, so read what was left out.
"""

from __future__ import annotations

import re

_BEGINNINGS = (
    r"\(",  # an aside to the other, before the story begins
    r"(?:yes|yeah|yep|yup|no|nope|nah|sure|exactly|agreed|absolutely|of course|indeed)\s*[,.!?;:-]",
    r"(?:thanks|thank (?:you|u)|thx|ty)\b(?! (?:god|goodness|heavens|the lord))",
    r"(?:(?:i am|i'm|im) )?(?:so |very |really )?sorry (?:to hear|for your|about your|that you)",
    r"congrat",
    r"(?:i am|i'm|im) (?:so |very |really )?(?:glad|happy|pleased) (?:to hear|for you\b|you\b)",
    r"(?:glad|happy|good|great|nice) (?:to hear|for you\b)",
    r"that(?:'s| is| sounds| must| would)\b",
    r"(?:you are|you're|youre) (?:right|welcome|correct)\b",
    r"(?:i agree|me too|me neither|same here|so do i|so am i|neither do i|i know what you mean)\b",
    r"(?:what happened|why is that|why not|how come|how so|really|what do you mean)\s*\?",
    r"(?:oh )?i see\s*[,.!]",
)
_ANYWHERE = (
    r"\b(?:as|like|what) you (?:just )?(?:said|say|mentioned|told|wrote|asked)\b",
    r"\byou (?:just )?(?:mentioned|asked me|told me)\b",
    r"\byour (?:last |previous )?(?:question|message|comment|reply|answer) (?:is|was|about|made)\b",
)
_BEGINNING = re.compile("|".join(_BEGINNINGS))
_SIGN = re.compile("|".join(_ANYWHERE))


def is_opening(utterance: str) -> bool:
    """Whether the words could be the first of a conversation."""
    plain = utterance.casefold().replace("’", "'").strip()
    return _BEGINNING.match(plain) is None and _SIGN.search(plain) is None
