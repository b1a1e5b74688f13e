"""The script that draws the charts, to be put into the page."""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
from pathlib import Path

import platformdirs


def vega_bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script.

    Putting it together takes seconds, so it is kept in the user's cache, by version; a cache that
    cannot be written to is done without.
    """
    import vl_convert

    version = importlib.metadata.version("vl-convert-python")
    path = platformdirs.user_cache_path("empathylab") / f"vega-{version}.js"
    with contextlib.suppress(OSError, UnicodeDecodeError):
        kept = path.read_text(encoding="utf-8")
        if kept.endswith(_END):
            return kept
    bundle = vl_convert.javascript_bundle() + _END  # type: ignore[call-arg]
    with contextlib.suppress(OSError):
        _keep(path, bundle)
    return bundle


_END = "\n/* the whole bundle */\n"


def _keep(path: Path, bundle: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(f".{os.getpid()}.part")
    part.write_text(bundle, encoding="utf-8")
    part.replace(path)
