"""Two raters: Cohen's kappa, weighted or not, and Spearman's correlation."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from empathylab.errors import InputError
from empathylab.stats.agreement.bootstrap import interval
from empathylab.stats.agreement.coefficient import Coefficient, missing
from empathylab.stats.agreement.distances import Weights
from empathylab.stats.agreement.table import Spacing
from empathylab.stats.arrays import Array, Values, vector
from empathylab.stats.notes import note
from empathylab.stats.t_tests import t_margin, z_margin


def cohen_kappa(
    first: Values,
    second: Values,
    *,
    weights: Weights = "identity",
    spacing: Spacing = "values",
    clusters: Values | None = None,
    confidence: float = 0.95,
    resamples: int = 0,
    seed: int = 0,
) -> Coefficient:
    """Cohen's kappa of two raters' values, pair by pair.

    Agreement beyond that of two raters who answer at random, each with their own shares. With
    `linear` or `quadratic` weights a near miss counts less than a far one; categories differ by
    their `values` or, one step each among the values that occur, by `ranks`. Not comparable across
    samples whose categories are unevenly used.

    The interval is the large-sample one; with `resamples`, it comes from that many samples
    of pairs. With `clusters` (the situation of each pair, as numbers) pairs of one cluster may be
    alike: the standard error is linearised and summed over clusters, with Student's t on Fisher's z
    scale. A pair with a missing value is left out and counted in `dropped`. NaN, with a note, where
    both raters always give one and the same value; no large-sample interval where they agree
    perfectly.

    Cohen, J. (1968). Psychological Bulletin 70, 213–220. Fleiss, J. L., Cohen, J., & Everitt,
    B. S. (1969). Psychological Bulletin 72, 323–327 (standard error).
    """
    a, b, dropped = _paired(first, second)
    if len(a) == 0:
        return missing(note("no_shared_situation"), 0, dropped, confidence)
    cluster_ids = None if clusters is None else vector(clusters)[_whole(first, second)]
    categories = np.unique(np.concatenate([a, b]))
    places = np.arange(len(categories), dtype=np.float64) if spacing == "ranks" else categories
    distance = distances_between(places, weights)
    table = np.zeros(distance.shape)
    np.add.at(table, (np.searchsorted(categories, a), np.searchsorted(categories, b)), 1)
    estimate, se = kappa_of_table(table, distance)
    n = len(a)
    if math.isnan(estimate):
        return missing(note("constant_pair"), n, dropped, confidence)
    if resamples > 0:
        generator = np.random.default_rng(seed)
        drawn = generator.multinomial(n, table.ravel() / n, size=resamples)
        kappas = [kappa_of_table(item.reshape(table.shape), distance)[0] for item in drawn]
        low, high = interval(np.array(kappas), estimate, n, confidence)
        return Coefficient(estimate, low, high, n, dropped, confidence, "bootstrap over situations")
    if se <= 1e-9:
        return Coefficient(estimate, math.nan, math.nan, n, dropped, confidence)
    if cluster_ids is not None:
        codes = np.searchsorted(categories, a), np.searchsorted(categories, b)
        se, df = _clustered_error(table, distance, codes, cluster_ids)
        low, high = map(float, fisher_ends(estimate, t_margin(df, confidence) * se))
        return Coefficient(estimate, low, high, n, dropped, confidence, "large sample, clustered")
    margin = z_margin(confidence) * se
    ends = max(estimate - margin, -1.0), min(estimate + margin, 1.0)
    return Coefficient(estimate, *ends, n, dropped, confidence, "large sample")


def spearman(
    first: Values,
    second: Values,
    *,
    clusters: Values | None = None,
    confidence: float = 0.95,
    method: Literal["bonett-wright", "fisher"] = "bonett-wright",
) -> Coefficient:
    """Spearman's rank correlation of two raters' values, ties sharing their mean rank.

    Estimates how far two raters put situations in the same order; a rater who is stricter
    throughout loses nothing. The interval is on Fisher's z; `bonett-wright` widens its standard
    error to sqrt((1 + r²/2)/(n − 3)) as ranks need, `fisher` is the one for Pearson's r that papers
    often print. With `clusters`, as in `cohen_kappa`, so many pairs count as independent ones
    would be as certain. A pair with a missing value is left out and counted in `dropped`. NaN with
    fewer than 3 pairs (the interval: 4), or where either rater's values do not vary.

    Spearman, C. (1904). American Journal of Psychology 15, 72–101.
    Bonett, D. G., & Wright, T. A. (2000). Psychometrika 65, 23–28.
    """
    a, b, dropped = _paired(first, second)
    n = len(a)
    if n < 3 or np.ptp(a) == 0 or np.ptp(b) == 0:
        problem = note("few_pairs", n=n) if n < 3 else note("constant_rater")
        return missing(problem, n, dropped, confidence)
    x, y = (_standardised(_ranks(side)) for side in (a, b))
    estimate = float(np.clip((x * y).mean(), -1, 1))
    worth = np.array([float(n)])
    if clusters is not None:
        _, place = np.unique(vector(clusters)[_whole(first, second)], return_inverse=True)
        influence = rank_influence(x, y, estimate)
        sums = np.bincount(place, influence)
        counts = np.array([float(len(sums))])
        squares = np.array([float(influence @ influence)]), np.array([float(sums @ sums)])
        worth = effective_pairs(worth, *squares, counts, confidence)
    low, high = rank_interval(np.array([estimate]), worth, confidence, method=method)
    how = f"Fisher's z ({method}){', clustered' if clusters is not None else ''}"
    how = "none" if math.isnan(low[0]) else how
    return Coefficient(estimate, float(low[0]), float(high[0]), n, dropped, confidence, how)


def fisher_ends(estimate: float | Array, margin: float | Array) -> tuple[Array, Array]:
    """The interval of that margin on Fisher's z scale.

    On the scale of kappa itself the standard error falls as kappa rises, and intervals of few
    clusters miss low values too often.
    """
    z, reach = np.arctanh(estimate), np.asarray(margin) / (1 - np.asarray(estimate) ** 2)
    return np.tanh(z - reach), np.tanh(z + reach)


def rank_influence(a: Array, b: Array, r: float | Array) -> Array:
    """What each pair of standardised ranks adds to the error of their correlation."""
    return a * b - r * (a**2 + b**2) / 2


def effective_pairs(
    n: Array, single: Array, clustered: Array, clusters: Array, confidence: float
) -> Array:
    """How many independent pairs clustered ones are worth; twice as many as there are at most.

    By the sums of squares of single influences and of those of clusters, and by Student's t with
    as many degrees of freedom as clusters minus one. They seem to be worth more than there are in
    some studies by chance, as they seem to be worth too little in others: not to allow for it would
    make intervals too wide on average. The limit is for few clusters that are equal by chance.

    Korn, E. L., & Graubard, B. I. (1998). Survey Methodology 24, 193–201.
    """
    from scipy.special import ndtri, stdtrit

    point = (1 + confidence) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        effect = clustered * clusters / (clusters - 1) / single
        effect = np.where(single > 0, effect, n / clusters)
        worth = n / effect * (ndtri(point) / stdtrit(clusters - 1, point)) ** 2
    return np.where(clusters > 1, np.minimum(worth, 2 * n), np.nan)


def rank_interval(
    r: Array,
    n: NDArray[np.floating] | NDArray[np.integer],
    confidence: float,
    *,
    method: Literal["bonett-wright", "fisher"] = "bonett-wright",
) -> tuple[Array, Array]:
    """The intervals of Spearman correlations; NaN below 4 pairs and for r of 1 or −1."""
    inside = np.where((np.abs(r) < 1 - 1e-12) & (n > 3), r, np.nan)
    extra = 1 + inside**2 / 2 if method == "bonett-wright" else np.ones_like(inside)
    margin = z_margin(confidence) * np.sqrt(extra / np.maximum(n - 3, 1))
    centre = np.arctanh(inside)
    return np.tanh(centre - margin), np.tanh(centre + margin)


def distances_between(places: Array, weights: Weights) -> Array:
    """The disagreement of each pair of categories."""
    distance = np.abs(np.subtract.outer(places, places))
    if weights == "identity":
        return (distance > 0).astype(np.float64)
    return distance if weights == "linear" else distance**2


def kappa_of_table(table: NDArray[np.floating], distance: Array) -> tuple[float, float]:
    """Kappa and its large-sample standard error, from counts of each pair of categories."""
    n = table.sum()
    shares = table / n
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    observed = float((shares * distance).sum())
    expected = float(rows @ distance @ columns)
    if expected <= 1e-300:
        return math.nan, math.nan
    ratio = observed / expected
    by_row, by_column = distance @ columns, rows @ distance
    parts = distance - ratio * (by_row[:, None] + by_column)
    variance = (float((shares * parts**2).sum()) - observed**2) / (n * expected**2)
    return 1 - ratio, math.sqrt(max(variance, 0.0))


def _clustered_error(
    table: Array, distance: Array, codes: tuple[NDArray[np.intp], NDArray[np.intp]], clusters: Array
) -> tuple[float, float]:
    """Kappa's standard error from the sums of each cluster's influence, and degrees of freedom."""
    shares = table / table.sum()
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    observed, expected = float((shares * distance).sum()), float(rows @ distance @ columns)
    by_row, by_column = distance @ columns, rows @ distance
    parts = distance[codes] - observed / expected * (by_row[codes[0]] + by_column[codes[1]])
    _, place = np.unique(clusters, return_inverse=True)
    sums = np.bincount(place, parts + observed)
    count = len(sums)
    if count < 2:
        return math.inf, 0.0
    variance = count / (count - 1) * float(sums @ sums) / (table.sum() * expected) ** 2
    return math.sqrt(variance), count - 1.0


def _ranks(values: Array) -> Array:
    """Ranks but for a constant; equal values share their mean rank."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - counts / 2)[place])


def _standardised(values: Array) -> Array:
    return np.asarray((values - values.mean()) / values.std())


def _paired(first: Values, second: Values) -> tuple[Array, Array, int]:
    a, b = vector(first), vector(second)
    if len(a) != len(b):
        raise InputError(
            "both raters need a value for each situation",
            got=f"{len(a)} and {len(b)} values",
            remedy="Join the two on the situation first; leave gaps as missing values.",
        )
    whole = _whole(first, second)
    return a[whole], b[whole], int((~whole).sum())


def _whole(first: Values, second: Values) -> NDArray[np.bool_]:
    return np.isfinite(vector(first)) & np.isfinite(vector(second))
