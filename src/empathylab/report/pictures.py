"""Charts as picture files, drawn without a browser.

Text in a picture is drawn with the fonts of the machine that makes it. A script that no installed
font has shows as boxes in a PNG; there are three ways out: install a font (on Debian `fonts-noto-
core`, `fonts-noto-cjk`, `fonts-noto-color-emoji`), name a folder of fonts in `fonts`, or take the
SVG or the HTML report, where the reader's fonts draw the text. Emoji come out in colour only where
they stand alone, as in `emoji_chart`: inside other text a picture shows a black-and-white one.
"""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import Any

import polars as pl

from empathylab.analysis.text.emoji_names import emoji_name
from empathylab.errors import InputError, LabError, UnknownName
from empathylab.report.picture_labels import whole_signs
from empathylab.style.text.emoji import emoji_lists
from empathylab.tables import clean_text

# Vega counts pixels of a 96th of an inch, print points of a 72nd.
_PIXELS, _POINTS, _PRINT = 96, 72, 300
_TEXT = 8 * _PIXELS / _POINTS
_LETTER = 7.5
"""Pixels of a letter of a label, at most on average."""
_LABEL = 13
_INK, _QUIET, _LINE = "#1f2328", "#59616b", "#e2dfd9"
_CONFIG = {
    "background": "#ffffff",
    "font": "Liberation Sans, Arial, Helvetica, Noto Sans, DejaVu Sans, sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelColor": _INK,
        "titleColor": _QUIET,
        "gridColor": _LINE,
        "domainColor": _LINE,
        "tickColor": _LINE,
        "labelFontSize": _LABEL,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
    },
    # As many numbers as there is room for, each below its line.
    "axisXQuantitative": {
        "labelFlush": False,
        "tickCount": {"expr": "clamp(floor(width / 50), 3, 10)"},
    },
    "legend": {
        "labelColor": _INK,
        "titleColor": _QUIET,
        "labelFontSize": _LABEL,
        "labelLimit": 400,
    },
    "header": {"labelColor": _INK, "labelFontSize": 14},
}


def notebook_config() -> dict[str, Any]:
    """The report's light look, for charts in notebooks."""
    return dict(_CONFIG)


def png(
    spec: dict[str, Any], *, width: int = 640, scale: float = 2.0, fonts: Path | None = None
) -> bytes:
    """The chart as a PNG; `fonts` is a folder with fonts to use besides the installed ones."""
    import vl_convert

    _register(fonts)
    return bytes(vl_convert.vegalite_to_png(_shown(spec, width), scale=scale))


def svg(spec: dict[str, Any], *, width: int = 640) -> str:
    """The chart as an SVG, its text as text."""
    import vl_convert

    return str(vl_convert.vegalite_to_svg(_shown(spec, width)))


def printed(
    spec: dict[str, Any], *, style: str, width_mm: float, fonts: Path | None = None
) -> bytes:
    """The chart as a file for print, so wide with all its text: `svg`, `png` (300 dpi) or `pdf`.

    Text is 8 points high whatever the width. A PDF carries its fonts; an SVG names them. A font of
    coloured emoji cannot go into a PDF, which then names emoji instead.
    """
    import vl_convert

    _register(fonts)
    if style == "pdf":
        return _pdf(spec, width_mm)
    drawn = str(vl_convert.vegalite_to_svg(_printable(spec, width_mm)))
    if style == "svg":
        return _sized(drawn, 25.4 / _PIXELS, "mm").encode()
    if style == "png":
        return bytes(vl_convert.svg_to_png(drawn, scale=_PRINT / _PIXELS, ppi=_POINTS))
    raise UnknownName("figure format", style, ("svg", "png", "pdf"))


def _pdf(spec: dict[str, Any], width_mm: float) -> bytes:
    import vl_convert

    for chart in (spec, _without_emoji(spec)):
        drawn = str(vl_convert.vegalite_to_svg(_printable(chart, width_mm)))
        with contextlib.suppress(RuntimeError):
            return bytes(vl_convert.svg_to_pdf(_sized(drawn, _POINTS / _PIXELS)))
    raise LabError(
        "a font of this machine cannot be put into a PDF",
        remedy="Draw the figures with --format svg or --format png.",
    )


def _without_emoji(value: Any, name: str = "") -> Any:
    """The specification with names for emoji; nothing for one that stands beside its name."""
    if isinstance(value, dict):
        return {key: _without_emoji(part, key) for key, part in value.items()}
    if isinstance(value, list):
        return [_without_emoji(part, name) for part in value]
    if not isinstance(value, str) or value.isascii():
        return value
    if name == "emoji":
        return " "
    for emoji in emoji_lists(pl.Series([value]))[0]:
        value = value.replace(emoji, f"({emoji_name(emoji)})")
    return value


