"""The words that models are asked with: data with a version, stored with every run."""

from __future__ import annotations

from dataclasses import dataclass

from empathylab.errors import UnknownName


@dataclass(frozen=True, slots=True)
class AppraisalTemplate:
    """How a scale is given, at rest and after a situation."""

    id: str
    version: int
    system: str
    """May use {minimum} and {maximum}."""
    imagine: str
    """Put before the question after a situation; may use {situation}."""
    question: str
    """May use {instruction}, {range}, {items} and {reply}."""
    reply_free: str
    reply_structured: str


@dataclass(frozen=True, slots=True)
class ReplyTemplate:
    """How a respondent is asked to reply to a situation."""

    id: str
    version: int
    system: str
    """May use {words} and {most_words}."""
    user: str
    """May use {situation}, {emotion} and {utterance}."""
    words: int
    most_words: int


QUESTIONNAIRE = AppraisalTemplate(
    id="questionnaire",
    version=1,
    system=(
        "You are filling in a questionnaire. "
        "Give every answer as a whole number from {minimum} to {maximum} and add nothing else."
    ),
    imagine="Imagine that you are the person in this situation:\n\n{situation}\n\n",
    question="{instruction}\n{range}.\n\n{items}\n\n{reply}",
    reply_free=("Answer every statement, one line each: its number, a colon, and your answer."),
    reply_structured=(
        "Answer every statement with one JSON object: "
        "each statement's number as the key, your answer as the value."
    ),
)

EMPATHIC_LISTENER = ReplyTemplate(
    id="empathic-listener",
    version=1,
    system=(
        "You are a friend who listens with empathy. Empathy has three parts: understanding what "
        "the moment means to the other person (cognitive), feeling with them (affective), and "
        "showing that you care how they are (compassionate). "
        "Reply in about {words} words and never more than {most_words}. Write only the reply."
    ),
    user="{utterance}",
    words=28,
    most_words=97,
)

REPLY_TEMPLATES = {template.id: template for template in (EMPATHIC_LISTENER,)}


def reply_template(template_id: str) -> ReplyTemplate:
    """The reply template of that id."""
    if template_id not in REPLY_TEMPLATES:
        raise UnknownName("reply template", template_id, REPLY_TEMPLATES)
    return REPLY_TEMPLATES[template_id]
