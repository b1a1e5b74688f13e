"""Variances of sums whose terms share a rater or a situation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from empathylab.stats.arrays import Array, Codes
from empathylab.stats.estimates import Estimate
from empathylab.stats.t_tests import t_margin


class Regression(NamedTuple):
    """Coefficients of a least-squares fit with cluster-robust covariance."""

    coefficients: Array
    covariance: Array
    df: int


def cluster_codes(labels: pl.Series) -> Codes:
    """A number for each distinct label; a missing label is a cluster of its own."""
    codes = labels.cast(pl.String).rank("dense").cast(pl.Int64)
    alone = pl.Series(np.arange(len(labels), 2 * len(labels)))
    return codes.zip_with(codes.is_not_null(), alone).to_numpy().astype(np.int64)


def cluster_ways(frame: pl.DataFrame, *columns: str | None) -> list[Codes]:
    """The cluster codes of each column; None is no way of clustering."""
    return [cluster_codes(frame[column]) for column in columns if column is not None]


def crossed_codes(first: Codes, second: Codes) -> Codes:
    """A number for each pair of clusters of two ways."""
    _, outer = np.unique(first, return_inverse=True)
    _, inner = np.unique(second, return_inverse=True)
    return np.asarray(outer * (int(inner.max(initial=0)) + 1) + inner)


def cluster_covariance(scores: Array, clusters: Sequence[Codes], *, adjust: bool = True) -> Array:
    """The covariance of the columns' sums, where rows of one cluster may be correlated.

    Without clusters rows count as independent. With two, the covariance is that of the first plus
    that of the second minus that of their intersection, each times G/(G − 1) for its G clusters
    unless `adjust` is off. Such a difference need not be a covariance; where it is not, the larger
    of the two one-way ones takes its place, which errs on the wide side.

    Liang, K.-Y., & Zeger, S. L. (1986). Biometrika 73, 13–22. Cameron, A. C., Gelbach, J. B., &
    Miller, D. L. (2011). Journal of Business & Economic Statistics 29, 238–249.
    """
    if len(clusters) > 2:
        raise ValueError("at most two ways of clustering")
    if not clusters:
        return _one_way(scores, np.arange(len(scores)), adjust=adjust)
    ways = [_one_way(scores, codes, adjust=adjust) for codes in clusters]
    if len(ways) == 1:
        return ways[0]
    both = _one_way(scores, crossed_codes(*clusters), adjust=adjust)
    combined = ways[0] + ways[1] - both
    smallest = float(np.linalg.eigvalsh(combined)[0])
    if smallest > 1e-12 * float(np.trace(ways[0] + ways[1])):
        return np.asarray(combined)
    return max(ways, key=lambda way: float(np.trace(way)))


def fewest_clusters(rows: int, clusters: Sequence[Codes]) -> int:
    """The smallest number of clusters of any way; the rows where there is no way."""
    return min((len(np.unique(codes)) for codes in clusters), default=rows)


def clustered_mean(values: Array, clusters: Sequence[Codes], confidence: float) -> Estimate:
    """The mean, with Student's interval for values that are correlated within clusters."""
    n = len(values)
    estimate = float(values.mean())
    fewest = fewest_clusters(n, clusters)
    if fewest < 2:
        return Estimate(estimate)
    scores = ((values - estimate) / n)[:, None]
    se = math.sqrt(float(cluster_covariance(scores, clusters)[0, 0]))
    margin = t_margin(fewest - 1, confidence) * se
    return Estimate(estimate, estimate - margin, estimate + margin)


def least_squares(design: Array, outcome: Array, clusters: Sequence[Codes]) -> Regression:
    """The least-squares coefficients with their cluster-robust covariance.

    Degrees of freedom are the fewest clusters minus one. Raises LinAlgError where columns of the
    design depend on each other.
    """
    inverse = np.linalg.inv(design.T @ design)
    coefficients = inverse @ design.T @ outcome
    scores = design * (outcome - design @ coefficients)[:, None]
    middle = cluster_covariance(scores, clusters)
    df = fewest_clusters(len(outcome), clusters) - 1
    return Regression(coefficients, inverse @ middle @ inverse, df)


def _one_way(scores: Array, codes: Codes, *, adjust: bool) -> Array:
    labels, place = np.unique(codes, return_inverse=True)
    groups = len(labels)
    sums = np.column_stack([np.bincount(place, column, minlength=groups) for column in scores.T])
    factor = groups / (groups - 1) if adjust and groups > 1 else 1.0
    return np.asarray(factor * sums.T @ sums)
