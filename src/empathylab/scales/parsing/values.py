"""Reading one value of a scale's range where it stands in a line: '4', '4/5', 'four', 'extremely'.

A value must be plainly a value. '2 of my friends' is none, and '2-3' is a problem, not a choice.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from empathylab.scales.answer_languages import answer_languages
from empathylab.scales.definition import Scale
from empathylab.scales.parsing.tokens import Line, Token, kind_at, text_at

Problem = tuple[Literal["ambiguous", "out_of_range"], str]

ANSWER_NOUNS = frozenset(
    {"rating", "ratings", "score", "scores", "answer", "answers", "response", "value", "values"}
).union(*(language.answer_nouns for language in answer_languages().values()))
_LEAD_IN = ANSWER_NOUNS | {
    *("my", "the", "this", "it", "i", "i'd", "i'll", "would", "will", "here", "these", "as", "a"),
    *("is", "are", "be", "say", "rate", "give", "choose", "pick"),
}
_REASONS = frozenset(
    {"because", "since", "as", "due", "given", "but", "though", "point", "points"}
).union(*((*language.reasons, *language.units) for language in answer_languages().values()))
_NOT_AFTER = frozenset("%+^°$€£<>/'~")
_CLOSING = frozenset(".,;:=!)]|")


class Value(NamedTuple):
    """A value as it was read."""

    number: int
    problem: Problem | None
    """Why the number cannot stand as an answer: what it makes of the answer, and the reason."""
    end: int
    """Index of the token after it."""
    kind: Literal["number", "label"] = "number"
    """Whether it was given in figures, or else by a label of the range or a number word."""
    glossed: bool = False
    """Whether its label stood beside the number."""


class BareValues(NamedTuple):
    """A line that holds values and names no item."""

    values: list[Value]
    led: bool
    """Whether words such as 'Rating:' came before."""


def value_at(line: Line, start: int, scale: Scale) -> Value | None:
    """The value that starts at that token, or None if there is none or it is not plainly one."""
    if kind_at(line, start) not in ("number", "decimal", "numeral", "anchor"):
        return None
    first, end = line[start], start + 1
    in_figures = first.kind in ("number", "decimal")
    problem = outside(first, scale) or _may_be_minus(line, start, scale)
    if in_figures:
        end, of_another_range = _out_of(line, end, scale)
        problem = of_another_range or problem
    if _is_range(line, first, end):
        text = f"'{first.text} {line[end].text} {line[end + 1].text}' is more than one answer"
        problem, end = ("ambiguous", text), end + 2
    end, agrees = _gloss(line, first, end)
    if agrees is False:
        problem = ("ambiguous", f"'{first.text}' and the words beside it disagree")
    if not _ends_well(line, first, end):
        return None
    return Value(first.number, problem, end, "number" if in_figures else "label", agrees is True)


def bare_values(line: Line, scale: Scale, *, one_item: bool) -> BareValues | None:
    """The values of a line that names no item and says nothing else of weight, or None.

    '4', '4, 2, 3', 'Rating: 4', 'My answers: 4, 2, 3', '4 - because I am calm'. A line such as
    '4. I am calm' is the start of a list, unless there is `one_item` only.
    """
    start = 0
    while kind_at(line, start) == "mark" and line[start].text not in _CLOSING - {"|"}:
        start += 1
    begin = after_lead_in(line, start)
    if values := _values_from(line, begin, scale):
        led = begin > start
        numbered = text_at(line, values[0].end) == "." and values[0].end + 1 < len(line)
        if _names_the_range(line, values, scale) or (numbered and not led and not one_item):
            return None
        return BareValues(values, led)
    colons = [index for index, token in enumerate(line) if token.text == ":"]
    introduced = colons and kind_at(line, start) == "text"
    values = _values_from(line, colons[-1] + 1, scale) if introduced else []
    return BareValues(values, True) if len(values) > 1 else None


def after_lead_in(line: Line, start: int) -> int:
    """The index after words such as 'Rating:' or 'I would say', or `start` if there are none."""
    index = start
    while text_at(line, index) in _LEAD_IN or (
        index > start and text_at(line, index) in (":", "=")
    ):
        index += 1
    return index


def outside(token: Token, scale: Scale) -> Problem | None:
    """Why the token's number is no value of the range, if it is not."""
    padded = token.text.isdecimal() and token.text[0] == "0" != token.text
    if token.kind == "decimal" or padded:
        return ("out_of_range", f"{token.text[:12]} is not a whole number of the range")
    if scale.minimum <= token.number <= scale.maximum:
        return None
    return ("out_of_range", f"{token.number} is not between {scale.minimum} and {scale.maximum}")


