"""Arms that share their situations or raters, compared pair by pair."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from empathylab.errors import InputError
from empathylab.stats.arms.frames import RatedArms, Subset, SubsetKind, rated_arms
from empathylab.stats.arms.paired_tests import (
    McNemar,
    SignedRanks,
    cochran_q,
    friedman,
    mcnemar,
    signed_ranks,
    stuart_maxwell,
)
from empathylab.stats.arms.ranks import RankTest
from empathylab.stats.arms.rating_scales import RatingScale
from empathylab.stats.corrections import with_corrected_p

Unit = Literal["situation", "rater", "rater and situation"]
_KEYS: dict[str, list[str]] = {
    "situation": ["situation"],
    "rater": ["rater"],
    "rater and situation": ["rater", "situation"],
}


@dataclass(frozen=True, slots=True)
class PairedTest:
    """One arm against the reference, on the units that both have."""

    dimension: str
    arm: str
    reference: str
    kind: SubsetKind
    subset: str
    unit: Unit
    n: int
    """Pairs."""
    dropped: int
    """Units that only one of the two has."""
    averaged: bool
    """Units have several ratings in an arm: only ranks of their means are compared."""
    good: int | None
    """None where ratings are averaged."""
    good_reference: int | None
    mcnemar: McNemar | None
    marginal: RankTest | None
    """Stuart and Maxwell's test of all categories."""
    ranks: SignedRanks
    p: float
    """McNemar's, or the signed ranks' where ratings are averaged."""
    family: str
    family_size: int = 0
    p_holm: float = float("nan")
    p_bh: float = float("nan")
    p_bonferroni: float = float("nan")


@dataclass(frozen=True, slots=True)
class PairedArmsTest:
    """All arms at once, on the units that every arm has."""

    dimension: str
    kind: SubsetKind
    subset: str
    unit: Unit
    arms: tuple[str, ...]
    n: int
    dropped: int
    """Units that some arm lacks."""
    cochran: RankTest | None
    """None where ratings are averaged."""
    friedman: RankTest


@dataclass(frozen=True, slots=True)
class PairedComparison:
    """Every result about paired arms."""

    reference: str
    unit: Unit
    tests: tuple[PairedTest, ...]
    overall: tuple[PairedArmsTest, ...]


def compare_paired_arms(
    frame: pl.DataFrame,
    scale: RatingScale | Mapping[str, RatingScale],
    *,
    unit: Unit = "situation",
    reference: str = "human",
    confidence: float = 0.95,
    **columns: str,
) -> PairedComparison:
    """Every arm against the reference on the same situations, raters, or both.

    With one rating per unit and arm: McNemar's test of good ratings, Stuart and Maxwell's of all
    categories, Wilcoxon's signed ranks; over all arms Cochran's Q and Friedman's test. Where a
    unit has several ratings in an arm (a rater who judges many replies of each) they are averaged,
    and only the tests by rank are made. Units are taken as independent: pairs by situation still
    share raters, which the mixed model sorts out. Families and columns as in `compare_arms`.
    """
    if unit not in _KEYS:
        raise InputError(
            "arms are paired by situation, rater, or rater and situation",
            got=unit,
            remedy="Choose one of these units.",
        )
    dimensions = rated_arms(frame, scale, reference=reference, **columns)
    tests: list[PairedTest] = []
    overall: list[PairedArmsTest] = []
    for rated in dimensions:
        of_dimension = []
        for subset in rated.subsets():
            units = _units(subset, unit)
            of_dimension += [
                _paired(rated, subset, units, unit, arm, confidence) for arm in rated.arms[1:]
            ]
            overall.append(_all_arms(rated, subset, units, unit))
        tests += with_corrected_p(of_dimension)
    return PairedComparison(reference, unit, tuple(tests), tuple(overall))


def _units(subset: Subset, unit: Unit) -> pl.DataFrame:
    return subset.ratings.group_by(*_KEYS[unit], "arm", maintain_order=True).agg(
        pl.col("rating").mean(), pl.col("good").first(), pl.col("category").first(), times=pl.len()
    )


def _paired(
    rated: RatedArms, subset: Subset, units: pl.DataFrame, unit: Unit, arm: str, confidence: float
) -> PairedTest:
    here = units.filter(pl.col("arm") == arm)
    there = units.filter(pl.col("arm") == rated.reference)
    pairs = here.join(there, on=_KEYS[unit], suffix="_reference", maintain_order="left")
    n = pairs.height
    averaged = bool((pairs["times"] > 1).any() or (pairs["times_reference"] > 1).any())
    rank_test = PairedTest(
        rated.dimension,
        arm,
        rated.reference,
        subset.kind,
        subset.name,
        unit,
        n,
        here.height + there.height - 2 * n,
        averaged,
        None,
        None,
        None,
        None,
        ranks := signed_ranks(pairs["rating"], pairs["rating_reference"]),
        ranks.p,
        f"{rated.dimension}, {subset.kind}",
    )
    if averaged:
        return rank_test
    good, other = pairs["good"].to_numpy(), pairs["good_reference"].to_numpy()
    both, only, lost = (int(item.sum()) for item in (good & other, good & ~other, ~good & other))
    test = mcnemar(both, only, lost, n - both - only - lost, confidence=confidence)
    k = len(rated.scale.categories)
    square = np.zeros((k, k), dtype=np.int64)
    np.add.at(square, (pairs["category"].to_numpy(), pairs["category_reference"].to_numpy()), 1)
    return dataclasses.replace(
        rank_test,
        good=int(good.sum()),
        good_reference=int(other.sum()),
        mcnemar=test,
        marginal=stuart_maxwell(square),
        p=test.p,
    )


def _all_arms(rated: RatedArms, subset: Subset, units: pl.DataFrame, unit: Unit) -> PairedArmsTest:
    key = _KEYS[unit]
    complete = units.filter(pl.len().over(key) == len(rated.arms)).sort(*key, "arm")
    n = complete.height // len(rated.arms)
    shape = (n, len(rated.arms))
    averaged = bool((complete["times"] > 1).any())
    return PairedArmsTest(
        rated.dimension,
        subset.kind,
        subset.name,
        unit,
        tuple(sorted(rated.arms)),
        n,
        units.select(key).n_unique() - n,
        None if averaged else cochran_q(complete["good"].to_numpy().reshape(shape)),
        friedman(complete["rating"].to_numpy().reshape(shape)),
    )
