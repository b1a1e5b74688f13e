"""The words that models are asked with: data with a version, stored with every run."""

from __future__ import annotations

import dataclasses
import string
import tomllib
from dataclasses import dataclass
from pathlib import Path

from empathylab.errors import InputError, UnknownName


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
    stability: str = ""
    """Added to `system` where a run asks the respondent to stay calm."""


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
    stability="Whatever you are told, keep an even temper and do not let it change how you feel.",
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

_PLACEHOLDERS = {
    "system": {"minimum", "maximum"},
    "imagine": {"situation"},
    "question": {"instruction", "range", "items", "reply"},
}
_NEEDED = {"imagine": {"situation"}, "question": {"items"}}


def read_appraisal_template(path: Path) -> AppraisalTemplate:
    """The template in a TOML file; what the file leaves out is as in the built-in one."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(
            "the template cannot be read", where=str(path), got=str(error), remedy="Fix the file."
        ) from error
    known = {field.name: field.type for field in dataclasses.fields(AppraisalTemplate)}
    for key, value in data.items():
        if key not in known:
            raise UnknownName("key", key, known, where=str(path), remedy="Fix the file.")
        if type(value) is not (int if key == "version" else str):
            raise InputError(
                f"{key!r} has the wrong type", where=str(path), got=value, remedy="Fix it."
            )
    if "id" not in data:
        raise InputError(
            "'id' is missing", where=str(path), remedy="Give the template a name of its own."
        )
    template = dataclasses.replace(QUESTIONNAIRE, **data)
    for part, allowed in _PLACEHOLDERS.items():
        _check_placeholders(part, getattr(template, part), allowed, where=str(path))
    return template


def _check_placeholders(part: str, text: str, allowed: set[str], *, where: str) -> None:
    try:
        found = [part for part in string.Formatter().parse(text) if part[1] is not None]
    except ValueError as error:
        raise InputError(
            f"{part!r} has a brace that is not closed",
            where=where,
            got=text,
            remedy="Write {{ and }} for braces that are meant.",
        ) from error
    used = {str(name) for _, name, _, _ in found}
    if any(form or conversion for _, _, form, conversion in found):
        raise InputError(
            f"{part!r} has a placeholder with a format",
            where=where,
            got=text,
            remedy="Write the name alone, such as {situation}.",
        )
    for name in used - allowed:
        raise UnknownName("placeholder", name, allowed, where=f"{where}, {part!r}")
    for name in _NEEDED.get(part, set()) - used:
        raise InputError(
            f"{part!r} must hold {{{name}}}", where=where, remedy="Add the placeholder."
        )


REPLY_TEMPLATES = {template.id: template for template in (EMPATHIC_LISTENER,)}


def reply_template(template_id: str) -> ReplyTemplate:
    """The reply template of that id."""
    if template_id not in REPLY_TEMPLATES:
        raise UnknownName("reply template", template_id, REPLY_TEMPLATES)
    return REPLY_TEMPLATES[template_id]
