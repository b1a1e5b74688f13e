"""Answers to scales as others have published them: EmotionBench's result files.

A file is called `<model>-<SCALE>-testing.csv`. Its columns are `question-k` and `order-k` for each
order of the items, `General_test-i_order-k` for repeat i at baseline and
`Anger-0_scenario-3_test-1_order-0` for emotion, factor, situation, repeat and order after a
situation. The first row holds the prompts, the next rows the answers in the order of `order-k`.

An administration that cannot be read is kept, as invalid with its reason; nothing is guessed, and
one bad cell spoils only its own column.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from empathylab.errors import InputError
from empathylab.files import read_text
from empathylab.scales.answers import Outcome
from empathylab.scales.definition import Scale, find_scale
from empathylab.scales.refusals import looks_like_refusal

RESULTS_SUFFIX = "-testing.csv"

_DEFAULT = re.compile(r"General_test-(\d+)_order-(\d+)", re.ASCII)
_EVOKED = re.compile(r"(.+)-(\d+)_scenario-(\d+)_test-(\d+)_order-(\d+)", re.ASCII)
_ORDER = re.compile(r"order-(\d+)", re.ASCII)
_QUESTION = re.compile(r"question-(\d+)", re.ASCII)
_WHOLE = re.compile(r"[+-]?\d{1,9}(?:\.0*)?", re.ASCII)
_QUOTED = re.compile(r'"(.*)"', re.DOTALL)


@dataclass(frozen=True, slots=True)
class PublishedAdministration:
    """One answering of a scale, as a published file tells it."""

    phase: Literal["default", "evoked"]
    emotion: str | None
    """As the file spells it; None at baseline."""
    factor: int | None
    """Counted from 0."""
    situation: int | None
    """Counted from 0, within the factor, as the file numbers them."""
    text: str | None
    """The text of the situation, where the file has it."""
    order_index: int
    item_order: tuple[int, ...]
    """Empty where the file does not give it."""
    repeat: int
    subject: str | None = None
    """The person who answered, where the file identifies people."""
    outcome: Outcome = "valid"
    reason: str | None = None
    values: Mapping[int, int] = field(default_factory=dict)
    """Answers by item number; empty unless valid."""


@dataclass(frozen=True, slots=True)
class PublishedResults:
    """What one file holds."""

    source: str
    respondent: str
    scale: str
    """The scale's id."""
    administrations: tuple[PublishedAdministration, ...]
    ignored: Mapping[str, int]
    """Columns that were not understood: how many, by reason."""

    @property
    def invalid(self) -> dict[str, int]:
        """How many administrations are invalid, by reason."""
        return dict(
            Counter(
                administration.reason
                for administration in self.administrations
                if administration.reason is not None
            )
        )


def name_parts(file_name: str, scales: Iterable[Scale]) -> tuple[str, Scale] | None:
    """The model and the scale in a result file's name; None where it names no known scale."""
    if not file_name.endswith(RESULTS_SUFFIX):
        return None
    stem, known = file_name.removesuffix(RESULTS_SUFFIX), list(scales)
    # Both names may hold hyphens (gpt-3.5-turbo, DASS-21): the longest scale name decides.
    cuts = [place for place, letter in enumerate(stem) if letter == "-"]
    for cut in cuts:
        scale = find_scale(stem[cut + 1 :], known)
        if scale is not None and cut > 0:
            return stem[:cut], scale
    return None


def read_results(path: Path, respondent: str, scale: Scale) -> PublishedResults:
    """The administrations of a result file, valid and invalid."""
    rows = _rows(path)
    header = [name.strip() for name in rows[0]]
    columns = [_column(rows, number) for number in range(len(header))]
    orders = {
        int(match[1]): _item_order(cells, scale)
        for name, cells in zip(header, columns, strict=True)
        if (match := _ORDER.fullmatch(name))
    }
    administrations: dict[tuple[object, ...], PublishedAdministration] = {}
    ignored: Counter[str] = Counter()
    for name, cells in zip(header, columns, strict=True):
        if _ORDER.fullmatch(name) or _QUESTION.fullmatch(name):
            continue
        place = _place(name)
        if place is None:
            ignored["the column's name is not understood"] += 1
        elif place in administrations:
            ignored["the column appears twice"] += 1
        else:
            administrations[place] = _administration(place, cells, orders, scale)
    return PublishedResults(
        path.name, respondent, scale.id, tuple(administrations.values()), dict(ignored)
    )


