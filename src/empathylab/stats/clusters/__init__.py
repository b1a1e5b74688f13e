"""Inference where rows share a rater, a situation or a reply: CR2, two ways, paired units."""

from empathylab.stats.clusters.differences import clustered_mean_difference
from empathylab.stats.clusters.paired import PairedDifference, paired_difference
from empathylab.stats.clusters.regression import ClusteredRegression, clustered_regression

__all__ = [
    "ClusteredRegression",
    "PairedDifference",
    "clustered_mean_difference",
    "clustered_regression",
    "paired_difference",
]
