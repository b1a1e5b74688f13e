"""The bias-reduced covariance CR2 of least squares with clusters, and its degrees of freedom.

Each cluster's residuals are multiplied by the inverse square root of what their covariance would
be if rows were independent, so that the covariance is unbiased in that case. The degrees of
freedom of a contrast are Satterthwaite's: those of a chi-square with the same first two moments
under independence.

Bell, R. M., & McCaffrey, D. F. (2002). Survey Methodology 28, 169–181.
Pustejovsky, J. E., & Tipton, E. (2018). Journal of Business & Economic Statistics 36, 672–683.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from empathylab.stats.arrays import Array, Codes

_WHOLE = 1e-9
"""1 less the leverage below which a cluster's residuals say nothing."""


@dataclass(frozen=True, slots=True)
class BiasReduced:
    """CR2 for one way of clustering."""

    covariance: Array
    clusters: int
    whole: int
    """Clusters with leverage 1: their residuals are zero whatever the data, so they add nothing."""
    _inverse: Array
    _squares: Array
    _sums: Array
    """Per cluster, X'A X: clusters × columns × columns."""
    _weighted: Array
    """Per cluster, X'W A W X."""
    _own: Array
    """Per cluster, X'W A A W X."""

    def degrees(self, contrast: Array) -> float:
        """Satterthwaite's degrees of freedom of a combination of coefficients; NaN without any."""
        along = self._inverse @ contrast
        own = np.einsum("i,gij,j->g", along, self._own, along)
        sums, weighted = self._sums @ along, self._weighted @ along
        both = np.concatenate([sums, weighted], axis=1)
        size = len(contrast)
        middle = np.zeros((2 * size, 2 * size))
        middle[:size, :size] = self._squares
        middle[:size, size:] = middle[size:, :size] = -self._inverse
        diagonal = np.einsum("gi,ij,gj->g", both, middle, both)
        gram = middle @ (both.T @ both)
        total = float((own + diagonal).sum())
        squares = float(own @ own + 2 * own @ diagonal + np.trace(gram @ gram))
        return total**2 / squares if squares > 0 and total > 0 else float("nan")


def bias_reduced(x: Array, residual: Array, codes: Codes, weight: Array | None) -> BiasReduced:
    """CR2 of the coefficients of (weighted) least squares, given its residuals.

    Rows are taken as independent with equal variance for the correction, whatever the weights.
    """
    labels, place = np.unique(codes, return_inverse=True)
    count = len(labels)
    own = x if weight is None else x * weight[:, None]
    inverse: Array = np.asarray(np.linalg.inv(x.T @ own), dtype=np.float64)
    squares = inverse @ (own.T @ own) @ inverse
    if weight is None:
        adjusted, whole = _adjusted(x, place, count, inverse)
    else:
        adjusted, whole = _adjusted_weighted(x, weight, place, count, inverse, squares)
    scores = _per_cluster(adjusted * residual[:, None], place, count)
    middle = scores.T @ scores
    return BiasReduced(
        covariance=np.asarray(inverse @ middle @ inverse),
        clusters=count,
        whole=whole,
        _inverse=inverse,
        _squares=squares,
        _sums=_products(x, adjusted, place, count),
        _weighted=_products(own, adjusted, place, count),
        _own=_products(adjusted, adjusted, place, count),
    )


def _adjusted(x: Array, place: Codes, count: int, inverse: Array) -> tuple[Array, int]:
    """A X of every cluster.

    I − X M X' differs from I only within the range of X, so one small eigenproblem per cluster
    does, whatever its size.
    """
    root = np.linalg.cholesky(inverse)
    turned = x @ root
    values, vectors = np.linalg.eigh(_products(turned, turned, place, count))
    left = 1 - values
    kept = left > _WHOLE
    factor = np.where(kept, 1 / np.sqrt(np.where(kept, left, 1.0)), 0.0)
    matrix = np.einsum("gij,gj,gkj->gik", vectors, factor, vectors)
    adjusted = np.einsum("ni,nij->nj", turned, matrix[place]) @ np.linalg.inv(root)
    return np.asarray(adjusted), int((~kept).any(axis=1).sum())


def _adjusted_weighted(
    x: Array, weight: Array, place: Codes, count: int, inverse: Array, squares: Array
) -> tuple[Array, int]:
    """A W X of every cluster, from its whole matrix."""
    adjusted, whole = np.empty_like(x), 0
    for number in range(count):
        rows = np.flatnonzero(place == number)
        own = x[rows]
        hat = own @ inverse @ (own * weight[rows, None]).T
        block = np.eye(len(rows)) - hat - hat.T + own @ squares @ own.T
        values, vectors = np.linalg.eigh(block)
        kept = values > _WHOLE
        whole += int(not kept.all())
        half = vectors[:, kept] / np.sqrt(values[kept])
        adjusted[rows] = half @ (vectors[:, kept].T @ (own * weight[rows, None]))
    return adjusted, whole


def _per_cluster(values: Array, place: Codes, count: int) -> Array:
    return np.column_stack([np.bincount(place, column, minlength=count) for column in values.T])


def _products(array: Array, two: Array, place: Codes, count: int) -> Array:
    """Per cluster, the cross-products of two matrices' columns."""
    width = array.shape[1]
    products = np.empty((count, width, width))
    for a in range(width):
        for b in range(width):
            products[:, a, b] = np.bincount(place, array[:, a] * two[:, b], minlength=count)
    return products