Place = tuple[str | None, int | None, int | None, int, int]
"""Emotion, factor, situation, repeat and order of a column."""


def _place(name: str) -> Place | None:
    if match := _DEFAULT.fullmatch(name):
        return None, None, None, int(match[1]), int(match[2])
    if match := _EVOKED.fullmatch(name):
        return match[1], int(match[2]), int(match[3]), int(match[4]), int(match[5])
    return None


def _rows(path: Path) -> list[list[str]]:
    try:
        rows = list(csv.reader(io.StringIO(read_text(path), newline=""), strict=True))
    except csv.Error as error:
        raise InputError(
            f"this is not a CSV table: {error}", where=path.name, remedy="Fix or remove the file."
        ) from None
    if not rows or not any(rows[0]):
        raise InputError("the file is empty", where=path.name, remedy="Remove the file.")
    return rows


def _column(rows: Sequence[Sequence[str]], number: int) -> list[str]:
    """The column's cells below its name; blank where a row is too short."""
    return [row[number].strip() if number < len(row) else "" for row in rows[1:]]


def _item_order(cells: Sequence[str], scale: Scale) -> tuple[int, ...] | None:
    """The items in the order asked; None where the column does not hold each item once."""
    order = [_whole(cell) for cell in cells[1:] if cell]
    if sorted(item or 0 for item in order) != list(range(1, scale.items + 1)):
        return None
    return tuple(item for item in order if item is not None)


def _administration(
    place: Place,
    cells: Sequence[str],
    orders: Mapping[int, tuple[int, ...] | None],
    scale: Scale,
) -> PublishedAdministration:
    emotion, factor, situation, repeat, index = place
    order = orders.get(index)
    outcome: Outcome
    values: Mapping[int, int] = {}
    if order is not None:
        outcome, reason, values = read_cells(cells[1:], order, scale)
    elif index in orders:
        outcome, reason = "unparseable", f"order-{index} does not hold every item once"
    else:
        outcome, reason = "unparseable", f"the file has no column order-{index}"
    quoted = _QUOTED.search(cells[0]) if cells and emotion is not None else None
    return PublishedAdministration(
        phase="default" if emotion is None else "evoked",
        emotion=emotion,
        factor=factor,
        situation=situation,
        text=quoted[1].strip() or None if quoted else None,
        order_index=index,
        item_order=order or (),
        repeat=repeat,
        outcome=outcome,
        reason=reason,
        values=values,
    )


def read_cells(
    cells: Sequence[str], order: Sequence[int], scale: Scale
) -> tuple[Outcome, str | None, dict[int, int]]:
    """Outcome, reason and answers by item of a column of cells, asked in that order."""
    answers, rest = cells[: scale.items], cells[scale.items :]
    if not any(cells):
        return "empty", "there is no answer", {}
    values = {item: _whole(cell) for item, cell in zip(order, answers, strict=False) if cell}
    if any(value is None for value in values.values()):
        if any(looks_like_refusal(cell) for cell in answers if cell and _whole(cell) is None):
            return "refusal", "the answer declines the task", {}
        return "unparseable", "an answer is not a whole number", {}
    read = {item: value for item, value in values.items() if value is not None}
    if any(not scale.minimum <= value <= scale.maximum for value in read.values()):
        return "out_of_range", f"an answer is not from {scale.minimum} to {scale.maximum}", {}
    if len(read) < scale.items:
        return "incomplete", "an item has no answer", {}
    if any(rest):
        return "ambiguous", "there are more answers than items", {}
    return "valid", None, read


def _whole(cell: str) -> int | None:
    return int(cell.partition(".")[0]) if _WHOLE.fullmatch(cell) else None
