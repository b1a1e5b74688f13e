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

_SUFFIXES = (".dic", ".txt")


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
    """What was mended or left out in reading, one sentence each."""

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
        _from_lines(Path(file.name).stem, file.read_text(encoding="utf-8"), file.name)
        for file in files
        if file.name.endswith(".txt")
    )


def write_builtin_lists(folder: str | Path) -> list[Path]:
    """The lists and rules that ship as files in that folder, to edit; those there are kept."""
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


def read_lexicons(path: str | Path) -> tuple[Lexicon, ...]:
    """The lexicons of a `.dic` or `.txt` file, or of every such file in a folder."""
    path = Path(path)
    if not path.is_dir():
        return (read_lexicon(path),)
    files = [file for file in sorted(path.iterdir()) if file.suffix.lower() in _SUFFIXES]
    if not files:
        raise InputError(
            "the folder holds no word list",
            where=str(path),
            remedy="Put files named something.txt (or something.dic) into it.",
        )
    return tuple(read_lexicon(file) for file in files)


def read_lexicon(path: str | Path) -> Lexicon:
    """The lexicon in a LIWC-format `.dic` or in a word list."""
    from empathylab.style.measures.dic import read_dic

    path = Path(path)
    suffix = path.suffix.lower()
    if suffix == ".dic":
        return read_dic(path)
    if suffix == ".txt":
        return read_word_list(path)
    raise InputError(
        "words are read from .dic and .txt files",
        where=path.name,
        got=path.suffix or "no ending",
        remedy="Name it something.dic (LIWC's format) or something.txt (a word on each line).",
    )


def read_word_list(path: str | Path) -> Lexicon:
    """The lexicon in a text file with a word or phrase on each line, named after the file."""
    path = Path(path)
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"the word list is not UTF-8 text (byte {error.start})",
            where=path.name,
            remedy="Save it as UTF-8.",
        ) from error
    return _from_lines(path.stem, text, path.name)


def word_list(name: str, phrases: Iterable[str]) -> Lexicon:
    """A lexicon of one category from words and phrases."""
    return _from_lines(name, "\n".join(phrases), name)


def read_bytes(path: Path) -> bytes:
    """What the file holds, or an error that says why it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(
            f"the file cannot be read ({error.strerror or error})",
            where=str(path),
            remedy="Check the path.",
        ) from error


def cut_entries(lines: Sequence[Line], where: str) -> tuple[tuple[Entry, ...], int]:
    """The entries with their words cut, merged where a word comes twice, and how many have none."""
    parts = [(line, part) for line in lines for part in line.written.split()]
    for line, part in parts:
        if "*" in part[:-1] or part == "*":
            raise InputError(
                "a star may only stand at the end of a word",
                where=f"{where} line {line.number}",
                got=line.written,
                remedy="Write the beginning of the word and one star, as in apolog*.",
            )
    cut = word_lists(text_series(part.removesuffix("*") for _, part in parts)).to_list()
    phrases: dict[int, list[str]] = {line.number: [] for line in lines}
    for (line, part), found in zip(parts, cut, strict=True):
        if found and part.endswith("*"):
            found[-1] += "*"
        phrases[line.number].extend(found)
    merged: dict[tuple[str, ...], dict[int, None]] = {}
    for line in lines:
        if words := tuple(phrases[line.number]):
            merged.setdefault(words, {}).update(dict.fromkeys(line.categories))
    wordless = sum(not phrases[line.number] for line in lines)
    return tuple(Entry(words, tuple(ids)) for words, ids in merged.items()), wordless


def _from_lines(name: str, text: str, where: str) -> Lexicon:
    written = [line.partition("#")[0].strip() for line in text.splitlines()]
    lines = [Line(number, line, (0,)) for number, line in enumerate(written, 1) if line]
    entries, wordless = cut_entries(lines, where)
    if not entries:
        raise InputError(
            "the word list holds no words",
            where=where,
            remedy="Write a word or phrase on each line.",
        )
    notes = []
    if wordless:
        notes.append(f"{where}: {wordless} of {len(lines)} lines hold no word and match nothing")
    return Lexicon(name, (name,), entries, tuple(notes))
