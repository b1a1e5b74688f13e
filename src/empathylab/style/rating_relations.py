"""What in the style goes with the ratings people gave."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from empathylab.errors import InputError
from empathylab.stats.arrays import Array
from empathylab.stats.corrections import benjamini_hochberg, holm
from empathylab.style.clustered import UNDETERMINED, Slope, clustered_slope
from empathylab.style.differences import feature_columns
from empathylab.style.joint_tests import jointly_corrected
from empathylab.style.responses import RESPONDENT, SITUATION, require_columns

_FEWEST_CLUSTERS = 5.0
_REPLY = "rated reply"
ENOUGH_CLUSTERS = 20
"""Situations and raters in which a feature must vary before a relation is claimed: with Holm's
correction, from 5 on one in ten studies without any relation claimed one, from 20 on one in 17."""


@dataclass(frozen=True, slots=True)
class RatingRelation:
    """How the rating changes with one standard deviation more of a feature."""

    feature: str
    alone: Slope
    """Rating on the feature only."""
    length_adjusted: Slope
    """With the log of the words held fixed."""
    within: Slope
    """With the log of the words and the respondent held fixed: not a mark of who wrote it."""
    p_holm: float
    """Of `within`, over all features; NaN for one that is too rare to test."""
    p_benjamini_hochberg: float
    p_joint: float
    """Of `within`, corrected over the features that can be tested (see `jointly_corrected`): the
    one that decides. NaN for a feature that is too rare."""
    sd: float
    """Of the feature, over the ratings used: the unit of the slopes."""
    n: int
    """Ratings used."""
    dropped: int
    """Ratings without a value, a response, or the feature."""
    clusters: tuple[str, ...]

    @property
    def enough_clusters(self) -> bool:
        """Whether the feature varies in so many situations and raters that its p can be trusted."""
        return self.within.df + 1 >= ENOUGH_CLUSTERS * (1 - 1e-9)

    @property
    def too_rare(self) -> bool:
        """Whether the feature varies, but in too few situations or raters for a test."""
        return self.sd > 0 and not math.isnan(self.within.estimate) and not self.enough_clusters


def rating_relations(
    features: pl.DataFrame,
    ratings: pl.DataFrame,
    *,
    columns: Sequence[str] | None = None,
    words: str = "words",
    respondent: str = RESPONDENT,
    situation: str = SITUATION,
    rating: str = "rating",
    rater: str = "rater",
    confidence: float = 0.95,
) -> list[RatingRelation]:
    """Each feature's relation to the rating, length-adjusted, allowing for situation and rater.

    Least squares of the rating (a number, higher is better) on the standardised feature. Standard
    errors allow for clusters of situations and, where the ratings name their rater, of raters as
    well (see `clustered_slope`). A feature that varies in fewer than 20 situations or raters is too
    rare to test: it has no corrected p, and below five no interval either. For the feature that is
    the length itself the adjusted slopes are NaN. It says what goes together, not what brings the
    rating about.

    A rating belongs to the response of its respondent to its situation (and `sample`, where both
    frames have that column); with several responses there, their mean features count.
    """
    require_columns(features, [respondent, situation, words], "features")
    require_columns(ratings, [respondent, situation, rating], "ratings")
    if not ratings.schema[rating].is_numeric():
        raise InputError(
            "the rating must be a number",
            where=f"ratings, column {rating!r}",
            got=str(ratings.schema[rating]),
            remedy="Code the answers as numbers, the best one highest (Bad 1, Okay 2, Good 3).",
        )
    chosen = feature_columns(features, columns, {respondent, situation})
    joined = _joined(features, ratings, [*dict.fromkeys([*chosen, words])], respondent, situation)
    clusters = (situation, *([rater] if rater in ratings.columns else ()))
    # Names are turned into numbers once, not for each feature.
    joined = joined.with_columns(
        pl.col(name).cast(pl.String).rank("dense") for name in (respondent, *clusters)
    )
    relations = [
        _relation(joined, name, words, rating, respondent, clusters, confidence) for name in chosen
    ]
    relations = [replace(item, dropped=ratings.height - item.n) for item in relations]
    p = [item.within.p for item in relations]
    tested = [item for item in relations if item.enough_clusters]
    joint = dict(
        zip(
            (item.feature for item in tested),
            _joint(joined, tested, words, rating, respondent, clusters),
            strict=True,
        )
    )
    return [
        replace(
            item,
            p_holm=float(strict),
            p_benjamini_hochberg=float(loose),
            p_joint=float(joint[item.feature]),
        )
        if item.enough_clusters
        else item
        for item, strict, loose in zip(relations, holm(p), benjamini_hochberg(p), strict=True)
    ]


def _joined(
    features: pl.DataFrame,
    ratings: pl.DataFrame,
    columns: list[str],
    respondent: str,
    situation: str,
) -> pl.DataFrame:
    key = [respondent, situation]
    if "sample" in features.columns and "sample" in ratings.columns:
        key.append("sample")
    text_key = [pl.col(name).cast(pl.String) for name in key]
    means = (
        features.with_columns(text_key)
        .group_by(key)
        .agg(pl.col(name).cast(pl.Float64).fill_nan(None).mean() for name in columns)
        .sort(key)
        .with_row_index(_REPLY)
    )
    clashing = [name for name in columns if name in ratings.columns]
    return ratings.drop(clashing).with_columns(text_key).join(means, on=key)


def _relation(
    joined: pl.DataFrame,
    feature: str,
    words: str,
    rating: str,
    respondent: str,
    clusters: tuple[str, ...],
    confidence: float,
) -> RatingRelation:
    needed = [*dict.fromkeys([feature, words, rating, respondent, *clusters])]
    used = joined.select(needed).drop_nulls().filter(pl.col(rating).cast(pl.Float64).is_not_nan())
    n = used.height
    value = used[feature].to_numpy().astype(float)
    sd = float(value.std(ddof=1)) if n > 1 else math.nan
    alone = adjusted = within = UNDETERMINED
    if sd > 0:
        x = (value - value.mean()) / sd
        y = used[rating].to_numpy().astype(float)
        constant = np.ones((n, 1))
        length = np.column_stack([constant, np.log1p(used[words].to_numpy().astype(float))])
        writer = np.column_stack([length, _dummies(used[respondent])])
        labels = [used[name].to_numpy().astype(np.int64) for name in clusters]
        alone = clustered_slope(
            y, x, constant, labels, fewest=_FEWEST_CLUSTERS, confidence=confidence
        )
        if feature != words:
            adjusted = clustered_slope(
                y, x, length, labels, fewest=_FEWEST_CLUSTERS, confidence=confidence
            )
            within = clustered_slope(
                y, x, writer, labels, fewest=_FEWEST_CLUSTERS, confidence=confidence
            )
    return RatingRelation(
        feature=feature,
        alone=alone,
        length_adjusted=adjusted,
        within=within,
        p_holm=math.nan,
        p_benjamini_hochberg=math.nan,
        p_joint=math.nan,
        sd=sd,
        n=n,
        dropped=0,
        clusters=clusters,
    )


def _joint(
    joined: pl.DataFrame,
    tested: Sequence[RatingRelation],
    words: str,
    rating: str,
    respondent: str,
    clusters: tuple[str, ...],
) -> Array:
    """The p values of `within`, corrected over these features."""
    used = joined.drop_nulls([words, rating, respondent, *clusters]).filter(
        pl.col(rating).cast(pl.Float64).is_not_nan()
    )
    length = np.log1p(used[words].to_numpy().astype(float))
    codes = [used[name].to_numpy().astype(np.int64) for name in (*clusters, _REPLY)]
    return jointly_corrected(
        used[rating].to_numpy().astype(float),
        used.select(item.feature for item in tested).cast(pl.Float64).to_numpy(),
        np.column_stack([np.ones(used.height), length, _dummies(used[respondent])]),
        codes[:-1],
        codes,
        np.array([item.within.p for item in tested]),
        np.array([item.within.df for item in tested]),
    )


def _dummies(numbers: pl.Series) -> Array:
    """A column of 0 and 1 for each different number but the first."""
    different, place = np.unique(numbers.to_numpy(), return_inverse=True)
    columns: Array = (place[:, None] == np.arange(1, len(different))).astype(float)
    return columns
