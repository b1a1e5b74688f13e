"""The six intraclass correlations of Shrout and Fleiss, with F-based intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from empathylab.stats.agreement.bootstrap import Statistic, cached, resampled_intervals
from empathylab.stats.agreement.coefficient import Coefficient, missing
from empathylab.stats.arrays import Array, Codes
from empathylab.stats.notes import Note, note

_FORMS = ("icc1", "icc2", "icc3")


@dataclass(frozen=True, slots=True)
class IntraclassCorrelations:
    """All six forms: of one rating, and of the mean of the raters (`k`)."""

    icc1: Coefficient
    """ICC(1,1): each situation has other raters."""
    icc2: Coefficient
    """ICC(2,1): the same raters, drawn from many; differences in level count as error."""
    icc3: Coefficient
    """ICC(3,1): the same raters, the only ones of interest; differences in level do not count."""
    icc1k: Coefficient
    icc2k: Coefficient
    icc3k: Coefficient
    n_raters: int


def intraclass_correlations(
    ratings: Array,
    *,
    confidence: float = 0.95,
    clusters: Codes | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> IntraclassCorrelations:
    """The six intraclass correlations of a table of situations (rows) by raters (columns).

    Each estimates the proportion of the ratings' variance that lies between situations. Intervals
    take ratings as normal and rows as independent; with `clusters` (one number per row) they come
    from resampled clusters instead, and hold for these raters. A row with a gap (NaN) is left out
    and counted in `dropped`; for many gaps see `variance_components`. NaN, with a note, with fewer
    than 2 rows or raters, or where nothing varies. May be negative. Where raters agree exactly the
    estimate is 1, and there is no interval.

    Shrout, P. E., & Fleiss, J. L. (1979). Psychological Bulletin 86, 420–428.
    McGraw, K. O., & Wong, S. P. (1996). Psychological Methods 1, 30–46 (interval of ICC(2,·)).
    """
    ratings = np.asarray(ratings, dtype=np.float64)
    whole = np.isfinite(ratings).all(axis=1)
    rows, dropped = ratings[whole], int((~whole).sum())
    n, k = rows.shape
    problem = _problem(rows)
    if problem:
        none = missing(problem, n, dropped, confidence)
        return IntraclassCorrelations(none, none, none, none, none, none, k)
    squares = _mean_squares(rows)
    ends = [
        _by_ratio(squares, squares.within, n * (k - 1), confidence),
        _agreement(squares, confidence),
        _by_ratio(squares, squares.rest, (n - 1) * (k - 1), confidence),
    ]
    if clusters is not None:
        _, own = np.unique(clusters[whole], return_inverse=True)
        resampled = resampled_intervals(
            _resampled(rows),
            n,
            resamples=resamples,
            seed=seed,
            confidence=confidence,
            clusters=own,
            limits=dict.fromkeys(_FORMS, (-1 / (k - 1), 1.0)),
        )
        ends = [(triple[0], *resampled[name]) for name, triple in zip(_FORMS, ends, strict=True)]

    def coefficient(triple: tuple[float, float, float], *, mean: bool) -> Coefficient:
        estimate, low, high = (_stepped_up(item, k) if mean else item for item in triple)
        how = "none"
        if math.isfinite(low):
            how = "F" if clusters is None else "bootstrap over clusters"
        problem = note("constant_situations") if estimate != estimate else None
        return Coefficient(estimate, low, high, n, dropped, confidence, how, problem)

    one, two, three = (coefficient(triple, mean=False) for triple in ends)
    one_k, two_k, three_k = (coefficient(triple, mean=True) for triple in ends)
    return IntraclassCorrelations(one, two, three, one_k, two_k, three_k, k)


@dataclass(frozen=True, slots=True)
class _Squares:
    n: int
    k: int
    rows: float
    columns: float
    within: float
    rest: float


def _problem(rows: Array) -> Note | None:
    n, k = rows.shape
    if k < 2:
        return note("one_rater") if k == 1 else note("no_raters")
    if n < 2:
        return note("few_complete_situations", n=n)
    return note("no_variance") if np.ptp(rows) == 0 else None


def _mean_squares(rows: Array) -> _Squares:
    n, k = rows.shape
    means, columns, mean = rows.mean(axis=1), rows.mean(axis=0), rows.mean()
    between = k * ((means - mean) ** 2).sum() / (n - 1)
    across = n * ((columns - mean) ** 2).sum() / (k - 1)
    within = ((rows - means[:, None]) ** 2).sum() / (n * (k - 1))
    rest = ((rows - means[:, None] - columns + mean) ** 2).sum() / ((n - 1) * (k - 1))
    size = float(np.ptp(rows)) ** 2
    # Sums of squares that are zero but for the error of floating point.
    tidy = [0.0 if item < 1e-14 * size else float(item) for item in (between, across, within, rest)]
    return _Squares(n, k, *tidy)


def _resampled(rows: Array) -> dict[str, Statistic]:
    """The three forms for one rating, of resampled rows."""
    k = rows.shape[1]
    means = rows.mean(axis=1)
    within = ((rows - means[:, None]) ** 2).sum(axis=1)

    def squares(draws: Array) -> Array:
        n = draws.sum(axis=1)
        mean, columns = draws @ means / n, draws @ rows / n[:, None]
        across = n * ((columns - mean[:, None]) ** 2).sum(axis=1)
        inside = draws @ within
        between = k * (draws @ means**2 - n * mean**2) / (n - 1)
        rest = (inside - across) / ((n - 1) * (k - 1))
        return np.stack([n, between, across / (k - 1), inside / (n * (k - 1)), rest])

    shared = cached(squares)

    def form(name: str) -> Statistic:
        def statistic(draws: Array) -> Array:
            n, between, across, inside, rest = shared(draws)
            error = inside if name == "icc1" else rest
            level = k * (across - rest) / n if name == "icc2" else 0.0
            total = between + (k - 1) * error + level
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.asarray((between - error) / np.where(total > 0, total, np.nan))

        return statistic

    return {name: form(name) for name in _FORMS}


def _stepped_up(icc: float, k: int) -> float:
    """The reliability of the mean of k ratings (Spearman–Brown)."""
    below = 1 + (k - 1) * icc
    return k * icc / below if below > 0 else -math.inf


def _by_ratio(
    s: _Squares, error: float, df_error: int, confidence: float
) -> tuple[float, float, float]:
    """ICC(1,1) and ICC(3,1), from the ratio of the situations' mean square to the error's."""
    from scipy.special import fdtri

    if error == 0:
        return (1.0, math.nan, math.nan) if s.rows > 0 else (math.nan, math.nan, math.nan)
    estimate = (s.rows - error) / (s.rows + (s.k - 1) * error)
    ratio, df, tail = s.rows / error, s.n - 1, (1 - confidence) / 2
    low = ratio / float(fdtri(df, df_error, 1 - tail))
    high = ratio * float(fdtri(df_error, df, 1 - tail))
    return estimate, (low - 1) / (low + s.k - 1), (high - 1) / (high + s.k - 1)


def _agreement(s: _Squares, confidence: float) -> tuple[float, float, float]:
    from scipy.special import fdtri

    n, k = s.n, s.k
    total = s.rows + (k - 1) * s.rest + k * (s.columns - s.rest) / n
    # Two raters who contradict each other on two situations leave nothing to divide by.
    if total <= 1e-14 * (s.rows + s.columns + s.rest):
        return math.nan, math.nan, math.nan
    estimate = (s.rows - s.rest) / total
    if s.rest == 0:
        return estimate, math.nan, math.nan
    ratio = s.columns / s.rest
    spread = n * (1 + (k - 1) * estimate) - k * estimate
    above = (k - 1) * (n - 1) * (k * estimate * ratio + spread) ** 2
    below = (n - 1) * k**2 * estimate**2 * ratio**2 + spread**2
    # Means that differ neither between situations nor between raters leave no degree of freedom.
    if below <= 1e-20 * n**2:
        return estimate, math.nan, math.nan
    df, point = above / below, 1 - (1 - confidence) / 2
    lower, upper = float(fdtri(n - 1, df, point)), float(fdtri(df, n - 1, point))
    error = k * s.columns + (k * n - k - n) * s.rest
    low = n * (s.rows - lower * s.rest) / (lower * error + n * s.rows)
    high = n * (upper * s.rows - s.rest) / (error + n * upper * s.rows)
    return estimate, low, high
