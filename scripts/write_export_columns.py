"""Writes docs/export-columns.md from the program; a test fails when it is out of date."""

from __future__ import annotations

import tempfile
from pathlib import Path

from empathylab.export import lab_tables
from empathylab.export.dictionary import dictionary, dictionary_page
from empathylab.store import Lab

TARGET = Path(__file__).parents[1] / "docs" / "export-columns.md"
HEAD = """# Columns of exports

Written from the program by `scripts/write_export_columns.py`; do not edit by hand.

Every export brings this dictionary with it, with the values that occur in its own data. Beyond
these columns, `raters` has one for each thing that a study asked or was told about its raters, and
one for each score of a scale they answered. How to export: [exports](exports.md).
"""


def page() -> str:
    """The whole page."""
    with tempfile.TemporaryDirectory() as folder, Lab.open(Path(folder)) as lab:
        found = lab_tables(lab)
    return dictionary_page(dictionary(found, found.tables), HEAD)


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
