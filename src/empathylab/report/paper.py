"""What goes into a paper: the report's figures and tables as files, and paragraphs."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from empathylab.analysis.overview import LabOverview
from empathylab.errors import InputError, LabError
from empathylab.report.blocks import slug
from empathylab.report.overview.section import paper_paragraphs
from empathylab.report.pictures import printed
from empathylab.report.sections import report_colours, report_sections
from empathylab.report.table_formats import latex_table, markdown_table

FigureFormat = Literal["svg", "png", "pdf"]
NARROWEST, WIDEST = 40.0, 600.0
"""In millimetres; a page that is wider than half a metre is no page."""
_LISTS = {"figures": "figures.json", "tables": "tables.json"}


@dataclass(frozen=True, slots=True)
class PaperFigure:
    """A chart with what stands under it."""

    name: str
    """Of its file, without ending."""
    section: str
    title: str
    caption: str
    spec: dict[str, Any]


@dataclass(frozen=True, slots=True)
class PaperTable:
    """Rows as a paper prints them."""

    name: str
    title: str
    caption: str
    rows: tuple[dict[str, str], ...]


def report_figures(data: LabOverview) -> list[PaperFigure]:
    """Every figure of the report, in its order."""
    colours = report_colours(data)
    drawn = [
        (section.id, figure) for section in report_sections(data) for figure in section.figures()
    ]
    return [
        PaperFigure(
            f"{place:02d}-{slug(figure.title)}",
            section,
            figure.title,
            figure.note,
            colours.applied(figure.spec),
        )
        for place, (section, figure) in enumerate(drawn, start=1)
    ]


def report_tables(data: LabOverview) -> list[PaperTable]:
    """Every table of the report that a paper would print, in its order."""
    found = [
        table
        for section in report_sections(data)
        for table in section.tables()
        if table.paper and any(map(len, table.rows))
    ]
    return [
        PaperTable(
            f"{place:02d}-{slug(table.title)}",
            table.title,
            table.caption,
            tuple(dict(row) for row in table.filled),
        )
        for place, table in enumerate(found, start=1)
    ]


def report_paragraphs(data: LabOverview) -> str:
    """The paragraphs on methods and results as Markdown, a heading per part; empty for none."""
    parts = [
        f"## {_escaped(title)}\n\n" + "\n\n".join(map(_escaped, said)) + "\n"
        for title, said in paper_paragraphs(data)
    ]
    return "\n".join(parts)


def write_figures(
    figures: Sequence[PaperFigure], folder: Path, *, style: FigureFormat, width_mm: float = 160.0
) -> list[Path]:
    """The paths of the pictures, one per figure, and of `figures.json`, which lists them.

    Files of an earlier call that are not written again stay; `figures.json` names this call's.
    """
    if not NARROWEST <= width_mm <= WIDEST:
        raise InputError(
            f"a figure's width must be between {NARROWEST:g} and {WIDEST:g} mm",
            got=width_mm,
            remedy="For example: --width 84 for one column, or --width 174 for two.",
        )
    written, listed = [], []
    with _folder(folder):
        for figure in figures:
            picture = printed(figure.spec, style=style, width_mm=width_mm)
            path = folder / f"{figure.name}.{style}"
            path.write_bytes(picture)
            written.append(path)
            listed.append(
                {
                    "file": path.name,
                    "section": figure.section,
                    "title": figure.title,
                    "caption": figure.caption,
                    "width_mm": width_mm,
                }
            )
        written.append(_listed(folder / _LISTS["figures"], listed))
    return written


def write_tables(tables: Sequence[PaperTable], paragraphs: str, folder: Path) -> list[Path]:
    """The paths of the tables as Markdown and LaTeX, of `paragraphs.md` and of `tables.json`."""
    written, listed = [], []
    with _folder(folder):
        for table in tables:
            markdown, latex = folder / f"{table.name}.md", folder / f"{table.name}.tex"
            caption = f"{table.title}. {table.caption}".strip()
            markdown.write_text(markdown_table(table.rows, caption=caption), encoding="utf-8")
            label = f"tab:{table.name}"
            latex.write_text(
                latex_table(table.rows, caption=caption, label=label), encoding="utf-8"
            )
            written += [markdown, latex]
            listed.append(
                {
                    "files": [markdown.name, latex.name],
                    "title": table.title,
                    "caption": table.caption,
                    "rows": len(table.rows),
                }
            )
        if paragraphs:
            path = folder / "paragraphs.md"
            path.write_text(paragraphs, encoding="utf-8")
            written.append(path)
        written.append(_listed(folder / _LISTS["tables"], listed))
    return written


@contextlib.contextmanager
def _folder(folder: Path) -> Iterator[None]:
    """The folder, created if needed; errors of the disk become one sentence."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise LabError(
            "the files cannot be written",
            where=str(folder),
            got=error.strerror,
            remedy="Name a folder that you can write to, with enough free space.",
        ) from error


def _listed(path: Path, entries: list[dict[str, Any]]) -> Path:
    path.write_text(json.dumps(entries, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return path


def _escaped(text: str) -> str:
    """Text that Markdown shows as it is: names of respondents come from strangers."""
    marked = re.sub(r"([\\`*_\[\]<>#|])", r"\\\1", " ".join(text.split()))
    return re.sub(r"^(\d+)([.)])", r"\1\\\2", marked)
