"""Final feelings of conversations: means and differences over personas, agreement of simulators."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from empathylab.stats.arguments import without_gaps
from empathylab.stats.arrays import Array, ranks
from empathylab.stats.clusters import robust
from empathylab.stats.clusters.robust import cluster_codes
from empathylab.stats.estimates import Estimate
from empathylab.stats.intervals import percentile_interval
from empathylab.stats.t_tests import satterthwaite_df, t_test

_MIN_RANKED = 3


class ClusteredMean(NamedTuple):
    """A mean over conversations, with an interval that treats a persona's as one cluster."""

    estimate: float
    low: float
    high: float
    n: int
    clusters: int


def clustered_mean(
    values: ArrayLike, clusters: Sequence[object], *, confidence: float = 0.95
) -> ClusteredMean:
    """The mean with a t interval over clusters; with one value each it is the usual t interval.

    NaN ends below two clusters or where nothing varies: the interval is then not defined.
    """
    y = np.asarray(values, dtype=np.float64)
    if not len(y):
        return ClusteredMean(math.nan, math.nan, math.nan, 0, 0)
    codes = cluster_codes(pl.Series([str(cluster) for cluster in clusters]))
    mean = robust.clustered_mean(y, [codes], confidence)
    if mean.low == mean.high:
        # What does not vary at all says nothing about how it would vary with other personas.
        mean = Estimate(mean.estimate)
    return ClusteredMean(*mean, len(y), len(np.unique(codes)))


@dataclass(frozen=True, slots=True)
class MeanDifference:
    """The mean of one group of conversations minus that of another."""

    estimate: float
    low: float
    high: float
    p: float
    df: float
    n: int
    """Personas that were compared; of both groups together where they share none."""
    paired: bool


def persona_difference(
    first: Mapping[str, float], second: Mapping[str, float], *, confidence: float = 0.95
) -> MeanDifference:
    """The difference of persona means: paired where two personas or more are shared, else Welch's.

    NaN where either side has too few personas or nothing varies.
    """
    shared = sorted(set(first) & set(second))
    if len(shared) >= 2:
        d = np.array([first[name] - second[name] for name in shared])
        se, df, n = float(d.std(ddof=1)) / math.sqrt(len(d)), float(len(d) - 1), len(d)
        return _difference(float(d.mean()), se, df, n, True, confidence)
    a, b = (np.array(list(item.values()), dtype=np.float64) for item in (first, second))
    n = len(a) + len(b)
    if min(len(a), len(b)) < 2:
        estimate = float(a.mean() - b.mean()) if len(a) and len(b) else math.nan
        return MeanDifference(estimate, math.nan, math.nan, math.nan, math.nan, n, False)
    parts = [float(item.var(ddof=1)) / len(item) for item in (a, b)]
    df = satterthwaite_df(zip(parts, (len(a) - 1, len(b) - 1), strict=True))
    return _difference(float(a.mean() - b.mean()), math.sqrt(sum(parts)), df, n, False, confidence)


def _difference(
    estimate: float, se: float, df: float, n: int, paired: bool, confidence: float
) -> MeanDifference:
    test = t_test(estimate, se, df, confidence)
    return MeanDifference(estimate, test.low, test.high, test.p, df, n, paired)


@dataclass(frozen=True, slots=True)
class RankAgreement:
    """How far two simulators or more put respondents in the same order."""

    correlation: float
    """Spearman's, averaged over the pairs of simulators that share three respondents or more."""
    low: float
    high: float
    """Ends of the percentile bootstrap over personas."""
    pairs: int
    respondents: int
    """The most that any two simulators share."""


def rank_agreement(
    frame: pl.DataFrame, *, seed: int = 1, draws: int = 1_000, confidence: float = 0.95
) -> RankAgreement:
    """The agreement of simulators' rankings; columns respondent, simulator, persona, final.

    NaN where no two simulators share three respondents. The bootstrap draws personas, since a
    ranking would be another with other personas.
    """
    frame = without_gaps(frame, "persona", "simulator", "respondent", "final")
    respondents = frame["respondent"].unique(maintain_order=True).to_list()
    simulators = frame["simulator"].unique(maintain_order=True).to_list()
    personas = frame["persona"].unique(maintain_order=True).to_list()
    sums, counts = (np.zeros((len(personas), len(simulators), len(respondents))) for _ in range(2))
    places = [
        {name: place for place, name in enumerate(names)}
        for names in (personas, simulators, respondents)
    ]
    rows = frame.select("persona", "simulator", "respondent", "final").iter_rows()
    for persona, simulator, respondent, final in rows:
        at = places[0][persona], places[1][simulator], places[2][respondent]
        sums[at] += final
        counts[at] += 1
    whole, pairs, respondents_shared = _mean_correlation(sums.sum(0), counts.sum(0))
    if not pairs:
        return RankAgreement(math.nan, math.nan, math.nan, 0, respondents_shared)
    random = np.random.default_rng(seed)
    estimates = []
    for _ in range(draws):
        drawn = random.integers(len(personas), size=len(personas))
        estimates.append(_mean_correlation(sums[drawn].sum(0), counts[drawn].sum(0))[0])
    low, high = percentile_interval(estimates, confidence)
    return RankAgreement(whole, low, high, pairs, respondents_shared)


def _mean_correlation(sums: Array, counts: Array) -> tuple[float, int, int]:
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(counts > 0, sums / counts, np.nan)
    correlations, largest = [], 0
    for one, other in itertools.combinations(means, 2):
        shared = ~np.isnan(one) & ~np.isnan(other)
        largest = max(largest, int(shared.sum()))
        if shared.sum() < _MIN_RANKED:
            continue
        a, b = ranks(one[shared]), ranks(other[shared])
        if a.std() > 0 and b.std() > 0:
            correlations.append(float(np.corrcoef(a, b)[0, 1]))
    mean = float(np.mean(correlations)) if correlations else math.nan
    return mean, len(correlations), largest
