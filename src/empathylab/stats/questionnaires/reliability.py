"""How reliable a scale's scores are: internal consistency and agreement over time."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from empathylab.stats.agreement.icc import intraclass_correlations
from empathylab.stats.arrays import Array, Values, vector
from empathylab.stats.intervals import percentile_interval
from empathylab.stats.notes import Note, note
from empathylab.stats.t_tests import z_margin

Items = pl.DataFrame | NDArray[np.floating] | NDArray[np.integer]

_MIN_ROWS = 3
"""Rows below which nothing is estimated: with two, every correlation is 1 or −1."""
_NO_VARIANCE = 1e-12
"""Variance, relative to the values' size, that is no more than the error of floating point."""


@dataclass(frozen=True, slots=True)
class Reliability:
    """The reliability of a sum of items, with its interval."""

    estimate: float
    """NaN where it is not defined; `notes` say why."""
    low: float
    """Lower end of the interval; NaN where it is undefined."""
    high: float
    n: int
    """Rows used."""
    k: int
    """Items used."""
    dropped: int
    """Rows left out because an answer was missing."""
    confidence: float
    notes: tuple[Note, ...] = ()
    """Why there is no estimate, or what it leaves out."""


@dataclass(frozen=True, slots=True)
class Correlation:
    """Agreement between two administrations of the same items."""

    estimate: float
    """Pearson's r; NaN where either side does not vary."""
    low: float
    """Lower end of the interval; NaN where it is undefined."""
    high: float
    n: int
    """Pairs used."""
    icc: float
    """ICC(2,1): like r, but lowered where one side is higher than the other."""
    dropped: int
    """Pairs left out because a value was missing."""
    confidence: float


def cronbach_alpha(items: Items, *, confidence: float = 0.95) -> Reliability:
    """Cronbach's alpha of the items' sum, with Feldt's interval.

    Estimates the proportion of the sum's variance that is not error, if every item measures the
    same thing equally well; otherwise it is a lower bound (given uncorrelated errors). Rows are
    administrations (or people), columns are items, already turned where they are reversed.
    Not for items about different things, nor for rows that differ by error only (repeats of one
    situation): there is nothing to be consistent about, and alpha is near 0. The interval takes
    rows as independent and normal; repeats among the rows make it too narrow.

    A row with a missing answer is left out whole and counted in `dropped`. NaN with fewer than 3
    rows, fewer than 2 items, or a sum that does not vary. May be negative.

    Cronbach, L. J. (1951). Psychometrika 16, 297–334.
    Feldt, L. S., Woodruff, D. J., & Salih, F. A. (1987). Applied Psychological Measurement 11,
    93–103.
    """
    rows, dropped = _complete(items)
    n, k = rows.shape
    problem = _problem(rows, fewest_items=2)
    if problem:
        return Reliability(math.nan, math.nan, math.nan, n, k, dropped, confidence, (problem,))
    from scipy.special import fdtri

    total = rows.sum(axis=1).var(ddof=1)
    estimate = float(k / (k - 1) * (1 - rows.var(axis=0, ddof=1).sum() / total))
    tail, df = (1 - confidence) / 2, (n - 1, (n - 1) * (k - 1))
    low = 1 - (1 - estimate) * float(fdtri(*df, 1 - tail))
    high = 1 - (1 - estimate) * float(fdtri(*df, tail))
    return Reliability(estimate, low, high, n, k, dropped, confidence)


def mcdonald_omega(
    items: Items, *, confidence: float = 0.95, resamples: int = 0, seed: int = 0
) -> Reliability:
    """McDonald's omega total of the items' sum, from a one-factor model.

    Estimates the proportion of the sum's variance that a single common factor explains,
    (Σλ)² / ((Σλ)² + Σψ), where items may measure it unequally well. The model is fitted to the
    correlations by minimum residuals (unweighted least squares off the diagonal), which, unlike
    maximum likelihood, also works with more items than rows and with items that always agree;
    loadings are then brought back to the items' own spread. Not where the items have several
    factors: the model is wrong then. Rows and columns as for `cronbach_alpha`.

    The interval is NaN unless `resamples` is given: then it holds the percentiles of that many
    bootstrap samples of rows, without those that have no estimate.

    A row with a missing answer is left out whole and counted in `dropped`. An item that everybody
    answers the same adds nothing to the sum's variance and is left out, with a note. NaN, with a
    note, with fewer than 3 rows or 3 varying items, where the fit does not converge, and where an
    item would share all its variance or more with the factor (a Heywood case).

    McDonald, R. P. (1999). Test theory: A unified treatment. Erlbaum.
    Harman, H. H., & Jones, W. H. (1966). Psychometrika 31, 351–368.
    """
    rows, dropped = _complete(items)
    varying = rows[:, _varies(rows)]
    n, k = varying.shape
    constant = rows.shape[1] - k
    left_out = (note("constant_items", constant=constant, items=rows.shape[1]),) if constant else ()
    problem = _problem(varying, fewest_items=3)
    if problem:
        notes = (problem, *left_out)
        return Reliability(math.nan, math.nan, math.nan, n, k, dropped, confidence, notes)
    estimate, failure = _omega(varying)
    low, high = math.nan, math.nan
    if not failure and resamples > 0:
        low, high = _bootstrap(varying, confidence, resamples, seed)
    notes = (*((failure,) if failure else ()), *left_out)
    return Reliability(estimate, low, high, n, k, dropped, confidence, notes)


