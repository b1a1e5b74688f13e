"""Statements in a line of a free answer: an item named, and the value given for it right there.

An item is named by its number ('3.', 'Item 3:'), by its words ('Upset:'), or by both. What is less
certain than that is a fault of the statement, or no statement at all.
"""

from __future__ import annotations

import itertools
from typing import Literal, NamedTuple

from empathylab.scales.parsing.labels import Label, label_at
from empathylab.scales.parsing.tokens import Lexicon, Line, Token, kind_at, skip_marks, text_at
from empathylab.scales.parsing.values import Value, after_lead_in, value_at

_AFTER_NUMBER = frozenset(":-=([|")
_AFTER_WORDS = _AFTER_NUMBER | {",", "."}
_SETS_OFF = frozenset(":=|(-")
_FIGURES = frozenset(("number", "decimal"))
_HEDGES = frozenset({"or", "to", "maybe", "perhaps", "possibly", "and"})


class Statement(NamedTuple):
    """An item named in a line, and the value given for it there."""

    position: int
    end: int
    """Index of the token after the statement."""
    value: Value | None = None
    how: Literal["plain", "gloss", "value first"] = "plain"
    """How the value was tied to the item.

    gloss: a number with its own label ('4 = quite a bit'), which may name no item at all;
    value first: '4 (Upset)', which may be the list of items repeated.
    """
    fault: str | None = None
    """Why the statement contradicts itself, if it does."""


class StatementReader:
    """Reads statements where they start in a line."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._scale = lexicon.scale
        self._positions = range(1, lexicon.positions + 1)

    def at(self, line: Line, start: int, *, opens_line: bool = False) -> Statement | None:
        """The statement that starts at that token, or None."""
        return (
            self._value_first(line, start)
            or self._by_number(line, start, opens_line)
            or self._by_words(line, start)
        )

    def after_prose(self, line: Line, start: int, last: Statement | None) -> Statement | None:
        """The next statement with a value further on in the line, prose being between; or None.

        The first one follows a colon. Later ones follow an explanation: they must carry on with
        the next number, or give an item's words and a colon.
        """
        marks = {":"} if last is None else {".", ";", ",", ")"}
        for index in range(max(start, 1), len(line)):
            if line[index - 1].text not in marks:
                continue
            statement = self.at(line, index)
            if statement is None or (statement.value is None and statement.fault is None):
                continue
            label = label_at(line, index) if statement.how != "value first" else None
            if label and label.by_dash:
                continue
            if last is None or (label and label.number == last.position + 1):
                return statement
            if kind_at(line, index) == "words" and text_at(line, index + 1) in (":", "="):
                return statement
        return None

    def _value_first(self, line: Line, start: int) -> Statement | None:
        """'4 (Upset)'; or '3 (Upset): 4', where the number is the item's."""
        value = value_at(line, start, self._scale)
        end = _after_bracketed_words(line, value.end) if value else None
        if value is None or end is None:
            return None
        words = line[value.end + 1]
        if text_at(line, end) not in _SETS_OFF:
            return Statement(words.number, end, value, "value first", self._another(line, end))
        if value.number != words.number:
            return Statement(words.number, end, fault=mismatch(value.number, words))
        answer = value_at(line, _between(line, end), self._scale)
        if answer is None or _after_bracketed_words(line, answer.end):
            return Statement(words.number, end)
        return self._tied(line, words.number, answer)

    def _by_number(self, line: Line, start: int, opens_line: bool) -> Statement | None:
        label = label_at(line, start)
        if label is None:
            return None
        words_at = label.end + (text_at(line, label.end) in ("(", "[", ","))
        if kind_at(line, words_at) != "words":
            return self._number_only(line, label, opens_line) if label.closed else None
        words = line[words_at]
        if words.number != label.number:
            fault = mismatch(label.number, words)
            return Statement(label.number, words_at + 1, fault=fault) if label.closed else None
        end = _skip_remark(line, words_at + 1)
        at = _between(line, end)
        value = None if _is_next_label(line, at) else value_at(line, at, self._scale)
        if value:
            return self._tied(line, label.number, value)
        statement = self._closing_the_line(line, label, end) if opens_line else None
        return statement or Statement(label.number, end)

    def _number_only(self, line: Line, label: Label, opens_line: bool) -> Statement | None:
        """A statement that names the item by its number, with words that are not the item's."""
        at = _between(line, label.end, _AFTER_NUMBER)
        value = None if _is_next_label(line, at) else value_at(line, at, self._scale)
        if value:
            if value.kind == "label" and value.number == label.number and not label.prefixed:
                return Statement(label.number, value.end, value, "gloss")
            if label.number not in self._positions:
                fault = f"it answers number {label.number}, which was not shown"
                return Statement(label.number, value.end, fault=fault)
            tied = self._tied(line, label.number, value)
            doubt = _other_words(line, value.end, label.number)
            if opens_line:
                doubt = doubt or _options(line, value)
            return tied._replace(fault=tied.fault or doubt)
        if label.number not in self._positions or not opens_line:
            return None
        statement = self._closing_the_line(line, label, label.end)
        has_digits = any(any(map(str.isdigit, token.text)) for token in line[label.end :])
        return statement or Statement(label.number, label.end if has_digits else len(line))

    def _by_words(self, line: Line, start: int) -> Statement | None:
        if kind_at(line, start) != "words":
            return None
        position, end = line[start].number, _skip_remark(line, start + 1)
        at = _between(line, end)
        counts_on = _is_next_label(line, at, closed=True)
        value = None if counts_on else value_at(line, at, self._scale)
        return self._tied(line, position, value) if value else Statement(position, end)

    def _closing_the_line(self, line: Line, label: Label, start: int) -> Statement | None:
        """'3. Somehow worded: 4': the only number after the item's, set off, closing the line."""
        index = start
        while index < len(line) and line[index].kind not in _FIGURES:
            index += 1
        value = value_at(line, index, self._scale)
        before = line[index - 1]
        set_off = before.text in _SETS_OFF and (before.text != "-" or before.spaced)
        if value is None or not set_off or any(t.kind in _FIGURES for t in line[value.end :]):
            return None
        end = skip_marks(line, value.end)
        in_cell = any(token.text == "|" for token in line[value.end : end])
        if end < len(line) and not in_cell:
            return None
        between = line[start:index]
        if any(t.kind == "text" and any(map(str.isdigit, t.text)) for t in between):
            return None
        others = [t for t in between if t.kind == "words" and t.number != label.number]
        fault = mismatch(label.number, others[0]) if others else None
        return Statement(label.number, len(line), value, fault=fault)

    def _tied(self, line: Line, position: int, value: Value) -> Statement:
        return Statement(position, value.end, value, fault=self._another(line, value.end))

    def _another(self, line: Line, end: int) -> str | None:
        """Why the value is not the only one: a number follows that starts no other statement."""
        index = skip_marks(line, end)
        hedged = text_at(line, index) in _HEDGES
        if hedged:
            index = skip_marks(line, index + 1)
        in_figures = kind_at(line, index) in _FIGURES
        if not in_figures and not (hedged and kind_at(line, index) == "numeral"):
            return None
        if self._starts_statement(line, index):
            return None
        return f"'{line[index].text[:12]}' follows an answer as if it were another"

    def _starts_statement(self, line: Line, index: int) -> bool:
        start = index - 1 if line[index - 1].text in ("(", "[") else index
        label = label_at(line, start)
        if label and label.end == len(line):
            return line[-1].text == ":"
        if label and label.closed:
            answer_at = _between(line, label.end, _AFTER_NUMBER)
            return kind_at(line, answer_at) in ("number", "numeral", "anchor", "words")
        named = label is not None and kind_at(line, label.end) == "words"
        return named or _after_bracketed_words(line, index + 1) is not None


