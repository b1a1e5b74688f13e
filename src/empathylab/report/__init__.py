"""What people take away: the HTML report."""

from empathylab.report.collect import ReportData, collect
from empathylab.report.html import render, write_page, write_report
from empathylab.report.sentences import cautions, findings

__all__ = [
    "ReportData",
    "cautions",
    "collect",
    "findings",
    "render",
    "write_page",
    "write_report",
]
