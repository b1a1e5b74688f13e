"""Scales before and after situations, compared with people."""

from empathylab.analysis.appraisal.analysis import from_lab, from_table
from empathylab.analysis.appraisal.result import AppraisalResult

__all__ = ["AppraisalResult", "from_lab", "from_table"]
