"""The viewer's pages as HTML."""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from importlib.resources import files
from typing import Any

import jinja2
from markupsafe import Markup

from empathylab import __version__
from empathylab.analysis.text.names import name_of
from empathylab.html_templates import package_templates, template_environment, turn_style
from empathylab.view.tables import Table

NAVIGATION = (
    ("/", "Overview"),
    ("/runs", "Runs"),
    ("/replies", "Replies"),
    ("/conversations", "Conversations"),
    ("/scales", "Scales"),
    ("/studies", "Studies"),
    ("/judges", "Judges"),
)
_SECTIONS = {"/answers": "/runs", "/situations": "/replies", "/raters": "/studies"}
ASSETS = {"view.css": "text/css", "view.js": "text/javascript", "view.svg": "image/svg+xml"}


@dataclass(frozen=True, slots=True)
class Page:
    """What a page shows: its title, its template, its tables and what else that needs."""

    title: str
    template: str
    tables: Sequence[Table] = ()
    values: Mapping[str, Any] = field(default_factory=dict)
    live: bool = False
    """Whether a run is going on, so that the page renews itself."""
    status: int = 200


def section(path: str) -> str:
    """The entry of the navigation that a page belongs to."""
    first = f"/{path.split('/')[1]}"
    return _SECTIONS.get(first, first)


def render(template: str, **values: Any) -> str:
    """The template's HTML, within the frame of every page."""
    page = _environment().get_template(f"{template}.html.j2")
    return page.render(navigation=NAVIGATION, assets=asset_paths(), version=__version__, **values)


@functools.cache
def asset_paths() -> dict[str, str]:
    """By a file's name, the name under which it is served, which changes with its content."""
    return {name: _served_as(name) for name in ASSETS}


@functools.cache
def asset(name: str) -> bytes:
    """The content of a file that pages load."""
    content = files("empathylab.view").joinpath("static", name).read_bytes()
    return content + turn_style() if name == "view.css" else content


def _served_as(name: str) -> str:
    stem, _, ending = name.partition(".")
    return f"{stem}-{hashlib.sha256(asset(name)).hexdigest()[:12]}.{ending}"


def moment(at: datetime | None) -> str:
    """A time, in UTC."""
    return "–" if at is None else f"{at:%Y-%m-%d %H:%M}"


def moment_utc(at: datetime | None) -> str | None:
    """A time that says its time zone, for facts beside a label; None where there is none."""
    return None if at is None else f"{moment(at)} UTC"


def number(value: float | None, digits: int = 0) -> str:
    """A number with thousands separators; a dash where there is none."""
    if value is None or value != value:
        return "–"
    return f"{value:,.{digits}f}".replace("-", "−")


def change(value: float | None) -> str:
    """A difference, with its sign and two decimals."""
    text = number(value, 2)
    return f"+{text}" if value is not None and value > 0 else text


def points(value: float | None) -> str:
    """A rating or an answer: whole points without decimals, others with two at most."""
    if value is None or value != value:
        return "–"
    return number(value, 2).rstrip("0").rstrip(".")


def money(value: float | None) -> str:
    """Dollars; a dash where the price is not known."""
    if value is None:
        return "–"
    if 0 < value < 0.00005:
        return "< $0.0001"
    return f"${value:,.2f}" if value >= 1 or not value else f"${value:.4f}"


def seconds(value: float | None) -> str:
    """A duration."""
    if value is None or value != value:
        return "–"
    if 0 < value < 0.05:
        return "< 0.1 s"
    return f"{value:.1f} s" if value < 90 else f"{value / 60:.1f} min"


def written(value: Any) -> str:
    """A setting's value as text; a plain list on one line."""
    if isinstance(value, str):
        return value
    nested = isinstance(value, dict) or (
        isinstance(value, list) and any(isinstance(part, dict | list) for part in value)
    )
    return json.dumps(value, ensure_ascii=False, indent=1 if nested else None)


def clipped(text: str | None, maximum: int) -> str:
    """The beginning of a long text."""
    text = text or ""
    return text if len(text) <= maximum else f"{text[:maximum]}…"


def breakable(text: str) -> Markup:
    """The text as HTML that breaks after `_` and `/` before it breaks elsewhere."""
    return Markup("<wbr>").join(re.split(r"(?<=[_/])(?=\w)", text))


def highlighted(text: str, words: Sequence[str]) -> list[tuple[str, bool]]:
    """The text in pieces, and whether each is a word that was searched for."""
    if not words:
        return [(text, False)]
    pattern = "|".join(sorted(map(re.escape, words), key=len, reverse=True))
    parts = re.split(rf"\b({pattern})", text, flags=re.IGNORECASE)
    return [(part, place % 2 == 1) for place, part in enumerate(parts) if part]


@functools.cache
def _environment() -> jinja2.Environment:
    environment = template_environment(package_templates("empathylab.view"))
    environment.filters |= {
        "moment": moment,
        "moment_utc": moment_utc,
        "number": number,
        "change": change,
        "points": points,
        "money": money,
        "seconds": seconds,
        "written": written,
        "clipped": clipped,
        "breakable": breakable,
        "highlighted": highlighted,
        "name": name_of,
    }
    return environment
