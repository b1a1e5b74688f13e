"""The statistics, on plain frames and arrays; they know no lab, no model and no web."""

from empathylab.stats.means import MeanDifference, mean_difference

__all__ = ["MeanDifference", "mean_difference"]
