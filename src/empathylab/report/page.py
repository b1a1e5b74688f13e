"""The report as one HTML file that needs nothing else."""

from __future__ import annotations

import contextlib
import importlib.metadata
import itertools
import platform
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from empathylab.analysis.overview.collect import LabOverview, Replies
from empathylab.analysis.overview.tables import measured_sentences, overview_tables
from empathylab.analysis.overview.tiles import tiles
from empathylab.analysis.text.numbers import moment, number, p_value, percent, signed
from empathylab.report.appraisal.tables import side_by_side_tables
from empathylab.report.benchmark.section import leaderboard_section
from empathylab.report.sections import report_sections
from empathylab.report.vega import vega_bundle
from empathylab.report.writing import page_asset, page_environment, write_whole

REPORT_FILE = "report.html"
_SCRIPTS = ("report.js", "replies.js")
_STYLES = ("report.css", "leaderboard.css", "conversations.css")
# With so few respondents, single results are easier to read than a table.
_FEW = 2
_SHOWN_WITHOUT_SCRIPTS = 40
# A figure with its sign, a p value, an interval, a dash, or an empty cell.
_NUMBER = re.compile(r"[<>≥≤+−$\s]*[\d.(\[]|[–-]?%?$|F\(|χ")
_COMPUTES = ("empathylab", "numpy", "scipy", "polars", "statsmodels", "scikit-learn", "altair")


def write_report(overview: LabOverview, folder: Path) -> Path:
    """The path of the report in that folder, written anew."""
    return write_whole(folder / REPORT_FILE, render(overview))


def render(data: LabOverview) -> str:
    """The report's HTML."""
    sections = report_sections(data)
    parts = sections.parts()
    specs = [spec for part in parts.values() for spec in part.specs]
    environment = page_environment()
    environment.filters |= {
        "number": number,
        "signed": signed,
        "moment": moment,
        "percent": percent,
        "p_value": p_value,
        "number_columns": number_columns,
    }
    repliers = list(dict.fromkeys(r["respondent"] for e in data.situations for r in e.replies))
    return environment.get_template("report.html.j2").render(
        **parts,
        data=data,
        measured=measured_sentences(data),
        overview=overview_tables(data) if len(data.respondents) > _FEW else [],
        tiles=tiles(data),
        cautions=data.caveats,
        people_beside=side_by_side_tables(data.appraisal),
        specs=specs,
        first_chart=_first_charts({name: len(one.specs) for name, one in parts.items()}),
        groups=sorted({entry.group for entry in data.situations}),
        repliers=repliers,
        first_situations=data.situations[:_SHOWN_WITHOUT_SCRIPTS],
        replies_data=_replies_data(data.situations, repliers),
        versions=installed_versions(),
        boards=[leaderboard_section(one) for one in data.leaderboards],
        style="".join(page_asset(name) for name in _STYLES),
        script="".join(page_asset(name) for name in _SCRIPTS),
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
