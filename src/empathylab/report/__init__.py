"""What people take away: the HTML report."""

from empathylab.report.collect import ReportData, collect
from empathylab.report.html import render, write_page, write_report
from empathylab.report.sentences import Tile, cautions, tiles

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
