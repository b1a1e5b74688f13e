"""What a command prints at its end."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from empathylab.analysis.appraisal.result import interval_of
from empathylab.analysis.text.numbers import number, signed
from empathylab.report import LabOverview
from empathylab.runs import Tally
from empathylab.stats.questionnaires.appraisal import ScaleChange


def print_summary(
    data: LabOverview, tallies: list[Tally], path: Path | None, lines: Sequence[str] = ()
) -> None:
    """A short table, these lines, the cautions, and where the report is if there is one."""
    # Names come from users: what looks like markup or an emoji's code is text.
    console = Console(highlight=False, markup=False, emoji=False, soft_wrap=not sys.stdout.isatty())
    mine = {tally.model for tally in tallies}
    changes = [one for one in data.appraisal.changes if one.respondent in mine]
    for respondent, scale in dict.fromkeys((one.respondent, one.scale) for one in changes):
        console.print(_changes_table(changes, respondent, scale))
    for length in data.lengths:
        if length.respondent in mine and length.median_words is not None:
            console.print(
                f"{length.respondent}: {length.replies} usable replies of {length.asked}, "
                f"median {number(length.median_words, 0)} words"
            )
    counts: dict[str, int] = {}
    for run in data.runs:
        if run.respondent in mine:
            for outcome, _, count in run.invalid:
                counts[outcome] = counts.get(outcome, 0) + count
    invalid = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items())
    console.print(f"Answers that could not be used: {invalid or 'none'}")
    for line in lines:
        console.print(line)
    for caution in data.cautions(mine):
        console.print(Text.assemble(("•", "yellow"), f" {caution}"))
    if path is not None:
        console.print(f"Report: {path}")


def _changes_table(changes: list[ScaleChange], respondent: str, scale: str) -> Table:
    """One row per emotion, one column per subscale."""
    mine = [
        one
        for one in changes
        if (one.respondent, one.scale) == (respondent, scale) and one.level != "factor"
    ]
    title = Text(f"{respondent}, {scale.upper()}: change from baseline")
    table = Table(title=title, title_justify="left")
    table.add_column("after")
    table.add_column("n", justify="right")
    for subscale in dict.fromkeys(one.subscale for one in mine):
        first = next(one for one in mine if one.subscale == subscale)
        head = Text(f"{subscale}\n(baseline {number(first.default_mean)})")
        table.add_column(head, justify="right")
    for emotion in dict.fromkeys(one.emotion for one in mine):
        row = [one for one in mine if one.emotion == emotion]
        style = "bold" if emotion is None else None
        cells = [_cell(one) for one in row]
        table.add_row(Text(emotion or "all situations"), str(row[0].n), *cells, style=style)
    return table


def _cell(change: ScaleChange) -> Text:
    text = signed(change.cluster_delta)
    interval = interval_of(change)
    if change.emotion is None and interval is not None:
        text += f" [{signed(interval.low)}, {signed(interval.high)}]"
    return Text(text)


def print_json(
    data: LabOverview,
    tallies: list[Tally],
    path: Path | None,
    added: Mapping[str, Any] | None = None,
) -> None:
    """The same as JSON, unrounded; with the `added` keys."""
    content = {
        "report": None if path is None else str(path),
        "sessions": [tally_row(tally) for tally in tallies],
        **data.to_dict(),
        "cautions": data.cautions({tally.model for tally in tallies}),
        **(added or {}),
    }
    sys.stdout.write(json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def tally_row(tally: Tally) -> dict[str, Any]:
    """A session's figures as plain values."""
    # Not asdict(), which cannot copy a Counter.
    content = {field.name: getattr(tally, field.name) for field in dataclasses.fields(tally)}
    return content | {"done": tally.done, "missing": tally.missing}
