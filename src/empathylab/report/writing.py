"""Files that are written whole or not at all, and the templates of pages."""

from __future__ import annotations

import contextlib
import functools
import os
import tempfile
from importlib.resources import files
from pathlib import Path

import jinja2

from empathylab.errors import LabError
from empathylab.html_templates import template_environment


def write_whole(path: Path, content: bytes | str) -> Path:
    """The path of the file. It is written under another name, so that no reader sees half of it."""
    data = content.encode() if isinstance(content, str) else content
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, suffix=path.suffix)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.chmod(name, 0o644)  # noqa: PTH101 - mkstemp gives a name
            os.replace(name, path)  # noqa: PTH105 - mkstemp gives a name
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)  # noqa: PTH108 - mkstemp gives a name
            raise
    except OSError as error:
        raise LabError(
            "the file cannot be written",
            where=str(path),
            got=error.strerror,
            remedy="Choose another path, or check free space and permissions.",
        ) from error
    return path


@functools.cache
def page_environment() -> jinja2.Environment:
    """The environment of the pages that ship."""
    return template_environment(jinja2.FunctionLoader(page_asset))


def page_asset(name: str) -> str:
    """The text of a template, style sheet or script that ships."""
    return (files("empathylab.report") / "pages" / name).read_text(encoding="utf-8")
