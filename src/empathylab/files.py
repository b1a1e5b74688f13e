"""Reading the files that users bring, with errors they can act on."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

from empathylab.errors import InputError


def read_bytes(path: Path) -> bytes:
    """The file's content."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(
            "the file cannot be read",
            where=str(path),
            got=error.strerror,
            remedy="Check the path and its permissions.",
        ) from None


def read_text(path: Path) -> str:
    """The file's text, without a byte-order mark."""
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"byte {error.start} is not UTF-8 text",
            where=path.name,
            remedy="Save the file as UTF-8.",
        ) from None


def read_json(path: Path) -> object:
    """What the JSON file holds."""
    text = read_text(path)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"this is not JSON: {error}", where=path.name, remedy="Fix the file's syntax."
        ) from None


def read_toml(path: Path) -> dict[str, object]:
    """What the TOML file holds."""
    text = read_text(path)
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"this is not TOML: {error}", where=path.name, remedy="Fix the file's syntax."
        ) from None
