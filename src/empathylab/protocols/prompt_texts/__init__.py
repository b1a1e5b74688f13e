"""The built-in prompts in languages other than English, one file per language."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def prompt_texts() -> dict[str, dict[str, Any]]:
    """The texts of each file, by the language's code."""
    entries = sorted(files(__name__).iterdir(), key=lambda entry: entry.name)
    return {
        entry.name.removesuffix(".toml"): tomllib.loads(entry.read_text(encoding="utf-8"))
        for entry in entries
        if entry.name.endswith(".toml")
    }
