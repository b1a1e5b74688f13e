"""What is measured text by text, of some of the responses: the work of one process."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import polars as pl

from empathylab.style.measures.lexicons import Lexicon
from empathylab.style.measures.table import features
from empathylab.style.tactics.tagging import tactic_table


class Read(NamedTuple):
    """The features and tactics of some of the responses."""

    features: pl.DataFrame
    tactics: pl.DataFrame | None
    """A row per sentence; None where another tagger does it."""


def read_chunk(
    part: pl.DataFrame, *, dictionaries: tuple[Lexicon, ...], lists: Path | None, tagged: bool
) -> Read:
    """The features of these responses, and the tactics of their sentences if they are `tagged`."""
    # What a sentence says, and who says it to whom, need not travel: the main process knows.
    rows = "response", "place", "sentences", "tactics"
    tactics = tactic_table(part).select(rows) if tagged else None
    return Read(features(part, lexicons=dictionaries, lists=lists), tactics)
