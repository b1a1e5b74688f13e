"""Content notes about distressing content, from the situations' tags."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from empathylab.files import packaged_table


@dataclass(frozen=True, slots=True)
class TagWords:
    """How a note in one language names a tag."""

    says: str
    """As a generated note says it."""
    others: tuple[str, ...]
    """Other words by which a note may name it."""

    def named_in(self, note: str) -> bool:
        """Whether the note names the tag."""
        words = map(re.escape, (self.says, *self.others))
        return re.search(rf"\b(?:{'|'.join(words)})", note, re.IGNORECASE) is not None


@cache
def content_tags() -> dict[str, dict[str, TagWords]]:
    """By the tag's name and the language, how a note names it."""
    table = packaged_table("empathylab.situations", "lists/content_tags.toml")
    return {
        name: {
            language: TagWords(words["says"], tuple(words["or"]))
            for language, words in languages.items()
        }
        for name, languages in table.items()
    }


def content_note(tags: Iterable[str], language: str = "en") -> str:
    """What the tags say in one list, in the order of the vocabulary; empty if there are no tags."""
    wanted = set(tags)
    parts = [
        words[language].says
        for name, words in content_tags().items()
        if name in wanted and language in words
    ]
    if len(parts) < 2:
        return "".join(parts)
    joiner = "und" if language == "de" else "and"
    return f"{', '.join(parts[:-1])} {joiner} {parts[-1]}"


def missing_tags(note: str, tags: Iterable[str], language: str = "en") -> tuple[str, ...]:
    """The tags that the note does not name; none in a language without a vocabulary."""
    wanted = set(tags)
    text = " ".join(note.split())
    return tuple(
        name
        for name, words in content_tags().items()
        if name in wanted and language in words and not words[language].named_in(text)
    )
