"""What a free answer says line by line: values tied to items, and values that name no item."""

from __future__ import annotations

from dataclasses import dataclass, field

from empathylab.scales.parsing.statements import Statement, StatementReader
from empathylab.scales.parsing.tokens import Lexicon, Line, kind_at, skip_marks, text_at
from empathylab.scales.parsing.values import ANSWER_NOUNS, BareValues, Value, bare_values

_AFTER = frozenset(",;.|)]-/") | {"and"}


@dataclass
class Run:
    """Values that name no item, one after the other."""

    values: list[Value] = field(default_factory=list)
    per_line: list[int] = field(default_factory=list)
    """How many of them stood on each line."""
    below: int | None = None
    """The position of the item named above them that had no value yet."""


@dataclass
class Reading:
    """What an answer says, before anything is decided."""

    answers: list[Statement] = field(default_factory=list)
    """Statements with a value."""
    faults: list[str] = field(default_factory=list)
    """Why the answer as a whole cannot be trusted."""
    runs: list[Run] = field(default_factory=list)
    named: bool = False
    """Whether some item was named without a value."""
    other_figures: bool = False
    """Whether a line that says nothing of the items holds a number."""


def read_lines(text: str, lexicon: Lexicon) -> Reading:
    """What the text's lines say."""
    reader = _LineReader(lexicon)
    for line in lexicon.lines(text):
        reader.read(line)
    reader.close_run()
    return reader.reading


class _LineReader:
    """Reads one line after the other; knows the item above that waits for its value."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.reading = Reading()
        self._scale = lexicon.scale
        self._one_item = lexicon.positions == 1
        self._statements = StatementReader(lexicon)
        self._run = Run()
        self._waiting: int | None = None
        self._just_named = False
        """Whether the waiting item was named on the very line above."""

    def read(self, line: Line) -> None:
        start = _skip_bullet(line)
        statement = self._statements.at(line, start, opens_line=True)
        if statement is None and (bare := self._bare(line)):
            self._add_to_run(bare)
            return
        self.close_run()
        self._just_named = False
        statement = statement or self._statements.after_prose(line, start, None)
        if statement:
            self._read_statements(line, statement)
        elif any(token.kind in ("number", "decimal") for token in line):
            self.reading.other_figures = True
            # 'Rating (now): 4' may be the answer that the item above waits for, and was not read.
            if any(t.kind == "words" or t.text in ANSWER_NOUNS for t in line):
                self._waiting = None

    def _bare(self, line: Line) -> BareValues | None:
        return bare_values(line, self._scale, one_item=self._one_item)

    def close_run(self) -> None:
        """Files the values read since: one alone answers the item above, more are a run."""
        run, self._run = self._run, Run()
        if run.below is not None and len(run.values) == 1:
            self.reading.answers.append(Statement(run.below, 0, run.values[0]))
        elif run.values:
            self.reading.runs.append(run)

    def _add_to_run(self, bare: BareValues) -> None:
        if bare.led:
            self.close_run()
        if not self._run.values:
            if self._just_named or bare.led:
                self._run.below = self._waiting
            self._waiting = None
        self._run.values += bare.values
        self._run.per_line.append(len(bare.values))
        if bare.led:
            self.close_run()

    def _read_statements(self, line: Line, first: Statement) -> None:
        statement: Statement | None = first
        while statement:
            self._file(statement)
            last, index = statement, statement.end
            while text_at(line, index) in _AFTER:
                index += 1
            statement = self._statements.at(line, index)
            statement = statement or self._statements.after_prose(line, index, last)
        named_only = last.value is None and last.fault is None
        # An item's words may open a sentence; a line that holds no more names the item.
        if named_only and (last.end == len(line) or skip_marks(line, last.end) == len(line)):
            self._waiting, self._just_named = last.position, True
        else:
            self._waiting = None

    def _file(self, statement: Statement) -> None:
        if statement.fault:
            self.reading.faults.append(statement.fault)
        elif statement.value:
            self.reading.answers.append(statement)
        else:
            self.reading.named = True


def _skip_bullet(line: Line) -> int:
    index = 0
    while kind_at(line, index) == "mark" and line[index].text not in "([":
        index += 1
    return index
