"""What changed between two labs, or between two dates of one."""

from empathylab.analysis.drift.analysis import DriftResult, from_lab, from_labs, from_tables

__all__ = ["DriftResult", "from_lab", "from_labs", "from_tables"]
