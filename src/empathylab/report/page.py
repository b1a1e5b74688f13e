"""The report as one HTML file that needs nothing else."""

from __future__ import annotations

import contextlib
import importlib.metadata
import itertools
import os
import platform
import re
import tempfile
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import jinja2

from empathylab.analysis.overview.collect import Replies, ReportData, collect
from empathylab.analysis.overview.prose import cautions, tiles
from empathylab.analysis.overview.respondents import glance_tables, measured_sentences
from empathylab.analysis.text.numbers import moment, number, p_value, percent, signed
from empathylab.errors import LabError
from empathylab.report.appraisal.tables import side_by_side_tables
from empathylab.report.benchmark.page import leaderboard_section
from empathylab.report.sections import report_sections
from empathylab.report.vega import vega_bundle
from empathylab.store import Lab

REPORT_FILE = "report.html"
# The page, and the parts it includes.
_PARTS = (
    "report.html.j2",
    "ratings.html.j2",
    "judges.html.j2",
    "leaderboard.html.j2",
    "style.html.j2",
    "conversations.html.j2",
    "responses.html.j2",
)
_SCRIPTS = ("report.js", "replies.js")
# Up to so many respondents, a result each is seen sooner than a table.
_FEW = 2
_SHOWN_WITHOUT_SCRIPTS = 40
# A figure with its sign, a p value, an interval, a dash, or an empty cell.
_NUMBER = re.compile(r"[<>≥≤+−$\s]*[\d.(\[]|[–-]?%?$|F\(|χ")
_COMPUTES = ("empathylab", "numpy", "scipy", "polars", "statsmodels", "scikit-learn", "altair")


def write_report(lab: Lab) -> Path:
    """The path of the lab's report, written anew."""
    return write_page(lab, collect(lab))


def write_page(lab: Lab, data: ReportData) -> Path:
    """The path of the report that shows these data."""
    page = render(data)
    path = lab.reports / REPORT_FILE
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, page)
    except OSError as error:
        raise LabError(
            "the report cannot be written",
            where=str(path),
            got=error.strerror,
            remedy="Make room or change the folder's permissions, then run: empathylab report",
        ) from error
    return path


def _replace(path: Path, text: str) -> None:
    """Writes beside and renames, so that nobody ever opens half a report."""
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=".html")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(name, 0o644)  # noqa: PTH101 - mkstemp gives a name
        os.replace(name, path)  # noqa: PTH105 - mkstemp gives a name
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)  # noqa: PTH108 - mkstemp gives a name
        raise


def render(data: ReportData) -> str:
    """The report's HTML."""
    sections = report_sections(data)
    parts = sections.parts()
    specs = [spec for part in parts.values() for spec in part.specs]
    environment = jinja2.Environment(
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        loader=jinja2.DictLoader({name: _asset(name) for name in _PARTS}),
    )
    environment.filters |= {
        "number": number,
        "signed": signed,
        "moment": moment,
        "percent": percent,
        "p_value": p_value,
        "number_columns": number_columns,
    }
    repliers = list(dict.fromkeys(r["respondent"] for e in data.situations for r in e.replies))
    return environment.get_template(_PARTS[0]).render(
        **parts,
        data=data,
        measured=measured_sentences(data),
        glance=glance_tables(data) if len(data.respondents) > _FEW else [],
        tiles=tiles(data),
        cautions=cautions(data),
        people_beside=side_by_side_tables(data.analysis),
        specs=specs,
        first_chart=_first_charts({name: len(one.specs) for name, one in parts.items()}),
        groups=sorted({entry.group for entry in data.situations}),
        repliers=repliers,
        first_situations=data.situations[:_SHOWN_WITHOUT_SCRIPTS],
        replies_data=_replies_data(data.situations, repliers),
        versions=installed_versions(),
        boards=[leaderboard_section(one) for one in data.leaderboards],
        style=_asset("report.css") + _asset("leaderboard.css") + _asset("conversations.css"),
        script="".join(_asset(name) for name in _SCRIPTS),
        vega=vega_bundle() if specs else "",
    )


def _replies_data(situations: Sequence[Replies], repliers: Sequence[str]) -> dict[str, Any]:
    """What the page's browser of replies reads; respondents by number, to say each name once."""
    places = {name: place for place, name in enumerate(repliers)}
    return {
        "respondents": list(repliers),
        "situations": [
            {
                **{
                    name: getattr(entry, name)
                    for name in ("situation", "group", "title", "valence", "text", "utterance")
                    if getattr(entry, name) is not None
                },
                "replies": [
                    {
                        "respondent": places[reply["respondent"]],
                        "text": reply["text"],
                        "outcome": reply["outcome"],
                        **({"reason": reply["reason"]} if reply["reason"] else {}),
                    }
                    for reply in entry.replies
                ],
            }
            for entry in situations
        ],
    }


def number_columns(rows: Sequence[Mapping[str, object]]) -> set[str]:
    """The names of the columns whose cells are all numbers, intervals or nothing."""
    return {
        name
        for name in (rows[0] if rows else ())
        if all(_NUMBER.match(str(row[name])) for row in rows if row[name] is not None)
    }


def installed_versions() -> dict[str, str]:
    """The versions of what the figures were computed with."""
    found = {"Python": platform.python_version()}
    for name in _COMPUTES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found


def _first_charts(counts: dict[str, int]) -> dict[str, int]:
    """The number of each section's first chart among all of the page."""
    ends = list(itertools.accumulate(counts.values(), initial=0))
    return dict(zip(counts, ends, strict=False))


def _asset(name: str) -> str:
    return (files("empathylab.report") / "pages" / name).read_text(encoding="utf-8")
