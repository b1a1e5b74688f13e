"""The form of a submitted page: every value checked before anything is stored.

Names that a page does not ask for are ignored; they never reach the store.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from empathylab.words import count_words

Code = Literal[
    "missing",
    "not-an-option",
    "not-a-number",
    "out-of-range",
    "too-small",
    "too-large",
    "too-short",
    "too-many-words",
    "too-long",
    "too-soon",
    "twice",
    "not-on-slider",
    "too-few-choices",
    "too-many-choices",
    "unranked",
    "same-place",
    "missing-rows",
    "hurtful",
]
Given = Mapping[str, str | list[str]]
"""What a form sends, by the name of the question; a list where a name came several times."""

MOST_CHARACTERS = 10_000
"""Of free words; more is refused rather than cut."""
MOST_FIELD_CHARACTERS = 200
_NUMBER = re.compile(r"[+-]?\d{1,12}(\.\d{1,6})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with one answer."""

    code: Code
    """By which pages say it in the person's language."""
    numbers: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What fills the blanks of that sentence."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """The values to store."""

    values: Mapping[str, Any] = field(hash=False)


@dataclass(frozen=True, slots=True)
class Refused:
    """What is wrong, by the name of the question; nothing is stored."""

    problems: Mapping[str, Problem] = field(hash=False)


def problem(code: Code, **numbers: object) -> Problem:
    """A problem with the numbers as its sentence shows them."""
    written = {
        name: f"{value:g}" if isinstance(value, float) else f"{value}"
        for name, value in numbers.items()
    }
    return Problem(code, written)


def clean_text(text: str) -> str:
    """The text as it can be stored anywhere: composed, without control characters or halves.

    Line ends become line feeds; PostgreSQL takes no NUL, and UTF-8 no lone surrogate.
    """
    whole = text.encode("utf-8", "ignore").decode("utf-8")
    lines = whole.replace("\r\n", "\n").replace("\r", "\n")
    kept = "".join(line for line in lines if line in "\n\t" or unicodedata.category(line) != "Cc")
    return unicodedata.normalize("NFC", kept).strip()


def is_whole(text: str) -> bool:
    """Whether the text is a whole number."""
    return _NUMBER.fullmatch(text) is not None and "." not in text


class FormReader:
    """Collects the values and the problems of one page."""

    def __init__(self, given: Given) -> None:
        self._given = given
        self.values: dict[str, Any] = {}
        self.problems: dict[str, Problem] = {}

    def option(self, name: str, known: Sequence[str], *, required: bool = True) -> None:
        """One of the known values."""
        value = self._text(name, required=required)
        if value is None:
            return
        if value in known:
            self.values[name] = value
        else:
            self.refuse(name, "not-an-option")

    def whole(self, name: str, known: Sequence[int]) -> None:
        """One of the known whole numbers."""
        value = self._text(name, required=True)
        if value is None:
            return
        if is_whole(value) and int(value) in known:
            self.values[name] = int(value)
        else:
            self.refuse(name, "not-an-option")

    def position(self, name: str, known: range, *, required: bool) -> None:
        """One of the numbers that a slider can stand on."""
        value = self._text(name, required=required)
        if value is None:
            return
        if is_whole(value) and int(value) in known:
            self.values[name] = int(value)
        else:
            self.refuse(name, "not-on-slider", least=known[0], most=known[-1], step=known.step)

    def parts(self, name: str, known: Sequence[str]) -> dict[str, str] | None:
        """The parts of an answer that are not empty; None where they cannot be read.

        A form sends the part `x` of the question `q` under the name `q.x`.
        """
        parts: dict[str, str] = {}
        for key, given in self._given.items():
            part = key.removeprefix(f"{name}.")
            if part == key:
                continue
            if part not in known or _is_several(given):
                self.refuse(name, "not-an-option" if part not in known else "twice")
                return None
            if value := _only(given):
                parts[part] = value
        return parts

    def free(self, name: str, *, required: bool, most: int) -> None:
        """Text of at most so many characters."""
        value = self._text(name, required=required)
        if value is None:
            return
        if len(value) > most:
            self.refuse(name, "too-long", most=most)
        else:
            self.values[name] = value

    def words(
        self,
        name: str,
        *,
        least: int,
        most: int,
        required: bool = True,
        characters: int = 4 * MOST_CHARACTERS,
    ) -> None:
        """Text with a number of words within bounds."""
        value = self._text(name, required=required)
        if value is None:
            return
        count = count_words(value)
        if count < least:
            self.refuse(name, "too-short", least=least)
        elif count > most:
            self.refuse(name, "too-many-words", most=most)
        elif len(value) > characters:
            self.refuse(name, "too-long", most=characters)
        else:
            self.values[name] = value

    def number(self, name: str, *, least: float | None, most: float | None, required: bool) -> None:
        """A number within bounds."""
        written = self._text(name, required=required)
        if written is None:
            return
        if not _NUMBER.fullmatch(written):
            self.refuse(name, "not-a-number")
            return
        value = float(written)
        if (least is None or value >= least) and (most is None or value <= most):
            self.values[name] = int(value) if value == int(value) else value
        else:
            self.problems[name] = _outside(least, most)

    def _text(self, name: str, *, required: bool) -> str | None:
        """The cleaned text; None where it is empty, which is a problem where it is required."""
        given = self._given.get(name, "")
        if _is_several(given):
            self.refuse(name, "twice")
            return None
        if value := _only(given):
            return value
        if required:
            self.refuse(name, "missing")
        return None

    def refuse(self, name: str, code: Code, **numbers: object) -> None:
        """Says what is wrong with the answer to a question."""
        self.problems[name] = problem(code, **numbers)


def _is_several(given: str | list[str]) -> bool:
    return isinstance(given, list) and len(given) > 1


def _only(given: str | list[str]) -> str:
    return clean_text(given if isinstance(given, str) else "".join(given))


def _outside(least: float | None, most: float | None) -> Problem:
    if least is None:
        return problem("too-large", most=most)
    return (
        problem("too-small", least=least)
        if most is None
        else problem("out-of-range", least=least, most=most)
    )
