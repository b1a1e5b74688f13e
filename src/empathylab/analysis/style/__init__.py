"""How respondents write, from a lab or a table."""

from empathylab.analysis.style.analysis import from_lab, from_table
from empathylab.analysis.style.estimates import Depth
from empathylab.analysis.style.result import StyleResult

__all__ = ["Depth", "StyleResult", "from_lab", "from_table"]
