"""Telling a refusal from an answer and from sympathy.

English is here; the patterns of other languages are in `languages/`.
"""

from __future__ import annotations

import re

from empathylab.scales.answer_languages import AnswerLanguage, answer_languages

_OPENING = 300
"""A refusal comes at once; what is said later in a long text is about something else."""

_SELF = (
    r"(?:as|i'm|i am|being)(?: (?:just|only|merely|simply))? an? "
    r"(?:\w+ )?(?:ai|artificial intelligence|language model|chatbot|machine learning model|machine|"
    r"computer program|virtual assistant)\b"
)
_CANNOT = (
    r"(?:can't|cannot|can not|won't|will not|am unable to|'m unable to|am not able to|"
    r"'m not able to|must decline to|have to decline to|decline to|refuse to|would rather not|"
    r"'d rather not|prefer not to)"
)
_TASK = (
    r"(?:(?:this|that|these|those|it|such|any|the|your|a|an|numerical|numeric|personal) )*"
    r"(?:questions?|questionnaires?|ratings?|scores?|numbers?|statements?|items?|tasks?|requests?|"
    r"survey|scale|answers?|responses?|emotions?|feelings|opinions?|this|that|these|those)\b"
)
_COMPLY = (
    rf"(?:(?:answer|respond to|reply to|rate|score|complete|fill (?:in|out)|provide|give|assign|"
    rf"fulfil|fulfill|continue with|engage (?:in|with)|participate in|take part in|"
    rf"(?:assist|help)(?: you)? with) {_TASK}|comply\b|do (?:this|that|so)\b|"
    rf"(?:pretend|roleplay|imagine (?:myself|being))\b)"
)
_UNWILLING = r"(?:can't|cannot|can not|won't|am unable|am not able|don't have)"
_LACKS = (
    r"(?:don't|do not|can't|cannot|can not|am unable to|'m unable to|am not able to|"
    r"'m not able to|am not capable of|'m not capable of)(?: actually| really| truly)? "
    r"(?:have|having|possess|possessing|experience|experiencing|feel|feeling)"
    r"(?: (?:any|personal|real|genuine|human|subjective|actual|own|my|or|and))*"
    r" (?:feelings|emotions?|experiences?|opinions?|consciousness|states?|preferences)\b"
)

_REFUSALS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\bi(?: |(?='))(?:\w+ ){{0,2}}{_CANNOT} (?:\w+ly )?{_COMPLY}",
        r"\b(?:i must|i have to|i'll have to|i'm going to have to|i)(?: \w+ly)? decline\b(?! in)",
        rf"\bi(?:'m| am) (?:sorry|afraid),? but i {_UNWILLING}(?! (?:help but|imagine|believe))",
        r"\bi(?:'m| am) not comfortable (?:answering|rating|providing|giving|completing|with this)",
        r"\b(?:not possible|impossible|inappropriate|not appropriate) for me to\b",
        r"\bagainst my (?:guidelines|programming|policy)\b",
    )
)
_DISCLAIMER = re.compile(rf"\b{_SELF}[^.!?\n]{{0,150}}|\bi {_LACKS}")
_NEGATION = re.compile(r"\b(?:not|no|never|cannot|without|lack|unable)\b|n't\b")
_YET = re.compile(r"\b(?:but|however|still|though|nevertheless|that said)\b")


def looks_like_refusal(text: str) -> bool:
    """Whether the text opens by declining the task.

    Saying sorry is no refusal ("I'm sorry to hear that"), nor is a reply that owns to being a
    machine and then goes on ("As an AI I can't feel it, but it sounds hard").
    """
    opening = _opening(text)
    if any(pattern.search(opening) for pattern in _REFUSALS):
        return True
    disclaimer = _DISCLAIMER.search(opening)
    if (
        disclaimer
        and _NEGATION.search(disclaimer[0])
        and not _YET.search(opening[disclaimer.start() :])
    ):
        return True
    return any(_refuses_in(language, opening) for language in answer_languages().values())


def disclaims_feelings(text: str) -> bool:
    """Whether the text opens by saying that its writer is a machine, or has no feelings."""
    opening = _opening(text)
    return bool(_DISCLAIMER.search(opening)) or any(
        pattern.search(opening)
        for language in answer_languages().values()
        for pattern in (*language.machines, *language.no_feelings)
    )


def _refuses_in(language: AnswerLanguage, opening: str) -> bool:
    if any(pattern.search(opening) for pattern in language.refusals):
        return True
    refusal = next(
        (hit for no_feeling in language.no_feelings if (hit := no_feeling.search(opening))), None
    )
    if refusal is None:
        return False
    return not any(item.search(opening[refusal.start() :]) for item in language.yet)


def _opening(text: str) -> str:
    start = text.lstrip()[:_OPENING].lower().replace("’", "'")
    return " ".join(start.replace("*", " ").split())
