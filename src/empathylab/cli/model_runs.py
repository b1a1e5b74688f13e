"""What the commands that ask models have in common: print the result, and the exit code."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from empathylab.cli.tables import print_json

if TYPE_CHECKING:
    from empathylab.api.run_results import RunResult
    from empathylab.api.sessions import Sessions


def show(result: RunResult, *, as_json: bool) -> None:
    """Prints what was measured, and ends with the exit code that fits."""
    if as_json:
        print_json(result)
    else:
        from empathylab.api.run_summary import print_parts, summary_parts

        print_parts(summary_parts(result.overview, result.sessions.models, result.report))
    conclude(result.sessions)


def conclude(sessions: Sessions) -> None:
    """Says what the settings had to do with the answers; an error where requests got none."""
    for note in sessions.notes():
        sys.stderr.write(f"{note}\n")
    sessions.require_complete()
