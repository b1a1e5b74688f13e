"""Reading a respondent's answer to a scale: what is certain, or why nothing is.

The parser never guesses and never moves an answer to another item. A value counts when the answer
ties it to an item, by the number shown or by the item's words, or when there are exactly as many
values as items and nothing else. All else is invalid, with a reason.

The package `parsing` takes the text apart; here the outcome is decided.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from empathylab.scales.definition import Scale
from empathylab.scales.parsing.certainty import Tied, tie
from empathylab.scales.parsing.json_answers import find_json, parse_json, read_json_answer
from empathylab.scales.parsing.lines import Reading, read_lines
from empathylab.scales.parsing.tokens import Lexicon, fold
from empathylab.scales.refusals import disclaims_feelings, looks_like_refusal

Outcome = Literal[
    "valid", "empty", "refusal", "unparseable", "incomplete", "out_of_range", "ambiguous"
]

_FENCE = re.compile(r"\A\s*```\w*|```\s*\Z")
_THOUGHT_OPENS = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_THOUGHT_CLOSES = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_MOST_NAMED = 5
_MOST_CHARACTERS = 100_000
"""An answer to a scale is a page; nothing longer can be one, and reading it would take long."""


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    """An answer as read, and whether it can be used."""

    outcome: Outcome
    reason: str | None = None
    """One sentence on what is wrong, None if valid; it numbers the items as they were shown."""
    values: dict[int, int] = field(default_factory=dict)
    """Answers by the scale's own item numbers.

    All if the outcome is `valid`, the certain ones if it is `incomplete` or `out_of_range`, else
    none.
    """


def parse_answer(
    text: str, scale: Scale, order: Sequence[int], *, structured: bool = False
) -> ParsedAnswer:
    """What the text answers to the scale's items, which were shown in that order.

    With `structured` the text must be JSON, as `answer_schema` describes it, and nothing else.
    """
    plain = _without_thoughts(text)
    if len(plain) > _MOST_CHARACTERS:
        return ParsedAnswer("unparseable", f"the answer is {len(plain):,} characters long")
    if not fold(plain).strip():
        return ParsedAnswer("empty", "there is no text")
    lexicon = Lexicon(scale, order)
    reading = _read_structured(plain, lexicon) if structured else _read_free(plain, lexicon)
    tied = tie(reading, lexicon) if reading else Tied()
    if tied.values:
        return _judged(tied, order)
    if looks_like_refusal(plain) or disclaims_feelings(plain):
        return ParsedAnswer("refusal", "the answer declines to fill in the scale")
    if reading is None:
        return ParsedAnswer("unparseable", "the answer is not JSON")
    return _without_values(tied, reading, len(order))


def _without_thoughts(text: str) -> str:
    """The text without the reasoning that some models write in <think> tags before they answer."""
    closings = list(_THOUGHT_CLOSES.finditer(text))
    if closings:
        text = text[closings[-1].end() :]
    opening = _THOUGHT_OPENS.search(text)
    return text[: opening.start()] if opening else text


def _read_structured(plain: str, lexicon: Lexicon) -> Reading | None:
    try:
        content = parse_json(_FENCE.sub("", plain).strip())
    except ValueError:
        return None
    return read_json_answer(content, lexicon)


def _read_free(plain: str, lexicon: Lexicon) -> Reading:
    """JSON that speaks of the items, wherever it stands, and the lines around it."""
    readings, around, end = [], [], 0
    for block in find_json(plain):
        reading = read_json_answer(block.content, lexicon)
        if reading.answers or reading.runs or reading.faults:
            readings.append(reading)
            around.append(plain[end : block.start])
            end = block.end
    around.append(plain[end:])
    readings.append(read_lines("\n".join(around), lexicon))
    return Reading(
        answers=[answer for reading in readings for answer in reading.answers],
        faults=[fault for reading in readings for fault in reading.faults],
        runs=[run for reading in readings for run in reading.runs],
        named=any(reading.named for reading in readings),
        other_figures=readings[-1].other_figures,
    )


def _without_values(tied: Tied, reading: Reading, items: int) -> ParsedAnswer:
    """The outcome of an answer none of whose values could be tied to an item."""
    if tied.faults:
        return ParsedAnswer("ambiguous", _listed(tied.faults))
    if len(tied.loose) > 1:
        return ParsedAnswer("ambiguous", "there are several lists of values")
    if tied.loose:
        reason = f"{tied.loose[0]} values for {items} items, and nothing says which is which"
        return ParsedAnswer("incomplete" if tied.loose[0] < items else "ambiguous", reason)
    if reading.named:
        return ParsedAnswer("unparseable", "the items are named, but not answered")
    return ParsedAnswer("unparseable", "no value can be tied to an item")


def _judged(tied: Tied, order: Sequence[int]) -> ParsedAnswer:
    """The outcome of an answer that ties values to items."""
    values: dict[int, int] = {}
    doubts, outside = list(tied.faults), []
    for position, given in sorted(tied.values.items()):
        problems = [value.problem for value in given if value.problem]
        numbers = sorted({value.number for value in given})
        if len(numbers) > 1:
            doubts.append(f"{position} is answered {' and '.join(map(str, numbers))}")
        elif not problems:
            values[order[position - 1]] = numbers[0]
        elif problems[0][0] == "ambiguous":
            doubts.append(f"{position}: {problems[0][1]}")
        else:
            outside.append(f"{position}: {problems[0][1]}")
    missing = [str(p) for p in range(1, len(order) + 1) if p not in tied.values]
    if doubts:
        return ParsedAnswer("ambiguous", _listed(doubts))
    if outside:
        return ParsedAnswer("out_of_range", _listed(outside), values)
    if missing:
        return ParsedAnswer("incomplete", f"no answer to {', '.join(missing)}", values)
    return ParsedAnswer("valid", None, values)


def _listed(reasons: Sequence[str]) -> str:
    different = list(dict.fromkeys(reasons))
    more = len(different) - _MOST_NAMED
    return "; ".join(different[:_MOST_NAMED]) + (f"; and {more} more" if more > 0 else "")
