"""Writes docs/reference/export-columns.md from the program; a test fails when it is out of date."""

from __future__ import annotations

from pathlib import Path

from empathylab.export.dictionary import Entry, dictionary_page
from empathylab.export.tables import TABLES

TARGET = Path(__file__).parents[1] / "docs" / "reference" / "export-columns.md"
HEAD = """# Columns of exports

Written from the program by `scripts/write_export_columns.py`; do not edit by hand.

This page lists the columns of all [exported](../how-to/export.md) tables. Every export contains it
as a dictionary, with the values that occur in its data. The table `raters` also has a column for
each question that a study asked its raters about themselves, for each detail from the platform, and
for each score of a scale.
"""


def page() -> str:
    """The whole page."""
    entries = [
        Entry(table, column.name, column.meaning, column.type, column.values)
        for table, spec in TABLES.items()
        for column in spec.columns
    ]
    return dictionary_page(entries, HEAD)


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
