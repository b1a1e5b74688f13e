"""Word lists and dictionaries: which words and phrases stand for what.

A word list is a text file with a word or phrase on each line; `#` begins a comment. A star at a
word's end matches any ending: `apolog*`. The file's name says what is counted. A dictionary in the
LIWC format (`.dic`) has many categories in one file.

Words are cut as in texts (see `tokens`), in lower case. Where several entries of a dictionary match
a word, the most specific one decides: the word itself before a stem with a star, a longer stem
before a shorter one. So `number` is not taken for `numb*` where it has an entry of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from empathylab.errors import InputError
from empathylab.style.text.tokens import text_series, word_lists


class Entry(NamedTuple):
    """A word or phrase, and the categories it stands for."""

    words: tuple[str, ...]
    """In lower case; a star at the end of one matches any ending."""
    categories: tuple[int, ...]
    """Numbers in the lexicon's `categories`."""


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Entries under one or more categories."""

    name: str
    categories: tuple[str, ...]
    entries: tuple[Entry, ...]
    notes: tuple[str, ...] = ()
    """What was corrected or skipped in reading, one sentence each."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the features that count it: `name`, or `name:category` for a dictionary."""
        if self.categories == (self.name,):
            return self.categories
        return tuple(f"{self.name}:{category}" for category in self.categories)


class Line(NamedTuple):
    """A written entry before its words are cut."""

    number: int
    written: str
    categories: tuple[int, ...]


@cache
def builtin_lexicons() -> tuple[Lexicon, ...]:
    """The word lists that ship, sorted by name."""
    folder = resources.files("empathylab.style") / "lists"
    files = sorted(folder.iterdir(), key=lambda file: file.name)
    return tuple(
        lexicon_from_lines(Path(file.name).stem, file.read_text(encoding="utf-8"), file.name)
        for file in files
        if file.name.endswith(".txt")
    )


def write_builtin_lists(folder: str | Path) -> list[Path]:
    """Writes the built-in lists and rules to that folder, to edit; keeps files that exist."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    source = resources.files("empathylab.style") / "lists"
    written = []
    for file in sorted(source.iterdir(), key=lambda file: file.name):
        path = target / file.name
        if file.name.endswith((".txt", ".toml")) and not path.exists():
            path.write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
            written.append(path)
    return written


def word_list(name: str, phrases: Iterable[str]) -> Lexicon:
    """A lexicon of one category from words and phrases."""
    return lexicon_from_lines(name, "\n".join(phrases), name)


def cut_entries(lines: Sequence[Line], where: str) -> tuple[tuple[Entry, ...], int]:
    """The entries with their words cut, merged where a word comes twice, and how many have none."""
    parts = [(line, part) for line in lines for part in line.written.split()]
    for line, part in parts:
        if "*" in part[:-1] or part == "*":
            raise InputError(
                "a star is allowed only at the end of a word",
                where=f"{where} line {line.number}",
                got=line.written,
                remedy="Write the beginning of the word and one star, as in apolog*.",
            )
    cut = word_lists(text_series(part.removesuffix("*") for _, part in parts)).to_list()
    phrases: dict[int, list[str]] = {line.number: [] for line in lines}
    for (line, part), pieces in zip(parts, cut, strict=True):
        if pieces and part.endswith("*"):
            pieces[-1] += "*"
        phrases[line.number].extend(pieces)
    merged: dict[tuple[str, ...], dict[int, None]] = {}
    for line in lines:
        if words := tuple(phrases[line.number]):
            merged.setdefault(words, {}).update(dict.fromkeys(line.categories))
    wordless = sum(not phrases[line.number] for line in lines)
    return tuple(Entry(words, tuple(ids)) for words, ids in merged.items()), wordless


def lexicon_from_lines(name: str, text: str, where: str) -> Lexicon:
    """A lexicon of one category from text with a word or phrase on each line."""
    written = [line.partition("#")[0].strip() for line in text.splitlines()]
    lines = [Line(number, line, (0,)) for number, line in enumerate(written, 1) if line]
    entries, wordless = cut_entries(lines, where)
    if not entries:
        raise InputError(
            "the word list contains no words",
            where=where,
            remedy="Write a word or phrase on each line.",
        )
    notes = []
    if wordless:
        notes.append(f"{where}: {wordless} of {len(lines)} lines contain no word and match nothing")
    return Lexicon(name, (name,), entries, tuple(notes))
