"""The words and patterns of answers in languages other than English, one file per language."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Any

from empathylab.files import packaged_tables

Patterns = tuple[re.Pattern[str], ...]


@dataclass(frozen=True, slots=True)
class AnswerLanguage:
    """What answers in one language are made of; patterns meet text in small letters."""

    code: str
    number_words: tuple[tuple[str, int], ...]
    """Words for 0 to 10; a word that means something else in other answers is left out."""
    answer_nouns: tuple[str, ...]
    """What may stand before an answer, such as 'my answer is'."""
    item_words: tuple[str, ...]
    """What may stand before an item's number, such as 'question'."""
    item_forms: Patterns
    """An item's number with the words around it; group 1 is the number."""
    units: tuple[str, ...]
    """What may stand after an answer, such as 'points'."""
    reasons: tuple[str, ...]
    """What opens a reason after an answer, such as 'because'."""
    refusals: Patterns
    machines: Patterns
    """Sentences in which a writer says that it is a machine."""
    no_feelings: Patterns
    """Sentences in which a writer says that it has no feelings."""
    yet: Patterns
    """Words by which a writer goes on after such a sentence."""
    labelled: re.Pattern[str]
    """A reply that begins with a label such as 'Reply:'."""
    preambles: Patterns
    """Sentences that announce a reply."""
    about_task: Patterns
    """Word counts and blanks."""


@functools.cache
def answer_languages() -> dict[str, AnswerLanguage]:
    """The languages that have a file, by code."""
    tables = packaged_tables("empathylab.scales", "languages")
    return {code: _language(code, table) for code, table in tables.items()}


def answer_language(language: str) -> AnswerLanguage | None:
    """The words of a language such as `de` or `pt-BR`; None for English and unknown ones."""
    return answer_languages().get(re.split(r"[-_]", language.lower())[0])


def _language(code: str, data: dict[str, Any]) -> AnswerLanguage:
    rows = [data["numerals"], data.get("more_numerals", [])]
    labels = "|".join(sorted(map(re.escape, data["labels"]), key=len, reverse=True))
    yet = "|".join(map(re.escape, data["yet"]))
    edges = r"\b" if data["yet"][0].isascii() else ""
    return AnswerLanguage(
        code=code,
        number_words=tuple((word, n) for row in rows for n, word in enumerate(row) if word),
        answer_nouns=tuple(data["answer_nouns"]),
        item_words=tuple(data["item_words"]),
        item_forms=_compiled(data["item_forms"]),
        units=tuple(data["units"]),
        reasons=tuple(data["reasons"]),
        refusals=_compiled(data["refusals"]),
        machines=_compiled(data["machines"]),
        no_feelings=_compiled(data["no_feelings"]),
        yet=_compiled([f"{edges}(?:{yet}){edges}"]),
        labelled=re.compile(rf"^\W*(?:{labels})\s?[:：]"),
        preambles=_compiled(data["preambles"]),
        about_task=_compiled(data["about_task"]),
    )


def _compiled(patterns: list[str]) -> Patterns:
    return tuple(re.compile(pattern) for pattern in patterns)
