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

from empathylab.report import ReportData, cautions
from empathylab.report.formats import number, signed
from empathylab.runs import Tally


def print_summary(data: ReportData, tallies: list[Tally], path: Path) -> None:
    """A short table, the cautions, and where the report is."""
    console = Console(highlight=False, soft_wrap=not sys.stdout.isatty())
    mine = {tally.model for tally in tallies}
    if any(change.respondent in mine for change in data.changes):
        console.print(_changes_table(data, mine))
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


def _changes_table(data: ReportData, respondents: set[str]) -> Table:
    table = Table(title="Affect at rest and after imagined situations", title_justify="left")
    for column in ("respondent", "subscale", "emotion"):
        table.add_column(column)
    for column in ("n", "at rest", "after", "change", "95% interval"):
        table.add_column(column, justify="right")
    for change in data.changes:
        if change.respondent not in respondents:
            continue
        difference = change.difference
        interval = f"{signed(difference.low)} to {signed(difference.high)}"
        table.add_row(
            change.respondent,
            change.subscale,
            change.emotion or "all",
            str(change.n),
            number(change.default_mean),
            number(change.mean),
            signed(difference.estimate),
            interval if difference.varies else "–",
            style="bold" if change.emotion is None else None,
            end_section=False,
        )
    return table


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
    return dataclasses.asdict(tally) | {"done": tally.done, "missing": tally.missing}


def _plain(value: Any) -> Any:
    """JSON knows no NaN; what is not there is null."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    return None if isinstance(value, float) and math.isnan(value) else value
