"""How each arm of a study was rated: a mean or a proportion, with its interval."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from empathylab.analysis.ratings import RatingsResult
from empathylab.stats.arms import RatingScale
from empathylab.stats.clusters.regression import clustered_regression
from empathylab.stats.clusters.robust import cluster_codes


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingLevel:
    """One arm on one dimension, over all situations."""

    dimension: str
    arm: str
    estimate: float
    """A proportion between 0 and 1 where `good` names what is counted, else a mean rating."""
    low: float
    high: float
    n: int
    raters: int
    lowest: float
    highest: float
    """The ends of the scale."""
    good: str | None
    """The label of a good rating; None for a mean."""


def rating_levels(study: RatingsResult) -> list[RatingLevel]:
    """Every dimension and arm: means on scales of five points or more, else good ratings."""
    return [
        level
        for dimension in study.dimensions
        for level in (
            _means(study, dimension)
            if dimension in study.scales.by_mean
            else _proportions(study, dimension, study.scales.counted[dimension])
        )
    ]


def _means(study: RatingsResult, dimension: str) -> Iterator[RatingLevel]:
    scale = next((item for item in study.study.dimensions if item.name == dimension), None)
    given = None if scale is None else scale.values
    for comparison in study.means:
        ends = given or (comparison.lowest, comparison.highest)
        for mean in comparison.means:
            if comparison.dimension == dimension and mean.kind == "all":
                yield RatingLevel(
                    dimension=dimension,
                    arm=mean.arm,
                    estimate=mean.mean.estimate,
                    low=mean.mean.low,
                    high=mean.mean.high,
                    n=mean.n,
                    raters=mean.raters,
                    lowest=min(ends),
                    highest=max(ends),
                    good=None,
                )


def _proportions(study: RatingsResult, dimension: str, scale: RatingScale) -> Iterator[RatingLevel]:
    """Good ratings of each arm; a rater's ratings are one cluster."""
    limit = scale.values[-1] if scale.good_from is None else scale.good_from
    mine = study.ratings.filter(dimension=dimension).drop_nulls("rating")
    for arm in study.arms:
        part = mine.filter(arm=arm)
        if part.is_empty():
            continue
        good = (part["rating"] >= limit).cast(pl.Float64).to_numpy()
        low = high = math.nan
        if part["rater"].n_unique() > 1 and good.std() > 0:
            clusters = [cluster_codes(part["rater"])]
            fit = clustered_regression(np.ones((len(good), 1)), good, clusters)
            test = fit.test(np.array([1.0]))
            low, high = max(test.low, 0.0), min(test.high, 1.0)
        yield RatingLevel(
            dimension=dimension,
            arm=arm,
            estimate=float(good.mean()),
            low=low,
            high=high,
            n=len(good),
            raters=part["rater"].n_unique(),
            lowest=0.0,
            highest=1.0,
            good=scale.good_label,
        )
