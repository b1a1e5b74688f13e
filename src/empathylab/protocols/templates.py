"""The words that scales are given with: data with a version, stored with every run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from empathylab.protocols.template_files import read_template


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

_PLACEHOLDERS = {
    "system": {"minimum", "maximum"},
    "imagine": {"situation"},
    "question": {"instruction", "range", "items", "reply"},
}
_NEEDED = {"imagine": {"situation"}, "question": {"items"}}


def read_appraisal_template(path: Path) -> AppraisalTemplate:
    """The template in a TOML file; what the file leaves out is as in the built-in one."""
    return read_template(path, QUESTIONNAIRE, _PLACEHOLDERS, _NEEDED)