def retest_correlation(first: Values, second: Values, *, confidence: float = 0.95) -> Correlation:
    """Pearson's correlation of two administrations, with Fisher's interval, and ICC(2,1).

    Estimates how far the same question, asked again, gets the same answer. r ignores a shift or
    stretch between the two; `icc` (absolute agreement, single answer, two-way random) does not.
    Not for values that hardly differ among themselves: little spread makes both low, however
    steady the answers are. The interval takes pairs as independent; answers from one
    administration are not quite, so it is then too narrow.

    A pair with a missing value is left out and counted in `dropped`. NaN with fewer than 3 pairs
    (the interval: 4) or where either side does not vary; the ICC needs variation somewhere.

    Fisher, R. A. (1921). Metron 1, 3–32.
    Shrout, P. E., & Fleiss, J. L. (1979). Psychological Bulletin 86, 420–428.
    """
    a, b = vector(first), vector(second)
    if len(a) != len(b):
        raise ValueError(f"both sides need the same length; got {len(a)} and {len(b)}")
    pairs, dropped = _complete(np.column_stack([a, b]))
    n = len(pairs)
    icc = intraclass_correlations(pairs).icc2.estimate if n >= _MIN_ROWS else math.nan
    if n < _MIN_ROWS or not _varies(pairs).all():
        return Correlation(math.nan, math.nan, math.nan, n, icc, dropped, confidence)
    estimate = float(np.clip(np.corrcoef(*pairs.T)[0, 1], -1, 1))
    low, high = math.nan, math.nan
    if n > _MIN_ROWS:
        margin = z_margin(confidence) / math.sqrt(n - 3)
        with np.errstate(divide="ignore"):
            centre = np.arctanh(estimate)
        low, high = float(np.tanh(centre - margin)), float(np.tanh(centre + margin))
    return Correlation(estimate, low, high, n, icc, dropped, confidence)


def _complete(items: Items) -> tuple[Array, int]:
    """Rows without a missing value, and how many others there were."""
    if isinstance(items, pl.DataFrame):
        items = items.select(pl.all().cast(pl.Float64)).to_numpy()
    rows = np.asarray(items, dtype=np.float64)
    if rows.ndim != 2:
        raise ValueError(f"items must have rows and columns; got {rows.ndim} dimension(s)")
    whole = np.isfinite(rows).all(axis=1)
    return rows[whole], int((~whole).sum())


def _varies(rows: Array) -> NDArray[np.bool_]:
    """Which columns hold more than one value."""
    if len(rows) == 0:
        return np.zeros(rows.shape[1], dtype=np.bool_)
    return np.asarray(np.ptp(rows, axis=0) > 0)


def _problem(rows: Array, *, fewest_items: int) -> Note | None:
    """Why a sum of these items has no reliability."""
    n, k = rows.shape
    if k < fewest_items:
        return note("few_items", items=k, needed=fewest_items)
    if n < _MIN_ROWS:
        return note("few_complete_rows", rows=n, needed=_MIN_ROWS)
    size = max(float(np.abs(rows).max()) * k, 1e-300)
    if rows.sum(axis=1).var(ddof=1) <= _NO_VARIANCE * size**2:
        return note("constant_sum")
    return None


def _omega(rows: Array) -> tuple[float, Note | None]:
    """Omega total, or the reason why it is undefined."""
    spread = rows.std(axis=0, ddof=1)
    loadings = _one_factor(np.atleast_2d(np.corrcoef(rows, rowvar=False)))
    if loadings is None:
        return math.nan, note("factor_not_converged")
    if (np.abs(loadings) >= 1 - 1e-6).any():
        return math.nan, note("heywood_case")
    common = float((loadings * spread).sum()) ** 2
    unique = float(((1 - loadings**2) * spread**2).sum())
    return common / (common + unique), None


def _one_factor(correlations: Array) -> Array | None:
    """Loadings that leave the least squared residuals off the diagonal; None without a fit."""
    from scipy.optimize import minimize

    def residuals(loadings: Array) -> tuple[float, Array]:
        left = correlations - np.outer(loadings, loadings)
        np.fill_diagonal(left, 0)
        return float((left**2).sum()) / 2, -2 * left @ loadings

    values, vectors = np.linalg.eigh(correlations)
    start = vectors[:, -1] * math.sqrt(values[-1])
    fit = minimize(
        residuals,
        start * 0.9,  # inside the bound of 1 that a first component can touch
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 1000, "ftol": 1e-14, "gtol": 1e-8},
    )
    return np.asarray(fit.x, dtype=np.float64) if fit.success else None


def _bootstrap(rows: Array, confidence: float, resamples: int, seed: int) -> tuple[float, float]:
    generator = np.random.default_rng(seed)
    estimates = []
    for _ in range(resamples):
        sample = rows[generator.integers(len(rows), size=len(rows))]
        if _varies(sample).all() and not _problem(sample, fewest_items=3):
            estimates.append(_omega(sample)[0])
    return percentile_interval(estimates, confidence)
