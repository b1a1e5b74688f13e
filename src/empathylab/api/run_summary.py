"""What a call that asked models says at its end: tables of changes, replies, and cautions."""

from __future__ import annotations

import io
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from empathylab.analysis.appraisal.result import interval_of
from empathylab.analysis.text.numbers import number, signed

if TYPE_CHECKING:
    from empathylab.report import LabOverview
    from empathylab.stats.questionnaires.appraisal import ScaleChange

_WIDTH = 100


def summary_parts(
    data: LabOverview, models: Collection[str], path: Path | None, lines: Sequence[str] = ()
) -> Iterator[Table | Text | str]:
    """A short table, these lines, the cautions, and where the report is if there is one."""
    changes = [change for change in data.appraisal.changes if change.respondent in models]
    pairs = dict.fromkeys((change.respondent, change.scale) for change in changes)
    verdicts = {
        (report.respondent, report.scale): report.validity.verdict
        for report in data.appraisal.self_reports
    }
    for respondent, scale in pairs:
        verdict = verdicts.get((respondent, scale), "usable")
        yield _changes_table(changes, respondent, scale, verdict)
    for length in data.lengths:
        if length.respondent in models and length.median_words is not None:
            yield (
                f"{length.respondent}: {length.replies} usable replies of {length.asked}, "
                f"median {number(length.median_words, 0)} words"
            )
    counts: dict[str, int] = {}
    for run in data.runs:
        if run.respondent in models:
            for outcome, _, count in run.invalid:
                counts[outcome] = counts.get(outcome, 0) + count
    invalid = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items())
    yield f"Answers that could not be used: {invalid or 'none'}"
    yield from lines
    for caution in data.cautions(models):
        yield Text.assemble(("•", "yellow"), f" {caution}")
    if path is not None:
        yield f"Report: {path}"


def print_parts(parts: Iterable[Table | Text | str], console: Console | None = None) -> None:
    """Prints them on stdout, as a terminal or a file takes them."""
    # Names come from users: what looks like markup or an emoji's code is text.
    console = console or Console(highlight=False, markup=False, emoji=False)
    for part in parts:
        console.print(part, soft_wrap=not console.is_terminal)


def text_of(parts: Iterable[Table | Text | str]) -> str:
    """The same as text."""
    written = io.StringIO()
    console = Console(file=written, width=_WIDTH, highlight=False, markup=False, emoji=False)
    print_parts(parts, console)
    return written.getvalue().rstrip("\n")


def _changes_table(changes: list[ScaleChange], respondent: str, scale: str, verdict: str) -> Table:
    """One row per emotion, one column per subscale; above it, whether to believe the answers."""
    mine = [
        change
        for change in changes
        if (change.respondent, change.scale) == (respondent, scale) and change.level != "factor"
    ]
    doubt = "" if verdict == "usable" else f" (the answers are {verdict})"
    title = Text(f"{respondent}, {scale.upper()}: change from baseline{doubt}")
    table = Table(title=title, title_justify="left")
    table.add_column("after")
    table.add_column("n", justify="right")
    for subscale in dict.fromkeys(change.subscale for change in mine):
        first = next(change for change in mine if change.subscale == subscale)
        head = Text(f"{subscale}\n(baseline {number(first.default_mean)})")
        table.add_column(head, justify="right")
    for emotion in dict.fromkeys(change.emotion for change in mine):
        row = [change for change in mine if change.emotion == emotion]
        style = "bold" if emotion is None else None
        cells = [_cell(change) for change in row]
        table.add_row(Text(emotion or "all situations"), str(row[0].n), *cells, style=style)
    return table


def _cell(change: ScaleChange) -> Text:
    text = signed(change.cluster_delta)
    interval = interval_of(change)
    if change.emotion is None and interval is not None:
        text += f" [{signed(interval.low)}, {signed(interval.high)}]"
    return Text(text)
