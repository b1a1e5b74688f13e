"""Options for the output of an evaluation."""

from __future__ import annotations

from dataclasses import dataclass

from empathylab.cli.evaluate.junit import JunitFile
from empathylab.tracking import Tracker


@dataclass(frozen=True, slots=True)
class OutputOptions:
    """The output that the command line asks for."""

    as_json: bool
    summary: str
    """`text` or `md`."""
    junit: JunitFile
    open_report: bool
    track: Tracker | None = None
    """The experiment tracker that gets the results, too."""
