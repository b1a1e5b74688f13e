"""What a submitted page may hold: every value checked before anything is stored.

Names that a page does not ask for are ignored; they never reach the store.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from empathylab.study.blocks.types import (
    Attention,
    Check,
    Comment,
    Demographics,
    Field,
    Imagine,
    Rate,
    ScaleBlock,
    Tutorial,
    Write,
)
from empathylab.study.session.flow import Course, Step

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
]

MOST_CHARACTERS = 10_000
"""Of free words; more is refused rather than cut."""
MOST_FIELD_CHARACTERS = 200
_NUMBER = re.compile(r"[+-]?\d{1,12}(\.\d{1,6})?", re.ASCII)
_SENTENCES: dict[Code, str] = {
    "missing": "Please answer this.",
    "not-an-option": "Please choose one of the options.",
    "not-a-number": "Please write a number.",
    "out-of-range": "Please write a number from {least} to {most}.",
    "too-small": "Please write a number of {least} or more.",
    "too-large": "Please write a number of {most} or less.",
    "too-short": "Please write at least {least} words.",
    "too-many-words": "Please write at most {most} words.",
    "too-long": "Please write at most {most} characters.",
    "too-soon": "Please take at least {least} seconds for this page.",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with one answer."""

    code: Code
    sentence: str
    """In English; pages say it in the person's language, by the code."""
    numbers: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What fills the sentence's blanks."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """The values to store."""

    values: Mapping[str, Any] = field(hash=False)


@dataclass(frozen=True, slots=True)
class Refused:
    """What is wrong, by the name of the question; nothing is stored."""

    problems: Mapping[str, Problem] = field(hash=False)


def problem(code: Code, **numbers: object) -> Problem:
    """A problem with its sentence, whose blanks the numbers fill."""
    written = {
        name: f"{one:g}" if isinstance(one, float) else f"{one}" for name, one in numbers.items()
    }
    return Problem(code, _SENTENCES[code].format(**written), written)


def check_answer(course: Course, step: Step, given: Mapping[str, str]) -> Accepted | Refused:
    """The values of a submitted page, or what is wrong with them."""
    reader = _read(course, step, given)
    return Refused(reader.problems) if reader.problems else Accepted(reader.values)


def valid_values(course: Course, step: Step, given: Mapping[str, str]) -> dict[str, Any]:
    """Those values of an unfinished page that are right as they are: a draft to keep."""
    return _read(course, step, given).values


def _read(course: Course, step: Step, given: Mapping[str, str]) -> _Reader:
    reader = _Reader(given)
    block = course.study.block(step.block)
    if step.page in ("reading", "example", "note"):
        pass  # there is nothing to answer
    elif step.page == "consent":
        reader.option("agree", ("yes", "no"))
    elif isinstance(block, Demographics):
        for one in block.fields:
            reader.field(one)
    elif isinstance(block, ScaleBlock):
        scale = course.scales[block.scale]
        for item in step.entries:
            reader.whole(f"item-{item}", range(scale.minimum, scale.maximum + 1))
    elif isinstance(block, Tutorial):
        for number, question in enumerate(cast("Check", block.check).questions, start=1):
            reader.whole(f"question-{number}", range(1, len(question.options) + 1))
    elif isinstance(block, Rate):
        for dimension in course.study.rated_dimensions(block):
            reader.whole(dimension.name, dimension.values)
    elif isinstance(block, Imagine) and block.question:
        reader.words("words", least=1, most=MOST_CHARACTERS)
    elif isinstance(block, Write):
        reader.words("reply", least=block.minimum_words, most=block.maximum_words)
    elif isinstance(block, Attention):
        reader.whole("question", range(1, len(block.question.options) + 1))
    elif isinstance(block, Comment):
        reader.free("comment", required=block.required, most=MOST_CHARACTERS)
    return reader


def clean_text(text: str) -> str:
    """The text as it can be stored anywhere: composed, without control characters or halves.

    Line ends become line feeds; PostgreSQL takes no NUL, and UTF-8 no lone surrogate.
    """
    whole = text.encode("utf-8", "ignore").decode("utf-8")
    lines = whole.replace("\r\n", "\n").replace("\r", "\n")
    kept = "".join(one for one in lines if one in "\n\t" or unicodedata.category(one) != "Cc")
    return unicodedata.normalize("NFC", kept).strip()


class _Reader:
    """Collects values and problems of one page."""

    def __init__(self, given: Mapping[str, str]) -> None:
        self._given = given
        self.values: dict[str, Any] = {}
        self.problems: dict[str, Problem] = {}

    def option(self, name: str, known: Sequence[str], *, required: bool = True) -> None:
        value = self._text(name, required=required)
        if value is None:
            return
        if value in known:
            self.values[name] = value
        else:
            self._refuse(name, "not-an-option")

    def whole(self, name: str, known: Sequence[int]) -> None:
        value = self._text(name, required=True)
        if value is None:
            return
        if _NUMBER.fullmatch(value) and "." not in value and int(value) in known:
            self.values[name] = int(value)
        else:
            self._refuse(name, "not-an-option")

    def field(self, one: Field) -> None:
        if one.kind == "choice":
            self.option(one.name, one.values, required=one.required)
        elif one.kind == "text":
            self.free(one.name, required=one.required, most=MOST_FIELD_CHARACTERS)
        else:
            self._number(one)

    def free(self, name: str, *, required: bool, most: int) -> None:
        value = self._text(name, required=required)
        if value is None:
            return
        if len(value) > most:
            self._refuse(name, "too-long", most=most)
        else:
            self.values[name] = value

    def words(self, name: str, *, least: int, most: int) -> None:
        value = self._text(name, required=True)
        if value is None:
            return
        count = len(value.split())
        if count < least:
            self._refuse(name, "too-short", least=least)
        elif count > most:
            self._refuse(name, "too-many-words", most=most)
        elif len(value) > 4 * MOST_CHARACTERS:
            self._refuse(name, "too-long", most=4 * MOST_CHARACTERS)
        else:
            self.values[name] = value

    def _number(self, one: Field) -> None:
        written = self._text(one.name, required=one.required)
        if written is None:
            return
        if not _NUMBER.fullmatch(written):
            self._refuse(one.name, "not-a-number")
            return
        value = float(written)
        least = float("-inf") if one.minimum is None else one.minimum
        most = float("inf") if one.maximum is None else one.maximum
        if least <= value <= most:
            self.values[one.name] = int(value) if value == int(value) else value
        else:
            self.problems[one.name] = _outside(one.minimum, one.maximum)

    def _text(self, name: str, *, required: bool) -> str | None:
        """The cleaned text; None where it is empty, which is a problem where it is required."""
        given = self._given.get(name)
        value = clean_text(given) if isinstance(given, str) else ""
        if value:
            return value
        if required:
            self._refuse(name, "missing")
        return None

    def _refuse(self, name: str, code: Code, **numbers: object) -> None:
        self.problems[name] = problem(code, **numbers)


def _outside(least: float | None, most: float | None) -> Problem:
    if least is None:
        return problem("too-large", most=most)
    return (
        problem("too-small", least=least)
        if most is None
        else problem("out-of-range", least=least, most=most)
    )
