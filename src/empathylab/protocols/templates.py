"""The words that scales are given with: data with a version, stored with every run."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

from empathylab.protocols.prompt_texts import prompt_texts
from empathylab.protocols.template_files import read_template
from empathylab.scales import Scale, describe_range


@dataclass(frozen=True, slots=True)
class AppraisalTemplate:
    """How a scale is given, at baseline and after a situation."""

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
_TEXTS = {
    f"{QUESTIONNAIRE.id}-{code}": texts["questionnaire"] for code, texts in prompt_texts().items()
}
TRANSLATED_QUESTIONNAIRES = {
    name: dataclasses.replace(
        QUESTIONNAIRE,
        id=name,
        version=texts["version"],
        system=texts["system"],
        imagine=f"{texts['imagine']}\n\n{{situation}}\n\n",
        reply_free=texts["reply_free"],
        reply_structured=texts["reply_structured"],
        stability=texts["stability"],
    )
    for name, texts in _TEXTS.items()
}
"""The built-in template in other languages, such as `questionnaire-de`."""

_PLACEHOLDERS = {
    "system": {"minimum", "maximum"},
    "imagine": {"situation"},
    "question": {"instruction", "range", "items", "reply"},
}
_NEEDED = {"imagine": {"situation"}, "question": {"items"}}


def read_appraisal_template(path: Path) -> AppraisalTemplate:
    """The template in a TOML file; what the file leaves out is as in the built-in one."""
    return read_template(path, QUESTIONNAIRE, _PLACEHOLDERS, _NEEDED)


def range_text(scale: Scale, template: AppraisalTemplate) -> str:
    """What the scale's numbers mean, in the template's language."""
    texts = _TEXTS.get(template.id)
    return describe_range(scale) if texts is None else describe_range(scale, texts["numbers"])
