"""`empathylab report`: the results as one HTML file, and as figures and tables for a paper."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from empathylab.cli.examples import examples
from empathylab.cli.options import DEFAULT_LAB, JsonOption, LabOption, OpenOption, panel
from empathylab.cli.tables import print_json

if TYPE_CHECKING:
    from empathylab.report import LabOverview

EXAMPLE = examples(
    (
        "empathylab report --open",
        "writes the report and opens it.",
    ),
    (
        "empathylab report --figures figures --format pdf --width 84",
        "draws every figure for a column of a paper.",
    ),
)
_paper_option = panel("For a paper")


def report(
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
    open_report: OpenOption = False,
    figures: Annotated[
        Path | None,
        _paper_option(
            "Also write every figure to this folder, one file each, with a list in figures.json.",
            metavar="DIR",
        ),
    ] = None,
    style: Annotated[
        Literal["svg", "png", "pdf"], _paper_option("Format of the figures.", "--format")
    ] = "svg",
    width: Annotated[float, _paper_option("Width of the figures on paper.", metavar="MM")] = 160.0,
    tables: Annotated[
        Path | None,
        _paper_option(
            "Also write every table to this folder, as Markdown and LaTeX, with the paragraphs on "
            "methods and results.",
            metavar="DIR",
        ),
    ] = None,
) -> None:
    """Writes the report on everything in the lab."""
    from empathylab.analysis import overview
    from empathylab.report import write_report
    from empathylab.store import Lab

    with Lab.open_to_analyse(lab) as opened:
        data = overview.from_lab(opened)
        written_files = _write_for_paper(data, figures, style, width, tables)
        path = write_report(data, opened.reports)
    if json:
        paths = {"report": str(path)} | {
            name: [str(item) for item in written] for name, written in written_files.items()
        }
        print_json(paths)
    else:
        typer.echo(path)
        for name, folder in (("figures", figures), ("tables", tables)):
            if name in written_files:
                typer.echo(f"{len(written_files[name])} files in {folder}", err=True)
    if open_report:
        typer.launch(path.resolve().as_uri())


def _write_for_paper(
    data: LabOverview,
    figures: Path | None,
    style: Literal["svg", "png", "pdf"],
    width: float,
    tables: Path | None,
) -> dict[str, list[Path]]:
    """The paths of what was asked for besides the report."""
    from empathylab.report.paper import (
        report_figures,
        report_paragraphs,
        report_tables,
        write_figures,
        write_tables,
    )

    written: dict[str, list[Path]] = {}
    if figures is not None:
        drawn = report_figures(data)
        written["figures"] = write_figures(drawn, figures, style=style, width_mm=width)
    if tables is not None:
        written["tables"] = write_tables(report_tables(data), report_paragraphs(data), tables)
    return written
