"""Lists of words and phrases that a text may hold, as people write them down.

One entry per line; `#` begins a comment. An entry is a word or several in a row; a `*` at its end
stands for any ending. Case and apostrophes do not matter.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path

from empathylab.errors import InputError
from empathylab.files import read_text
from empathylab.situations.near_duplicates import plain_words


class WordList:
    """Entries to look for in texts."""

    def __init__(self, entries: tuple[str, ...]) -> None:
        self.entries = entries
        self._words: dict[str, list[tuple[str, ...]]] = {}
        self._beginnings: list[tuple[tuple[str, ...], str]] = []
        for entry in entries:
            *before, last = plain_words(entry)
            if entry.endswith("*"):
                self._beginnings.append((tuple(before), last))
            else:
                phrase = (*before, last)
                self._words.setdefault(phrase[0], []).append(phrase)
        self._last = tuple(last for _, last in self._beginnings)

    def found_in(self, text: str) -> str | None:
        """The first place's words that are on the list; None where there are none."""
        words = plain_words(text)
        for place, word in enumerate(words):
            for phrase in self._words.get(word, ()):
                if words[place : place + len(phrase)] == phrase:
                    return " ".join(phrase)
            if self._last and word.startswith(self._last):
                for before, last in self._beginnings:
                    begin = place - len(before)
                    if begin >= 0 and word.startswith(last) and words[begin:place] == before:
                        return " ".join((*before, word))
        return None


def parse_word_list(text: str, *, where: str) -> WordList:
    """The list written in the text; `where` names it in errors."""
    entries: dict[str, None] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        entry = " ".join(line.partition("#")[0].lower().split())
        if not entry:
            continue
        if not plain_words(entry) or "*" in entry[:-1] or entry.endswith(" *"):
            raise InputError(
                "an entry must be one or more words, with a * only at the end of the last one",
                where=f"{where} line {number}",
                got=entry,
                remedy="Fix the line.",
            )
        entries[entry] = None
    return WordList(tuple(sorted(entries)))


def read_word_list(path: Path) -> WordList:
    """The list in the user's file."""
    return parse_word_list(read_text(path), where=path.name)


@cache
def unsafe_text() -> str:
    """The file of the built-in list of unsafe content, to be copied and edited."""
    return (files("empathylab.situations") / "lists" / "unsafe.txt").read_text(encoding="utf-8")


@cache
def unsafe_words() -> WordList:
    """The built-in list of unsafe content."""
    return parse_word_list(unsafe_text(), where="unsafe.txt")
