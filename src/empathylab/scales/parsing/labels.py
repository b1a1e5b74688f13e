"""Reading an item's number where it stands in a line: '3.', '(3)', '#3:', 'Item 3'."""

from __future__ import annotations

from typing import NamedTuple

from empathylab.scales.answer_languages import answer_languages
from empathylab.scales.parsing.tokens import Line, kind_at, text_at

_PREFIXES = frozenset(
    {"item", "question", "q", "statement", "number", "no", "emotion", "feeling"}
).union(*(language.item_words for language in answer_languages().values()))
_CLOSERS = frozenset(".):]=|")


class Label(NamedTuple):
    """An item's number."""

    number: int
    end: int
    """Index of the token after it."""
    closed: bool
    """Whether punctuation sets it off from what follows."""
    by_dash: bool
    prefixed: bool
    """Whether a word such as 'item' comes before it."""


def label_at(line: Line, start: int) -> Label | None:
    """The item's number that starts at that token, or None."""
    prefixed = text_at(line, start) in _PREFIXES
    index = start + prefixed
    if prefixed and text_at(line, index) == ".":
        index += 1
    if text_at(line, index) == "#":
        index += 1
    bracket = text_at(line, index) in ("(", "[")
    index += bracket
    if kind_at(line, index) != "number" or not line[index].text.isdecimal():
        return None
    if bracket and text_at(line, index + 1) not in (")", "]"):
        return None
    end = index + 1
    while text_at(line, end) in _CLOSERS:
        end += 1
    by_dash = text_at(line, end) == "-"
    end += by_dash
    closed = end > index + 1
    if closed and not _set_off(line, end):
        return None
    return Label(line[index].number, end, closed, by_dash, prefixed)


def _set_off(line: Line, end: int) -> bool:
    """Whether a number that follows is another one: '3. 5' and '3:5' but not '3.5' or '3-5'."""
    if kind_at(line, end) not in ("number", "decimal"):
        return True
    closer = line[end - 1]
    if closer.text == "-":
        return closer.spaced and line[end].spaced
    return closer.text != "." or line[end].spaced
