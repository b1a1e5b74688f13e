"""Markdown inside lines, and web and e-mail addresses."""

from __future__ import annotations

import polars as pl

from empathylab.stats.arrays import Numbers
from empathylab.style.text.marks import counted_all
from empathylab.style.text.tokens import EMAIL, URL

_PATTERNS = {
    "bold": r"\*\*+|__+[^_\s]|[^_\s]__+",
    "code": "`",
    "links": r"\]\([^)\s]+\)",
    "addresses": rf"{URL}|{EMAIL}",
}
_RULE = r"^[*_`]+$"
_FENCE = r"^```"


def layout_columns(pieces: pl.Series) -> dict[str, Numbers]:
    """For each piece, its marks of bold and code, its links and its addresses."""
    columns = counted_all(pieces, _PATTERNS)
    # A row of stars or lines is a rule across the page, and three backticks begin a block.
    columns["bold"] = columns["bold"] * ~pieces.str.contains(_RULE).to_numpy()
    columns["code"] = columns["code"] * ~pieces.str.contains(_FENCE).to_numpy()
    return columns