def _printable(spec: dict[str, Any], width_mm: float) -> dict[str, Any]:
    """The specification so wide in all, in small print; what stands in a row keeps its width."""
    pixels = width_mm / 25.4 * _PIXELS
    chart = _fixed(spec, round(pixels))
    if chart.get("width") == round(pixels):
        chart["autosize"] = {"type": "fit-x", "contains": "padding"}
    small = {"labelFontSize": _TEXT, "titleFontSize": _TEXT}
    config = dict(chart["config"])
    # Names beside a chart leave it half of the room.
    for unit in chart.get("layer", [chart]):
        y = unit.get("encoding", {}).get("y", {})
        if y.get("type") == "nominal" and y.get("axis", {}) is not None:
            most = min(y.get("axis", {}).get("labelLimit", 180), round(0.45 * pixels))
            y["axis"] = {**y.get("axis", {}), "labelLimit": most}
    for part in ("axis", "legend", "header"):
        config[part] = config[part] | small
    widest = max((len(name) for name in _coloured(chart)), default=1) * _TEXT * 0.6 + 3 * _TEXT
    config["legend"] |= {"columns": max(1, int(pixels // widest)), "labelLimit": int(pixels * 0.8)}
    chart["config"] = config | {"padding": 2}
    return whole_signs(chart, height=_TEXT)


def _coloured(spec: dict[str, Any]) -> list[str]:
    """The names in the legend, where the chart says them."""
    names: list[str] = []
    for unit in spec.get("layer", [spec]):
        scale = unit.get("encoding", {}).get("color", {}).get("scale") or {}
        names += [str(name) for name in scale.get("domain", [])]
    return names


def _sized(svg_text: str, times: float, unit: str = "") -> str:
    """The SVG with its outer size in another unit, so that it has the right one on paper."""

    def turned(found: re.Match[str]) -> str:
        return f'{found[1]}="{float(found[2]) * times:.2f}{unit}"'

    head, end, rest = svg_text.partition(">")
    return re.sub(r'\b(width|height)="([\d.]+)"', turned, head) + end + rest


def _register(fonts: Path | None) -> None:
    import vl_convert

    if fonts is None:
        return
    if not fonts.is_dir():
        raise InputError(
            "the folder of fonts does not exist",
            where=str(fonts),
            remedy="Name a folder that contains .ttf or .otf files.",
        )
    vl_convert.register_font_directory(str(fonts))


def _shown(spec: dict[str, Any], width: int) -> dict[str, Any]:
    return whole_signs(_fixed(spec, width), height=_LABEL)


def _fixed(spec: dict[str, Any], width: int) -> dict[str, Any]:
    """The specification with a width in pixels and the report's light colours."""
    chart: dict[str, Any] = _drawable(spec)
    if chart.get("width") == "container":
        chart["width"] = width
    if "facet" in chart and "width" in chart.get("spec", {}):
        _fit_panels(chart, width)
    for layer in chart.get("layer", [chart]):
        _level_names(layer.get("encoding", {}).get("x", {}), width)
    chart["config"] = _CONFIG | chart.get("config", {})
    return chart


def _fit_panels(chart: dict[str, Any], width: int) -> None:
    """As many panels beside each other as fit, names at the side included."""
    columns = min(int(chart.get("columns", 1)), max(1, width // 260))
    if chart.get("columns") == 3 and columns == 2:  # two and one would leave an empty axis
        columns = 1
    chart["columns"] = columns
    chart["spec"]["width"] = max(80, round((width - 150) / columns) - 24)


def _level_names(x: dict[str, Any], width: int) -> None:
    """Names above columns that lean, level where they fit beside each other."""
    axis, names = x.get("axis") or {}, x.get("sort")
    if axis.get("labelAngle") and isinstance(names, list) and names:
        widest = _LETTER * max(len(str(name)) for name in names)
        if widest * len(names) < 0.7 * width:
            x["axis"] = {
                name: value
                for name, value in axis.items()
                if name not in ("labelAlign", "labelBaseline")
            } | {"labelAngle": 0}


def _drawable(value: Any) -> Any:
    """The specification without control characters, at which drawing would stop the program."""
    if isinstance(value, dict):
        return {_drawable(name): _drawable(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_drawable(part) for part in value]
    return clean_text(value) if isinstance(value, str) else value
