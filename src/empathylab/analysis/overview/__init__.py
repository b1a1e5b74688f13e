"""The whole lab in one result: who was measured, and what the main findings are."""

from empathylab.analysis.overview.collect import LabOverview, from_lab, of_runs

__all__ = ["LabOverview", "from_lab", "of_runs"]
