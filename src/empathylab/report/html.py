"""The report as one HTML file that needs nothing else."""

from __future__ import annotations

import contextlib
import itertools
import os
import tempfile
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol

import jinja2

from empathylab.errors import LabError
from empathylab.report.appraisal_section import appraisal_section
from empathylab.report.collect import ReportData, collect
from empathylab.report.formats import moment, number, p_value, percent, signed
from empathylab.report.ratings_section import ratings_section
from empathylab.report.sentences import cautions, tiles
from empathylab.report.style_section import style_section
from empathylab.report.vega import vega_bundle
from empathylab.store import Lab

REPORT_FILE = "report.html"
# The page, and the parts it includes.
_PARTS = ("report.html.j2", "ratings.html.j2", "style.html.j2")


class Section(Protocol):
    """A part of the page that has charts."""

    @property
    def specs(self) -> Sequence[dict[str, Any]]: ...


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
    appraisal = appraisal_section(data.analysis)
    ratings = ratings_section(data.ratings)
    writing = style_section(data.style)
    sections: dict[str, Section] = {
        "appraisal": appraisal,
        "ratings": ratings,
        "writing": writing,
    }
    specs = [spec for section in sections.values() for spec in section.specs]
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
    }
    return environment.get_template(_PARTS[0]).render(
        data=data,
        tiles=tiles(data),
        cautions=cautions(data),
        appraisal=appraisal,
        ratings=ratings,
        writing=writing,
        specs=specs,
        first_chart=_first_charts({name: len(one.specs) for name, one in sections.items()}),
        groups=sorted({entry.group for entry in data.situations}),
        repliers=list(dict.fromkeys(r["respondent"] for e in data.situations for r in e.replies)),
        style=_asset("report.css"),
        script=_asset("report.js"),
        vega=vega_bundle() if specs else "",
    )


def _first_charts(counts: dict[str, int]) -> dict[str, int]:
    """The number of each section's first chart among all of the page."""
    ends = list(itertools.accumulate(counts.values(), initial=0))
    return dict(zip(counts, ends, strict=False))


def _asset(name: str) -> str:
    return (files("empathylab.report") / "pages" / name).read_text(encoding="utf-8")
