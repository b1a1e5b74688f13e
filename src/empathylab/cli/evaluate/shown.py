"""How an evaluation is shown."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Shown:
    """What the command line asks for."""

    as_json: bool
    summary: str
    """`text` or `md`."""
    junit: Path | None
    open_report: bool
