"""What a command prints at its end."""

from __future__ import annotations

import dataclasses
import json
import math
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from empathylab.report import Change, ReportData, cautions
from empathylab.report.formats import number, signed
from empathylab.runs import Tally


def print_summary(data: ReportData, tallies: list[Tally], path: Path) -> None:
    """A short table, the cautions, and where the report is."""
    console = Console(highlight=False, soft_wrap=not sys.stdout.isatty())
    mine = {tally.model for tally in tallies}
    pairs = dict.fromkeys((change.respondent, change.scale) for change in data.changes)
    for respondent, scale in pairs:
        if respondent in mine:
            console.print(_changes_table(data, respondent, scale))
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
    for caution in cautions(data):
        console.print(f"[yellow]•[/yellow] {caution}", highlight=False)
    console.print(f"Report: {path}")


def _changes_table(data: ReportData, respondent: str, scale: str) -> Table:
    """One row per emotion, one pair of columns per subscale."""
    changes = [c for c in data.changes if (c.respondent, c.scale) == (respondent, scale)]
    subscales = list(dict.fromkeys(change.subscale for change in changes))
    table = Table(title=f"{respondent}, {scale.upper()}: change from rest", title_justify="left")
    table.add_column("after")
    table.add_column("n", justify="right")
    for subscale in subscales:
        rest = next(change for change in changes if change.subscale == subscale)
        table.add_column(f"{subscale}\n(rest {number(rest.default_mean)})", justify="right")
    for emotion in dict.fromkeys(change.emotion for change in changes):
        row = [change for change in changes if change.emotion == emotion]
        cells = [_cell(change) for change in row]
        style = "bold" if emotion is None else None
        table.add_row(emotion or "all situations", str(row[0].n), *cells, style=style)
    return table


def _cell(change: Change) -> str:
    difference = change.difference
    text = signed(difference.estimate)
    if change.emotion is None and difference.varies:
        text += f" [{signed(difference.low)}, {signed(difference.high)}]"
    return text


def print_json(data: ReportData, tallies: list[Tally], path: Path) -> None:
    """The same as JSON, unrounded."""
    content = {
        "report": str(path),
        "sessions": [_tally(tally) for tally in tallies],
        "changes": [_plain(dataclasses.asdict(change)) for change in data.changes],
        "patterns": [dataclasses.asdict(pattern) for pattern in data.patterns],
        "replies": [dataclasses.asdict(length) for length in data.lengths],
        "cautions": cautions(data),
    }
    sys.stdout.write(json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def _tally(tally: Tally) -> dict[str, Any]:
    # Not asdict(), which cannot copy a Counter.
    content = {field.name: getattr(tally, field.name) for field in dataclasses.fields(tally)}
    return content | {"done": tally.done, "missing": tally.missing}


def _plain(value: Any) -> Any:
    """JSON knows no NaN; what is not there is null."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    return None if isinstance(value, float) and math.isnan(value) else value
