"""What people take away: the HTML report."""

from empathylab.analysis.overview import LabOverview
from empathylab.analysis.overview import from_lab as collect
from empathylab.report.page import render, write_report

__all__ = ["LabOverview", "collect", "render", "write_report"]
