"""The style sheet, the script and the icon, served under names that change with their content."""

from __future__ import annotations

import functools
import hashlib
from importlib.resources import files

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from empathylab.html_templates import turn_style

_KINDS = {
    "study.css": "text/css",
    "study.js": "text/javascript",
    "signals.js": "text/javascript",
    "live.js": "text/javascript",
    "queue.js": "text/javascript",
    "study.svg": "image/svg+xml",
    "console.css": "text/css",
    "console.js": "text/javascript",
    "preview.css": "text/css",
    "preview.js": "text/javascript",
}


@functools.cache
def asset_paths() -> dict[str, str]:
    """By a file's name, the path under which it is served."""
    return {name: _served_as(name) for name in _KINDS}


async def send_asset(request: Request) -> Response:
    """One of the known files; there is no folder to look into."""
    asked = request.path_params["name"]
    name = next((own for own, served in asset_paths().items() if served == asked), None)
    if name is None:
        raise HTTPException(404)
    return Response(
        _content(name),
        media_type=_KINDS[name],
        headers={"Cache-Control": "public, max-age=31536000, immutable"},
    )


@functools.cache
def _content(name: str) -> bytes:
    content = files("empathylab.study.web").joinpath("static", name).read_bytes()
    return content + turn_style() if name == "console.css" else content


def _served_as(name: str) -> str:
    stem, _, ending = name.partition(".")
    return f"{stem}-{hashlib.sha256(_content(name)).hexdigest()[:12]}.{ending}"
