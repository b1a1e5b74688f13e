"""The words that scales are given with: data with a version, stored with every run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from empathylab.protocols.prompt_texts import ENGLISH, prompt_texts
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


_NAME = "questionnaire"
_TEXTS = {
    _NAME if code == ENGLISH else f"{_NAME}-{code}": texts[_NAME]
    for code, texts in prompt_texts().items()
}
_BUILT_IN = {
    name: AppraisalTemplate(
        id=name,
        version=texts["version"],
        system=texts["system"],
        imagine=f"{texts['imagine']}\n\n{{situation}}\n\n",
        question="{instruction}\n{range}.\n\n{items}\n\n{reply}",
        reply_free=texts["reply_free"],
        reply_structured=texts["reply_structured"],
        stability=texts["stability"],
    )
    for name, texts in _TEXTS.items()
}
QUESTIONNAIRE = _BUILT_IN.pop(_NAME)
TRANSLATED_QUESTIONNAIRES = _BUILT_IN
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
