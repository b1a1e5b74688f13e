"""Writes the documentation's reference from the code; a test fails when a page is out of date.

Usage: python scripts/write_reference.py
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from reference import commands, decisions, formats, instruments, python_api, settings, study_file

DOCS = Path(__file__).parents[1] / "docs"


def pages() -> dict[str, str]:
    """Every page that is written from the code, by its path in docs/."""
    return {
        "reference/commands.md": commands.page(),
        "reference/python.md": python_api.page(),
        "reference/settings.md": settings.page(),
        "reference/study-file.md": study_file.page(),
        "reference/formats.md": formats.page(),
        "reference/scales.md": instruments.scales_page(),
        "reference/situations.md": instruments.situations_page(),
        "reference/features.md": instruments.features_page(),
        "decisions/README.md": decisions.page(),
    }


if __name__ == "__main__":
    for name, text in pages().items():
        (DOCS / name).write_text(text, encoding="utf-8")