def _may_be_minus(line: Line, start: int, scale: Scale) -> Problem | None:
    """Why '- 2' is doubtful on a range with negative values: the dash may belong to the number."""
    unsigned = line[start].text.isdecimal() and line[start].number > 0
    if scale.minimum < 0 and unsigned and start > 0 and line[start - 1].text == "-":
        return ("ambiguous", f"the dash before {line[start].number} may be a minus")
    return None


def _values_from(line: Line, start: int, scale: Scale) -> list[Value]:
    """All values from there to the end of the line; none if something else comes between."""
    values: list[Value] = []
    index = start
    while text_at(line, index) in ("[", "("):
        index += 1
    while value := value_at(line, index, scale):
        values.append(value)
        index = value.end
        while text_at(line, index) in (",", ";", "|", "and"):
            index += 1
    rest = line[index:]
    if not values or all(token.text in _CLOSING for token in rest):
        return values
    after_comma = index > values[-1].end and rest[0].spaced
    explained = rest[0].kind == "mark" or rest[0].text in _REASONS or after_comma
    plain = values[-1].kind == "number" and all(t.kind not in ("number", "decimal") for t in rest)
    return values if explained and plain else []


def _names_the_range(line: Line, values: list[Value], scale: Scale) -> bool:
    """Whether the line only says '1 - 5', as a heading may."""
    first, last = values[0], line[values[0].end - 1]
    ends = (first.number, last.number) == (scale.minimum, scale.maximum)
    return len(values) == 1 and first.problem is not None and ends


def _out_of(line: Line, end: int, scale: Scale) -> tuple[int, Problem | None]:
    """Where '/5', 'out of 5' or 'of 5' ends, and why it speaks of another range, if it does."""
    skip = 0
    if text_at(line, end) in ("/", "of"):
        skip = 1
    elif text_at(line, end) == "out" and text_at(line, end + 1) == "of":
        skip = 2
    if not skip or kind_at(line, end + skip) not in ("number", "decimal"):
        return end, None
    limit, end = line[end + skip], end + skip + 1
    if limit.kind == "number" and limit.number == scale.maximum:
        return end, None
    text = f"an answer out of {limit.text[:12]} is not on the range to {scale.maximum}"
    return end, ("ambiguous", text)


def _is_range(line: Line, first: Token, end: int) -> bool:
    """Whether it goes on as in '2-3', 'two or three', 'never to rarely'."""
    other = kind_at(line, end + 1)
    if text_at(line, end) not in ("-", "~", "to", "or"):
        return False
    if first.kind == "anchor":
        return other == "anchor"
    return other in ("number", "decimal", "numeral")


def _gloss(line: Line, first: Token, end: int) -> tuple[int, bool | None]:
    """Where the words beside the value end, and whether they agree with it; None without any."""
    mark = text_at(line, end) if kind_at(line, end) == "mark" else ""
    at = end + 1 if mark else end
    bracketed = mark == "(" and text_at(line, at + 1) == ")"
    kind = kind_at(line, at)
    if first.kind in ("number", "decimal"):
        labelled = mark in ("", "(", "-", "=", ":", ",") and kind_at(line, at + 1) != "text"
        is_gloss = (kind == "anchor" and labelled) or (kind == "numeral" and bracketed)
    else:
        # In '(1) extremely (2) a little' the bracket opens the next item's number.
        next_item = kind_at(line, at + 2) in ("number", "numeral", "anchor", "words")
        is_gloss = kind == "number" and bracketed and not next_item
    if not is_gloss:
        return end, None
    agrees = first.kind != "decimal" and line[at].number == first.number
    if mark == "," and not agrees:
        return end, None
    return at + 1 + bracketed, agrees


def _ends_well(line: Line, first: Token, end: int) -> bool:
    """Whether what follows leaves the value a value: '4.' and '4 because', not '4 friends'."""
    kind, text = kind_at(line, end), text_at(line, end)
    if text in (":", "=") and kind_at(line, end + 1) in ("number", "decimal"):
        return False
    if kind == "mark":
        return text not in _NOT_AFTER
    if text == "and":
        return kind_at(line, end + 1) in ("number", "numeral", "anchor", "words")
    if kind == "text":
        return text in _REASONS
    if kind == "numeral":
        return first.kind == "numeral"
    return kind != "anchor"
