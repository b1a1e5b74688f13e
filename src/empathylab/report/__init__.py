"""What people take away: the HTML report."""

from empathylab.analysis.overview.collect import ReportData, collect
from empathylab.analysis.overview.prose import Tile, cautions, tiles
from empathylab.report.page import render, write_page, write_report

__all__ = [
    "ReportData",
    "Tile",
    "cautions",
    "collect",
    "render",
    "tiles",
    "write_page",
    "write_report",
]