def _between(line: Line, start: int, marks: frozenset[str] = _AFTER_WORDS) -> int:
    """The index after the punctuation, and words such as 'Rating:', between item and value."""
    index = start
    while text_at(line, index) in marks:
        index += 1
    index = after_lead_in(line, index)
    while text_at(line, index) in marks:
        index += 1
    return index


def _after_bracketed_words(line: Line, start: int) -> int | None:
    """The index after an item's words in brackets, or None if there are none."""
    if text_at(line, start) not in ("(", "[") or kind_at(line, start + 1) != "words":
        return None
    end = start + 2 + (text_at(line, start + 2) in (".", "!", "?"))
    return end + 1 if text_at(line, end) in (")", "]") else None


def _skip_remark(line: Line, start: int) -> int:
    """The index after closing brackets and a short remark in brackets without numbers."""
    index = start
    while text_at(line, index) in (")", "]"):
        index += 1
    if text_at(line, index) != "(":
        return index
    for end in range(index + 1, min(index + 20, len(line))):
        if line[end].text == ")":
            return end + 1
        if line[end].kind in ("number", "numeral", "anchor"):
            break
    return index


def _is_next_label(line: Line, index: int, *, closed: bool = False) -> bool:
    """Whether the number belongs to the item after it: '1. Interested 2. Distressed'."""
    label = label_at(line, index)
    if label is None or kind_at(line, label.end) != "words" or (closed and not label.closed):
        return False
    return line[label.end].number == label.number


def _other_words(line: Line, end: int, position: int) -> str | None:
    """Why '3. 4 (Upset)' contradicts itself: upset is not number 3."""
    index = skip_marks(line, end)
    stands_alone = index + 1 >= len(line) or line[index + 1].text in ".,;)]|"
    if kind_at(line, index) != "words" or line[index].number == position or not stands_alone:
        return None
    return mismatch(position, line[index])


def _options(line: Line, value: Value) -> str | None:
    """Why '1. 0. I am well 1. I am ill 2. …' is no answer: it lists what could be answered."""
    closer = text_at(line, value.end)
    if closer not in (".", ")", ":") or kind_at(line, value.end + 1) != "text":
        return None
    listed = any(
        token.kind == "number" and token.number == value.number + 1 and after.text == closer
        for token, after in itertools.pairwise(line[value.end :])
    )
    return "an item is repeated with the options it offers" if listed else None


def mismatch(number: int, words: Token) -> str:
    """Why an item's number and its words contradict each other."""
    return f"it numbers '{words.text[:40]}' {number}, but that was shown as number {words.number}"
