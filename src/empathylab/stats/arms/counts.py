"""How often each arm got which rating."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from empathylab.stats.arms.effects import proportion
from empathylab.stats.arms.frames import RatedArms, Subset, SubsetKind
from empathylab.stats.estimates import Estimate


@dataclass(frozen=True, slots=True)
class ArmCount:
    """The ratings of one arm on one dimension and subset."""

    dimension: str
    arm: str
    kind: SubsetKind
    subset: str
    n: int
    raters: int
    counts: Mapping[str, int]
    """By category, from worst to best."""
    percent: Mapping[str, float]
    good: int
    good_share: Estimate
    """With Wilson's interval, which takes ratings as independent."""
    mean: float
    sd: float


def arm_counts(rated: RatedArms, *, confidence: float = 0.95) -> list[ArmCount]:
    """The counts of every subset and arm that has ratings there."""
    counts = []
    for subset in rated.subsets():
        for arm in rated.arms:
            ratings = subset.ratings.filter(pl.col("arm") == arm)
            if ratings.height:
                counts.append(_counted(rated, subset, arm, ratings, confidence))
    return counts


def category_counts(rated: RatedArms, ratings: pl.DataFrame) -> NDArray[np.int64]:
    """How many of the ratings fall into each category of the scale."""
    return np.bincount(ratings["category"].to_numpy(), minlength=len(rated.scale.categories))


def _counted(
    rated: RatedArms, subset: Subset, arm: str, ratings: pl.DataFrame, confidence: float
) -> ArmCount:
    labels = [category.label for category in rated.scale.categories]
    counts = category_counts(rated, ratings)
    n, good = ratings.height, int(ratings["good"].sum())
    values = ratings["rating"].to_numpy()
    return ArmCount(
        rated.dimension,
        arm,
        subset.kind,
        subset.name,
        n,
        ratings["rater"].n_unique(),
        dict(zip(labels, counts.tolist(), strict=True)),
        dict(zip(labels, (100 * counts / n).tolist(), strict=True)),
        good,
        proportion(good, n, confidence=confidence),
        float(values.mean()),
        float(values.std(ddof=1)) if n > 1 else float("nan"),
    )
