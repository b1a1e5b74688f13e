"""What `--language` takes: situations, scales and prompts in another language.

The translation of a set or a scale is one whose id has the language's code at its end, such as
`dialogues-de`: it is built in, or the user has imported it. Its results are therefore never
merged with those of the original.
"""

from __future__ import annotations

from empathylab.errors import InputError
from empathylab.protocols.languages import LANGUAGE_NAMES, language_code
from empathylab.protocols.templates import (
    QUESTIONNAIRE,
    TRANSLATED_QUESTIONNAIRES,
    AppraisalTemplate,
)
from empathylab.scales import Scale
from empathylab.scales.definition import find_scale
from empathylab.store import Lab, lab_scale
from empathylab.store.scales import lab_scales
from empathylab.store.selections import lab_selections
from empathylab.store.situations import lab_situation_set, lab_situation_sets


def set_in_language(lab: Lab, name: str, language: str | None) -> str:
    """The id of the set in that language; of a draw or without a language, the name as it is."""
    if language is None:
        return name
    code = language_code(language)
    translated = f"{name.partition('@')[0]}-{code}"
    if translated in lab_situation_sets(lab):
        return translated
    drawn = lab_selections(lab).get(name)
    whole = lab_situation_set(lab, name if drawn is None else drawn.situation_set)
    if language_code(whole.language) != code:
        raise InputError(
            f"the situations of {name} are not available in {_named(code)}",
            where="--language",
            got=language,
            remedy=f"Import them: empathylab data import situations FILE --name {translated} "
            f"--language {code}",
        )
    return name


def scale_in_language(lab: Lab, name: str, language: str | None) -> Scale:
    """The scale in that language; an error where the lab has no wording of it."""
    scale = lab_scale(lab, name)
    code = "en" if language is None else language_code(language)
    if code == "en" or scale.id.endswith(f"-{code}"):
        return scale
    translated = find_scale(f"{scale.id}-{code}", lab_scales(lab).values())
    if translated is None or translated.words is None:
        raise InputError(
            f"the scale {scale.id} has no wording in {_named(code)}",
            where="--language",
            got=language,
            remedy=f"Import a scale file with the id {scale.id}-{code}: empathylab scales import "
            "FILE.toml",
        )
    return translated


def questionnaire_in_language(language: str | None) -> AppraisalTemplate:
    """The built-in prompts of scales in that language; an error where there are none."""
    code = "en" if language is None else language_code(language)
    if code == "en":
        return QUESTIONNAIRE
    template = TRANSLATED_QUESTIONNAIRES.get(f"{QUESTIONNAIRE.id}-{code}")
    if template is None:
        known = ["en", *(name.rpartition("-")[2] for name in TRANSLATED_QUESTIONNAIRES)]
        raise InputError(
            f"the prompts of scales are not available in {_named(code)}",
            where="--language",
            got=language,
            remedy=f"Use one of {', '.join(known)}, or give your own prompts with --template.",
        )
    return template


def _named(code: str) -> str:
    return LANGUAGE_NAMES.get(code, f"the language {code!r}")
