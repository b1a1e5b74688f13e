"""The agreement of all raters on each dimension, and of each pair of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from empathylab.errors import InputError
from empathylab.stats.agreement.bootstrap import Statistic, estimates, resampled_intervals
from empathylab.stats.agreement.coefficient import Coefficient, missing
from empathylab.stats.agreement.components import (
    VarianceComponents,
    can_resample,
    icc_statistic,
    variance_components,
)
from empathylab.stats.agreement.distances import Weights
from empathylab.stats.agreement.fleiss import (
    fleiss_statistic,
    gwet_statistic,
    percent_statistic,
)
from empathylab.stats.agreement.icc import IntraclassCorrelations, intraclass_correlations
from empathylab.stats.agreement.krippendorff import Level, alpha_statistic
from empathylab.stats.agreement.pairs import PairAgreement, pair_agreements
from empathylab.stats.agreement.table import RatingTable, Spacing, rating_table
from empathylab.stats.arguments import require_columns, require_confidence
from empathylab.stats.notes import note

_MAX_GRID = 20_000_000
"""Situations × raters up to which the table of the six ICC forms is laid out."""


@dataclass(frozen=True, slots=True)
class DimensionAgreement:
    """How far all raters agree on one dimension; intervals are over resampled situations."""

    dimension: str
    n_raters: int
    n_situations: int
    n_clusters: int | None
    """Of the situations, where they come in clusters; intervals are then over resampled ones."""
    n_ratings: int
    dropped: int
    """Rows without a rating, rater or situation."""
    missing_share: float
    """Proportion of rater × situation cells without a rating."""
    percent: Coefficient
    """How many in a hundred pairs of raters agree."""
    krippendorff_alpha: Coefficient
    """At the ordinal level."""
    krippendorff_alpha_nominal: Coefficient
    krippendorff_alpha_interval: Coefficient
    icc: Coefficient
    """ICC(2,1), one rating, absolute agreement. Where no cell is missing its interval is F-based;
    else it comes from variance components, with a bootstrap interval that takes raters as fixed
    and is therefore narrower."""
    icc_forms: IntraclassCorrelations
    """All six, on the situations that every rater rated."""
    components: VarianceComponents
    fleiss_kappa: Coefficient
    fleiss_kappa_linear: Coefficient
    fleiss_kappa_quadratic: Coefficient
    gwet_ac1: Coefficient
    gwet_ac2: Coefficient
    """With quadratic weights."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement per dimension, and per pair of raters and dimension."""

    dimensions: tuple[DimensionAgreement, ...]
    pairs: tuple[PairAgreement, ...]


def agreement(
    frame: pl.DataFrame,
    *,
    situation: str = "situation",
    rater: str = "rater",
    dimension: str | None = "dimension",
    rating: str = "rating",
    levels: Sequence[str | float] | None = None,
    confidence: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
    min_shared: int = 2,
    cluster: str | None = None,
) -> Agreement:
    """How far raters agree: coefficients for all of them, and for each pair.

    One row is one rater's rating of one situation (or response) on one dimension. Any number of
    raters, any missing cells; a missing rating is left out and counted. `dimension=None` takes all
    rows as one. `levels` names the scale's categories from lowest to highest (needed where ratings
    are words). With `resamples` of 0 there are no bootstrap intervals. Pairs are listed where both
    rated at least `min_shared` situations; their number can grow with the square of the number of
    raters, their cost grows with the pairs of ratings. Where replies are rated, several to a
    situation, intervals are clustered by situation; see `rating_table` for `cluster`.

    Raises InputError where a rater rates a situation twice on a dimension, or no rating is left.
    """
    require_columns(frame, situation, rater, rating, *([dimension] if dimension else []))
    require_confidence(confidence)
    summaries: list[DimensionAgreement] = []
    pairs: list[PairAgreement] = []
    for name, rows in _parts(frame, dimension, rating):
        table = rating_table(
            rows,
            situation=situation,
            rater=rater,
            rating=rating,
            levels=levels,
            cluster=cluster,
        )
        summaries.append(
            _summary(table, name, confidence=confidence, resamples=resamples, seed=seed)
        )
        pairs += pair_agreements(
            table, dimension=name, confidence=confidence, min_shared=min_shared
        )
    if not any(summary.n_ratings for summary in summaries):
        raise InputError("there are no ratings", remedy="Give rows with a rater and a rating.")
    return Agreement(tuple(summaries), tuple(pairs))


