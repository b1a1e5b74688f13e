"""Means of rated arms, for scales of degrees: what they are, and how far they differ."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import polars as pl

from empathylab.errors import InputError, UnknownName
from empathylab.stats.arguments import require_columns
from empathylab.stats.arms.clustered import clustered_difference
from empathylab.stats.arms.frames import Subset, SubsetKind, subsets
from empathylab.stats.clusters.robust import cluster_codes, clustered_mean
from empathylab.stats.corrections import with_corrected_p
from empathylab.stats.estimates import NO_ESTIMATE, Estimate
from empathylab.stats.notes import Note
from empathylab.stats.standardised import hedges_g


@dataclass(frozen=True, slots=True)
class ArmMean:
    """The mean rating of one arm on one subset of the situations."""

    arm: str
    kind: SubsetKind
    subset: str
    """`all`, a valence, or `emotion:NAME`."""
    n: int
    raters: int
    mean: Estimate
    """Its interval takes raters, not ratings, as the independent units."""
    sd: float


@dataclass(frozen=True, slots=True)
class MeanDifference:
    """One arm's mean minus the reference's, on one subset of the situations."""

    arm: str
    reference: str
    kind: SubsetKind
    subset: str
    n: int
    n_reference: int
    raters: int
    difference: Estimate
    t: float
    df: float
    p: float
    g: Estimate
    """Hedges' g; its interval is the difference's in units of the pooled standard deviation."""
    note: Note | None
    """Why there is no test; empty where there is one."""
    family: str
    family_size: int = 0
    p_holm: float = math.nan
    p_bh: float = math.nan
    p_bonferroni: float = math.nan


@dataclass(frozen=True, slots=True)
class MeanComparison:
    """What is said about the means of one dimension's ratings."""

    dimension: str
    reference: str
    lowest: float
    highest: float
    """The lowest and the highest rating given."""
    means: tuple[ArmMean, ...]
    differences: tuple[MeanDifference, ...]
    dropped: int
    """Rows without a rating, rater or arm."""
    confidence: float

    @property
    def constant(self) -> bool:
        """Whether every rating is the same."""
        return self.lowest == self.highest


def compare_means(
    frame: pl.DataFrame,
    *,
    dimension: str = "rating",
    reference: str = "human",
    confidence: float = 0.95,
    rating: str = "rating",
    cluster: str = "",
) -> MeanComparison:
    """The arms' mean ratings and their differences from the reference, with raters as units.

    For ratings that are degrees (1 to 100), where no one of them is the good one. Variances sum
    what each rater adds, times G/(G − 1) for G raters, so that a rater may lie in one arm or in
    several; tests are CR2 with Satterthwaite's degrees of freedom, two-way where `cluster`
    names the column of situations or of replies, and p is corrected over each family: the
    arms × subsets of one kind. NaN, with a note, where a side has fewer than two raters or
    nothing varies. Rows with a gap are left out and counted.

    Liang, K.-Y., & Zeger, S. L. (1986). Biometrika 73, 13–22; Hedges, L. V. (1981). Journal of
    Educational Statistics 6, 107–128.
    """
    roles = {"rater": "rater", "arm": "arm", "rating": rating}
    optional = {"valence": "valence", "emotion": "emotion", "cluster": cluster}
    roles |= {role: column for role, column in optional.items() if column in frame.columns}
    require_columns(frame, *roles.values())
    chosen = frame.select(pl.col(column).alias(role) for role, column in roles.items())
    chosen = chosen.with_columns(
        pl.col("rater", "arm").cast(pl.String), pl.col("rating").cast(pl.Float64).fill_nan(None)
    )
    whole = chosen.drop_nulls(["rater", "arm", "rating"])
    if whole.is_empty():
        raise InputError("there are no ratings", remedy="Collect or import ratings first.")
    arms = whole["arm"].unique(maintain_order=True).to_list()
    if reference not in arms:
        raise UnknownName("arm with ratings", reference, arms, remedy="Choose the reference arm.")
    arms = [reference, *(arm for arm in arms if arm != reference)]
    values = whole["rating"].to_numpy()
    return MeanComparison(
        dimension,
        reference,
        float(values.min()),
        float(values.max()),
        tuple(
            _mean(subset, arm, confidence)
            for subset in subsets(whole)
            for arm in arms
            if (subset.ratings["arm"] == arm).any()
        ),
        _differences(whole, arms, dimension, confidence),
        chosen.height - whole.height,
        confidence,
    )


def _mean(subset: Subset, arm: str, confidence: float) -> ArmMean:
    part = subset.ratings.filter(pl.col("arm") == arm)
    values = part["rating"].to_numpy()
    mean = clustered_mean(values, [cluster_codes(part["rater"])], confidence)
    n, raters = len(values), part["rater"].n_unique()
    sd = float(values.std(ddof=1)) if n > 1 else math.nan
    return ArmMean(arm, subset.kind, subset.name, n, raters, mean, sd)


def _differences(
    ratings: pl.DataFrame, arms: list[str], dimension: str, confidence: float
) -> tuple[MeanDifference, ...]:
    tests = [
        _difference(subset, arm, arms[0], f"{dimension}, {subset.kind}", confidence)
        for subset in subsets(ratings)
        for arm in arms[1:]
    ]
    return tuple(with_corrected_p(tests))


def _difference(
    subset: Subset, arm: str, reference: str, family: str, confidence: float
) -> MeanDifference:
    both = subset.ratings.filter(pl.col("arm").is_in([arm, reference]))
    here, there = (both.filter(pl.col("arm") == item)["rating"] for item in (arm, reference))
    test = clustered_difference(
        both["rating"],
        both["arm"] == arm,
        both["rater"],
        situations=both["cluster"] if "cluster" in both.columns else None,
        confidence=confidence,
    )
    difference, g = test.difference, NO_ESTIMATE
    if len(here) and len(there) and test.note:
        difference = Estimate(float(np.mean(here.to_numpy()) - np.mean(there.to_numpy())))
    if len(here) > 1 and len(there) > 1:
        # A difference of 1 in units of the pooled SD, corrected for bias.
        one, other = ((item.to_numpy().std(ddof=1), len(item)) for item in (here, there))
        unit = float(hedges_g(1.0, *one, 0.0, *other).estimate)
        g = Estimate(*(end * unit for end in difference))
    return MeanDifference(
        arm,
        reference,
        subset.kind,
        subset.name,
        len(here),
        len(there),
        test.raters,
        difference,
        test.t,
        test.df,
        test.p,
        g,
        test.note,
        family,
    )
