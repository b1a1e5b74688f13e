"""Rated replies: arms compared, with the raters behind them."""

from empathylab.analysis.ratings.analysis import from_lab, from_table
from empathylab.analysis.ratings.result import RatingsResult

__all__ = ["RatingsResult", "from_lab", "from_table"]