def krippendorff_alpha(
    frame: pl.DataFrame,
    *,
    level: Level = "ordinal",
    situation: str = "situation",
    rater: str = "rater",
    rating: str = "rating",
    levels: Sequence[str | float] | None = None,
    confidence: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
    cluster: str | None = None,
) -> Coefficient:
    """Krippendorff's alpha of one dimension's ratings, with a bootstrap interval.

    Agreement beyond chance for any number of raters and any gaps; see `alpha_statistic`.
    """
    table = rating_table(
        frame, situation=situation, rater=rater, rating=rating, levels=levels, cluster=cluster
    )
    statistics = {"alpha": alpha_statistic(table, level)}
    return _bootstrapped(table, statistics, confidence, resamples, seed)["alpha"]


def fleiss_kappa(
    frame: pl.DataFrame,
    *,
    weights: Weights = "identity",
    situation: str = "situation",
    rater: str = "rater",
    rating: str = "rating",
    levels: Sequence[str | float] | None = None,
    spacing: Spacing = "values",
    confidence: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> Coefficient:
    """Fleiss' kappa of one dimension's ratings, optionally weighted, with a bootstrap interval.

    See `fleiss_statistic` for what it estimates.
    """
    table = rating_table(
        frame, situation=situation, rater=rater, rating=rating, levels=levels, spacing=spacing
    )
    statistics = {"kappa": fleiss_statistic(table, weights)}
    return _bootstrapped(table, statistics, confidence, resamples, seed)["kappa"]


def gwet_ac(
    frame: pl.DataFrame,
    *,
    weights: Weights = "identity",
    situation: str = "situation",
    rater: str = "rater",
    rating: str = "rating",
    levels: Sequence[str | float] | None = None,
    spacing: Spacing = "values",
    confidence: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> Coefficient:
    """Gwet's AC1 (AC2 with weights) of one dimension's ratings, with a bootstrap interval.

    See `gwet_statistic` for what it estimates.
    """
    table = rating_table(
        frame, situation=situation, rater=rater, rating=rating, levels=levels, spacing=spacing
    )
    name = "gwet_ac1" if weights == "identity" else "gwet_ac2"
    statistics = {name: gwet_statistic(table, weights)}
    return _bootstrapped(table, statistics, confidence, resamples, seed)[name]


def _parts(
    frame: pl.DataFrame, dimension: str | None, rating: str
) -> list[tuple[str, pl.DataFrame]]:
    if dimension is None:
        return [(rating, frame)]
    unnamed = frame[dimension].is_null()
    if unnamed.any():
        raise InputError(
            f"{dimension!r} is missing",
            where=f"rating {int(unnamed.arg_true()[0]) + 1}",
            remedy="Name the dimension of every rating, or none.",
        )
    parts = frame.partition_by(dimension, as_dict=True, maintain_order=True)
    return [(str(key[0]), rows) for key, rows in parts.items()]


def _summary(
    table: RatingTable, dimension: str, *, confidence: float, resamples: int, seed: int
) -> DimensionAgreement:
    statistics: dict[str, Statistic] = {
        "percent": percent_statistic(table),
        "krippendorff_alpha": alpha_statistic(table, "ordinal"),
        "krippendorff_alpha_nominal": alpha_statistic(table, "nominal"),
        "krippendorff_alpha_interval": alpha_statistic(table, "interval"),
        "fleiss_kappa": fleiss_statistic(table),
        "fleiss_kappa_linear": fleiss_statistic(table, "linear"),
        "fleiss_kappa_quadratic": fleiss_statistic(table, "quadratic"),
        "gwet_ac1": gwet_statistic(table),
        "gwet_ac2": gwet_statistic(table, "quadratic"),
    }
    gaps, clusters = table.missing_share > 0, table.clusters
    if gaps and can_resample(table):
        statistics["icc"] = icc_statistic(table)
    coefficients = _bootstrapped(table, statistics, confidence, resamples, seed)
    components = variance_components(table)
    forms = _forms(table, confidence, resamples, seed)
    resampled = coefficients.pop("icc", None)
    icc = _icc(table, components, resampled, confidence) if gaps else forms.icc2
    return DimensionAgreement(
        dimension=dimension,
        n_raters=len(table.rater_names),
        n_situations=table.n_situations,
        n_clusters=None if clusters is None else int(clusters.max(initial=-1)) + 1,
        n_ratings=table.n_ratings,
        dropped=table.dropped,
        missing_share=table.missing_share,
        icc=icc,
        icc_forms=forms,
        components=components,
        **coefficients,
    )


def _bootstrapped(
    table: RatingTable,
    statistics: dict[str, Statistic],
    confidence: float,
    resamples: int,
    seed: int,
) -> dict[str, Coefficient]:
    paired = int((table.sizes >= 2).sum())
    dropped = table.n_situations - paired
    if paired == 0:
        undefined = missing(note("no_shared_ratings"), 0, dropped, confidence)
        return dict.fromkeys(statistics, undefined)
    values = estimates(statistics, table.n_situations)
    defined = {name: item for name, item in statistics.items() if math.isfinite(values[name])}
    categories = len(table.categories)
    limits = dict.fromkeys(defined, (table.lowest, 1.0)) | {
        "percent": (0.0, 100.0),
        "gwet_ac1": (-1 / max(categories - 1, 1), 1.0),
        # It can be less than −1 with many categories.
        "gwet_ac2": (-1.0, 1.0),
    }
    ends = resampled_intervals(
        defined,
        table.n_situations,
        resamples=resamples,
        seed=seed,
        confidence=confidence,
        clusters=table.clusters,
        limits=limits,
    )
    over = "bootstrap over situations" if table.clusters is None else "bootstrap over clusters"
    coefficients = {}
    for name, value in values.items():
        low, high = ends.get(name, (math.nan, math.nan))
        coefficients[name] = Coefficient(
            estimate=value,
            low=low,
            high=high,
            n=paired,
            dropped=dropped,
            confidence=confidence,
            interval="none" if math.isnan(low) else over,
            note=None if math.isfinite(value) else note("equal_ratings"),
        )
    return coefficients


def _forms(
    table: RatingTable, confidence: float, resamples: int, seed: int
) -> IntraclassCorrelations:
    raters = len(table.rater_names)
    if table.n_situations * raters > _MAX_GRID:
        # So large a grid is nearly empty, and no situation was rated by everybody.
        return intraclass_correlations(np.full((1, raters), np.nan), confidence=confidence)
    grid = np.full((table.n_situations, raters), np.nan)
    grid[table.situations, table.raters] = table.values
    return intraclass_correlations(
        grid, confidence=confidence, clusters=table.clusters, resamples=resamples, seed=seed
    )


def _icc(
    table: RatingTable,
    components: VarianceComponents,
    resampled: Coefficient | None,
    confidence: float,
) -> Coefficient:
    """ICC(2,1) from variance components, for tables with gaps."""
    problem = components.note
    low, high = (resampled.low, resampled.high) if resampled else (math.nan, math.nan)
    if resampled is None and problem is None:
        problem = note("no_bootstrap")
    return Coefficient(
        estimate=components.icc,
        low=low,
        high=high,
        n=table.n_situations,
        dropped=0,
        confidence=confidence,
        interval="none" if math.isnan(low) or resampled is None else resampled.interval,
        note=problem,
    )
