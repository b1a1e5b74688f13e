"""Charts as picture files, drawn without a browser.

Text in a picture is drawn with the fonts of the machine that makes it. A script that no installed
font has shows as boxes in a PNG; there are three ways out: install a font (on Debian `fonts-noto-
core`, `fonts-noto-cjk`, `fonts-noto-color-emoji`), name a folder of fonts in `fonts`, or take the
SVG or the HTML report, where the reader's fonts draw the text. Emoji come out in colour only where
they stand alone, as in `emoji_chart`: inside other text a picture shows a black-and-white one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from empathylab.errors import InputError
from empathylab.tables import clean_text

_INK, _QUIET, _LINE = "#1f2328", "#59616b", "#e2dfd9"
# Okabe and Ito's colours, as on the page.
_COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#B87A00", "#56B4E9", "#777777"]
_CONFIG = {
    "background": "#ffffff",
    "font": "Liberation Sans, Arial, Helvetica, DejaVu Sans, sans-serif",
    "range": {"category": _COLOURS},
    "view": {"stroke": None},
    "axis": {
        "labelColor": _INK,
        "titleColor": _QUIET,
        "gridColor": _LINE,
        "domainColor": _LINE,
        "tickColor": _LINE,
        "labelFontSize": 13,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
    },
    "legend": {"labelColor": _INK, "titleColor": _QUIET, "labelFontSize": 13, "labelLimit": 400},
    "header": {"labelColor": _INK, "labelFontSize": 14},
}


def png(
    spec: dict[str, Any], *, width: int = 640, scale: float = 2.0, fonts: Path | None = None
) -> bytes:
    """The chart as a PNG; `fonts` is a folder with fonts to use besides the installed ones."""
    import vl_convert

    _register(fonts)
    return bytes(vl_convert.vegalite_to_png(_fixed(spec, width), scale=scale))


def svg(spec: dict[str, Any], *, width: int = 640) -> str:
    """The chart as an SVG, its text as text."""
    import vl_convert

    return str(vl_convert.vegalite_to_svg(_fixed(spec, width)))


def _register(fonts: Path | None) -> None:
    import vl_convert

    if fonts is None:
        return
    if not fonts.is_dir():
        raise InputError(
            "the folder of fonts does not exist",
            where=str(fonts),
            remedy="Name a folder that holds .ttf or .otf files.",
        )
    vl_convert.register_font_directory(str(fonts))


def _fixed(spec: dict[str, Any], width: int) -> dict[str, Any]:
    """The specification with a width in pixels and the report's light colours."""
    made: dict[str, Any] = _drawable(spec)
    if made.get("width") == "container":
        made["width"] = width
    made["config"] = _CONFIG | made.get("config", {})
    return made


def _drawable(value: Any) -> Any:
    """The specification without control characters, at which drawing would stop the program."""
    if isinstance(value, dict):
        return {_drawable(name): _drawable(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_drawable(part) for part in value]
    return clean_text(value) if isinstance(value, str) else value
