"""Lexicons read from files: word lists (`.txt`), and dictionaries in the LIWC format (`.dic`).

    %
    1<TAB>category
    %
    word<TAB>1
    stem*<TAB>1<TAB>2

Corrected, with a sentence in the lexicon's notes: spaces instead of tabs, repeated words (their
categories are merged), old Windows encoding, entries without a word (emoticons, say), and
conditional entries as LIWC2007 has two (`<of>131/125`, `(2 134)125/464`: the last alternative is
taken). Everything else that is odd is an error with its line: a guess would change numbers
silently.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from empathylab.errors import InputError
from empathylab.style.measures.lexicons import Lexicon, Line, cut_entries, lexicon_from_lines

_CONDITIONAL = re.compile(r"(?:<[^>]*>|\([^)]*\))\d+/(\d+)")
_ID = re.compile(r"\d+")
_SUFFIXES = (".dic", ".txt")


def read_lexicons(path: str | Path) -> tuple[Lexicon, ...]:
    """The lexicons of a `.dic` or `.txt` file, or of every such file in a folder."""
    path = Path(path)
    if not path.is_dir():
        return (read_lexicon(path),)
    files = [file for file in sorted(path.iterdir()) if file.suffix.lower() in _SUFFIXES]
    if not files:
        raise InputError(
            "the folder contains no word list",
            where=str(path),
            remedy="Put files named something.txt (or something.dic) into it.",
        )
    return tuple(read_lexicon(file) for file in files)


def read_lexicon(path: str | Path) -> Lexicon:
    """The lexicon in a LIWC-format `.dic` or in a word list."""
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
        text = _read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"the word list is not UTF-8 text (byte {error.start})",
            where=path.name,
            remedy="Save it as UTF-8.",
        ) from error
    return lexicon_from_lines(path.stem, text, path.name)


def read_dic(path: str | Path) -> Lexicon:
    """The lexicon in a `.dic` file, named after the file."""
    return _Reading(Path(path)).lexicon()


class _Reading:
    """One reading of one file, and what was corrected on the way."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.spaced = 0
        self.conditional = 0
        self.notes: list[str] = []
        self.lines = list(self._lines())

    def lexicon(self) -> Lexicon:
        second = self._percent_lines()
        names = self._categories(self.lines[1:second])
        numbers = {id_: number for number, id_ in enumerate(names)}
        lines = [self._entry(*line, numbers) for line in self.lines[second + 1 :]]
        if not lines:
            raise self._error("there are no words after the second %", "Add lines like: word<TAB>1")
        repeated = len(lines) - len({line.written.lower() for line in lines})
        entries, wordless = cut_entries(lines, self.path.name)
        self._note(self.spaced, "spaces were read as tabs")
        self._note(self.conditional, "conditional entries were read by their last alternative")
        self._note(repeated, "the categories of repeated words were merged")
        self._note(wordless, "entries without a word match nothing")
        return Lexicon(self.path.stem, tuple(names.values()), entries, tuple(self.notes))

    def _lines(self) -> Iterator[tuple[int, str]]:
        content = _read_bytes(self.path)
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = content.decode("cp1252", errors="replace")
            self.notes.append(f"{self.path.name}: it is not UTF-8 and was read as Windows-1252")
        for number, line in enumerate(re.split(r"\r\n|\r|\n", text), 1):
            if line.strip():
                yield number, line.strip()

    def _percent_lines(self) -> int:
        """Where the second % stands among the lines, the first being the first line."""
        if not self.lines:
            raise self._error(
                "the dictionary is empty", "Begin it with a line that contains only %."
            )
        number, first = self.lines[0]
        if first != "%":
            raise self._error(
                "the first line must be a single %", "Put % above the categories.", number, first
            )
        for place, (_, line) in enumerate(self.lines[1:], 1):
            if line == "%":
                return place
        raise self._error(
            "there is no second %", "Put a line with % between the categories and the words."
        )

    def _categories(self, lines: list[tuple[int, str]]) -> dict[str, str]:
        names: dict[str, str] = {}
        for number, line in lines:
            id_, *rest = self._fields(line, words=False)
            name = " ".join(rest)
            if not _ID.fullmatch(id_) or not name:
                raise self._error(
                    "a category is a number, a tab and a name", "Fix the line.", number, line
                )
            id_ = str(int(id_))
            if id_ in names or name in names.values():
                raise self._error(
                    "the category's number or name is repeated", "Rename one of them.", number, line
                )
            names[id_] = name
        if not names:
            raise self._error(
                "there are no categories between the % lines", "Add lines like: 1<TAB>name"
            )
        return names

    def _entry(self, number: int, line: str, numbers: dict[str, int]) -> Line:
        if line == "%":
            raise self._error("there is a third %", "Remove it.", number, line)
        word, *ids = self._fields(line, words=True)
        if not ids:
            raise self._error(
                "the word has no category", "Add a tab and a category's number.", number, line
            )
        categories = [self._category(number, word, id_, numbers) for id_ in ids]
        return Line(number, word, tuple(categories))

    def _category(self, number: int, word: str, id_: str, numbers: dict[str, int]) -> int:
        if conditional := _CONDITIONAL.fullmatch(id_):
            self.conditional += 1
            id_ = conditional[1]
        known = str(int(id_)) if _ID.fullmatch(id_) else id_
        if known not in numbers:
            raise self._error(
                f"{word!r} has a category that the dictionary does not define",
                "Add the category between the % lines, or remove the number.",
                number,
                id_,
            )
        return numbers[known]

    def _fields(self, line: str, *, words: bool) -> list[str]:
        """A word and its numbers, or a number and its name; spaces may stand in place of tabs."""
        if "\t" in line:
            return [part.strip() for part in line.split("\t") if part.strip()]
        parts = line.split()
        if words:
            # All numbers at the end are taken for categories: one that is none will be refused.
            first = len(parts)
            while first > 1 and _ID.fullmatch(parts[first - 1]):
                first -= 1
            fields = [" ".join(parts[:first]), *parts[first:]]
        else:
            fields = [parts[0], " ".join(parts[1:])]
        self.spaced += bool(fields[1:] and fields[1])
        return fields

    def _note(self, count: int, what: str) -> None:
        if count:
            lines = "line" if count == 1 else "lines"
            self.notes.append(f"{self.path.name}: {what} ({count} {lines})")

    def _error(
        self, what: str, remedy: str, number: int | None = None, got: str | None = None
    ) -> InputError:
        where = self.path.name if number is None else f"{self.path.name} line {number}"
        return InputError(what, where=where, got=got, remedy=remedy)


def _read_bytes(path: Path) -> bytes:
    """What the file holds, or an error that says why it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(
            f"the file cannot be read ({error.strerror or error})",
            where=str(path),
            remedy="Check the path.",
        ) from error
