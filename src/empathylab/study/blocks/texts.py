"""Texts that people read, in each language of the study."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator, GetCoreSchemaHandler, TypeAdapter, ValidationInfo
from pydantic_core import CoreSchema, core_schema

from empathylab.file_models import Words, misfit, unknown, wrong

_WORDS: TypeAdapter[str] = TypeAdapter(Words)
_IDENTIFIER = re.compile(r"[a-z0-9]+([-_][a-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class Text:
    """What people read, in Markdown, in each language of the study."""

    versions: tuple[tuple[str, str], ...]
    """Pairs of language and text, in the order of the study's languages."""

    def in_language(self, language: str) -> str:
        """The text in that language; in the study's first where that is missing."""
        return dict(self.versions).get(language, self.versions[0][1])

    @classmethod
    def read(cls, value: Any, languages: Sequence[str]) -> Text:
        """The text in a file: plain in a study of one language, else a table by language."""
        if isinstance(value, Text):
            return value
        if not isinstance(value, Mapping):
            written = _WORDS.validate_python(value)
            if len(languages) > 1:
                raise wrong(
                    f"a table with a text in each language: {', '.join(languages)}",
                    f"Write it as `{languages[0]}: …` and so on, one line below the other.",
                )
            return cls(((languages[0], written),))
        for key in value:
            if key not in languages:
                raise unknown("key", str(key), languages, at=(key,))
        for language in languages:
            if language not in value:
                raise misfit(f"the key {language!r} is missing", f"Add {language}.")
        return cls(
            tuple((language, _WORDS.validate_python(value[language])) for language in languages)
        )

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        def read(value: Any, info: core_schema.ValidationInfo) -> Text:
            return cls.read(value, languages_of(info))

        return core_schema.with_info_plain_validator_function(read)


def languages_of(info: ValidationInfo | core_schema.ValidationInfo) -> Sequence[str]:
    """The languages of the study that is being read."""
    languages: Sequence[str] = (info.context or {}).get("languages") or ("en",)
    return languages


def refuse_repeated(names: Sequence[str], what: str) -> None:
    """Raises where a name occurs twice."""
    for name in sorted({name for name in names if names.count(name) > 1}):
        raise misfit(f"there are two {what} {name!r}", "Keep one of them, or rename one.")


def _identifier(name: str) -> str:
    if not _IDENTIFIER.fullmatch(name) or len(name) > 60:
        raise wrong("lower-case letters, digits and hyphens, 60 at most")
    return name


Identifier = Annotated[Words, AfterValidator(_identifier)]
