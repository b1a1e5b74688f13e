"""From what an answer says to which item has which value, as far as that is certain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from empathylab.scales.parsing.lines import Reading, Run
from empathylab.scales.parsing.statements import Statement
from empathylab.scales.parsing.tokens import Lexicon
from empathylab.scales.parsing.values import Value


@dataclass
class Tied:
    """Values by position, what speaks against trusting them, and values that fit nowhere."""

    values: dict[int, list[Value]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    loose: list[int] = field(default_factory=list)
    """Lengths of the runs of values that could not be tied to items."""

    def add(self, position: int, value: Value) -> None:
        self.values.setdefault(position, []).append(value)


def tie(reading: Reading, lexicon: Lexicon) -> Tied:
    """Ties every value of the reading to a position, or leaves it loose."""
    tied = Tied(faults=list(reading.faults))
    labelled = sorted(lexicon.scale.anchors)
    answers, runs = reading.answers, reading.runs
    if answers and all(answer.how == "gloss" for answer in answers):
        # '4 = quite a bit' throughout: the numbers are values and not items.
        runs = [_glosses_as_run(answers, lexicon.positions, tied), *runs]
        answers = []
    answers = [
        answer
        for answer in _without_legend(answers, labelled, lexicon.positions)
        if 1 <= answer.position <= lexicon.positions  # '0 = never' alone names no item
    ]
    runs = [run for run in runs if not _is_legend(run.values, labelled)]
    numbers = [a.value.number for a in answers if a.how == "value first" and a.value]
    if numbers and (len(numbers) < len(answers) or numbers == _counted(len(numbers))):
        tied.faults.append("the numbers before the items may be the items' own")
    for answer in answers:
        if answer.value:
            tied.add(answer.position, answer.value)
    complete = len(tied.values) == lexicon.positions
    for run in runs:
        if answers and not (complete and len(run.values) == lexicon.positions):
            tied.faults.append("some values belong to no item")
        else:
            _tie_run(run, lexicon.positions, tied, only=len(runs) == 1)
    if runs and lexicon.positions == 1 and reading.other_figures:
        tied.faults.append("there are other numbers beside the answer")
    return tied


def _tie_run(run: Run, positions: int, tied: Tied, *, only: bool) -> None:
    labels = [value.number for value in run.values[::2]]
    paired = (
        len(run.per_line) > 1
        and set(run.per_line) == {2}
        and len(set(labels)) == len(labels)
        and all(1 <= label <= positions for label in labels)
        and all(value.kind == "number" for value in run.values[::2])
    )
    if len(run.values) == positions:
        if paired and positions > 2 and labels == _counted(len(labels)):
            tied.faults.append("the numbers may be a plain list, or pairs of item and answer")
        for position, value in enumerate(run.values, start=1):
            tied.add(position, value)
    elif paired and only and positions > 2:
        for label, value in zip(labels, run.values[1::2], strict=True):
            tied.add(label, value)
    else:
        tied.loose.append(len(run.values))


def _glosses_as_run(answers: Sequence[Statement], positions: int, tied: Tied) -> Run:
    numbers = [answer.position for answer in answers]
    if numbers != _counted(positions) == sorted(numbers):
        tied.faults.append("the numbers may be the items' or the answers")
    return Run([answer.value._replace(glossed=True) for answer in answers if answer.value])


def _without_legend(
    answers: Sequence[Statement], labelled: Sequence[int], positions: int
) -> list[Statement]:
    """The answers without the range repeated: '1 = never, 2 = rarely, … 5 = always'.

    The same words may be true answers to items 1 to 5. They are kept where they fill exactly the
    gap that the other answers leave.
    """
    legend: list[Statement] = []
    others: list[Statement] = []
    index = 0
    while index < len(answers):
        end = _legend_end(answers, index, labelled)
        legend += answers[index:end]
        if end == index:
            others.append(answers[index])
        index = max(end, index + 1)
    named, elsewhere = {a.position for a in legend}, {a.position for a in others}
    if others and not named & elsewhere and named | elsewhere == set(_counted(positions)):
        return list(answers)
    return others


def _legend_end(answers: Sequence[Statement], start: int, labelled: Sequence[int]) -> int:
    """The index after a legend that starts there, or `start` if none does."""
    before = None
    for index in range(start, len(answers)):
        answer = answers[index]
        opens = before is None and [answer.position] == list(labelled[:1])
        goes_on = before is not None and answer.position > before
        if answer.how != "gloss" or not (opens or goes_on):
            return start
        if goes_on and answer.position == labelled[-1]:
            return index + 1
        before = answer.position
    return start


def _is_legend(values: Sequence[Value], labelled: Sequence[int]) -> bool:
    numbers = [value.number for value in values]
    return (
        len(numbers) > 1
        and all(value.glossed for value in values)
        and numbers == sorted(set(numbers))
        and [numbers[0], numbers[-1]] == [*labelled[:1], *labelled[-1:]]
    )


def _counted(length: int) -> list[int]:
    return list(range(1, length + 1))
