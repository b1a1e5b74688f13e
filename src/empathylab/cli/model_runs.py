"""What the commands that ask models have in common: print the result, and the exit code."""

from __future__ import annotations

import json as encoder
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from empathylab.api.run_results import RunResult
    from empathylab.api.sessions import Sessions


def show(found: RunResult, *, as_json: bool) -> None:
    """Prints what was measured, and ends with the exit code that fits."""
    if as_json:
        write_json(found.to_dict())
    else:
        from empathylab.api.run_summary import print_parts, summary_parts

        print_parts(summary_parts(found.overview, found.sessions.models, found.report))
    conclude(found.sessions)


def write_json(content: Mapping[str, Any]) -> None:
    """The result on stdout, unrounded."""
    sys.stdout.write(encoder.dumps(content, indent=2, ensure_ascii=False) + "\n")


def conclude(sessions: Sessions) -> None:
    """Says what the settings had to do with the answers; an error where requests got none."""
    for note in sessions.notes():
        sys.stderr.write(f"{note}\n")
    sessions.require_complete()
