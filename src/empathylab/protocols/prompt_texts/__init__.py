"""The built-in prompts, one file per language."""

from __future__ import annotations

from typing import Any

from empathylab.files import packaged_tables

ENGLISH = "en"


def prompt_texts() -> dict[str, dict[str, Any]]:
    """The texts of each file, by the language's code."""
    return packaged_tables("empathylab.protocols", "prompt_texts")
