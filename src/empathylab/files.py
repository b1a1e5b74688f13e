"""Reading and writing the files that users name, with errors they can act on."""

from __future__ import annotations

import json
import tomllib
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

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


def write_bytes(path: Path, content: bytes) -> None:
    """Writes the file, over one that is there."""
    _write(path, content, "wb")


def write_text(path: Path, text: str) -> None:
    """Writes the file as UTF-8, over one that is there."""
    _write(path, text.encode(), "wb")


def write_new(path: Path, text: str) -> None:
    """Writes a file that is not there yet, as UTF-8."""
    _write(path, text.encode(), "xb")


def _write(path: Path, content: bytes, mode: Literal["wb", "xb"]) -> None:
    try:
        with path.open(mode) as file:
            file.write(content)
    except FileExistsError:
        raise InputError(
            "this file already exists", where=str(path), remedy="Choose another name."
        ) from None
    except OSError as error:
        raise InputError(
            "the file cannot be written",
            where=str(path),
            got=error.strerror,
            remedy="Check the folder and its permissions, or name another file.",
        ) from None


@cache
def packaged_table(package: str, name: str) -> dict[str, Any]:
    """What a TOML file of a package holds."""
    return tomllib.loads((files(package) / name).read_text(encoding="utf-8"))


@cache
def packaged_tables(package: str, folder: str) -> dict[str, dict[str, Any]]:
    """The TOML files in a folder of a package, by their names without the ending."""
    names = sorted(file.name for file in (files(package) / folder).iterdir())
    return {
        name.removesuffix(".toml"): packaged_table(package, f"{folder}/{name}")
        for name in names
        if name.endswith(".toml")
    }
