"""Whether situations that share a factor have similar effects on a respondent.

Huang et al. (2024) found that models do not connect similar situations. As a measure: of all that
makes situations differ in the change they bring about, the share that lies between factors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import polars as pl

from empathylab.stats.arrays import Array
from empathylab.stats.t_tests import t_margin


@dataclass(frozen=True, slots=True)
class FactorCoherence:
    """Agreement of situations of one factor, against situations of others."""

    respondent: str
    scale: str
    subscale: str
    coherence: float
    """σ²_factor / (σ²_factor + σ²_situation), from 0 to 1; NaN where nothing differs."""
    low: float
    high: float
    factor_variance: float
    situation_variance: float
    """Between situations of one factor."""
    residual_variance: float
    """Between repeats, or people, after one situation."""
    factors: int
    situations: int
    n: int


def factor_coherence(scores: pl.DataFrame, *, confidence: float = 0.95) -> list[FactorCoherence]:
    """The proportion of the variance between situations that is between factors.

    1: situations of a factor all bring about the same change. 0: they agree no more than
    situations of different factors do. An intraclass correlation of situations, from the nested
    analysis of variance (answers within situations within factors, counts may differ; Sokal &
    Rohlf, Biometry, chapter 10), so the noise of single answers, which is large for people and
    small for a model at temperature 0, does not enter. Negative components count as 0. Interval:
    jackknife over factors, cut to 0–1; NaN below three factors, or where the estimate sits at an
    end of its range whatever factor is left out.

    `scores` has the columns of `stats.appraisal.SCORES`; for people the change of each person is
    used, for others the score (the baseline is the same for all situations). Scores without a
    factor are dropped. Needs at least two factors, and a factor with two situations.
    """
    rows = []
    evoked = _changes(scores)
    groups = evoked.group_by("respondent", "scale", "subscale", maintain_order=True)
    for (respondent, scale, subscale), group in groups:
        cells = group.group_by("emotion", "factor", "situation", maintain_order=True).agg(
            pl.len().alias("n"),
            pl.col("change").mean().alias("mean"),
            ((pl.col("change") - pl.col("change").mean()) ** 2).sum().alias("within"),
        )
        factor = cells.select(pl.struct("emotion", "factor").rank("dense")).to_series().to_numpy()
        arrays = [cells[name].to_numpy().astype(float) for name in ("n", "mean", "within")]
        parts = _components(factor, *arrays)
        low, high = _interval(factor, arrays, _share(*parts[:2]), confidence)
        rows.append(
            FactorCoherence(
                str(respondent),
                str(scale),
                str(subscale),
                _share(*parts[:2]),
                low,
                high,
                *parts,
                factors=len(np.unique(factor)),
                situations=cells.height,
                n=group.height,
            )
        )
    return rows


def _changes(scores: pl.DataFrame) -> pl.DataFrame:
    key = ["respondent", "scale", "subscale", "subject"]
    kept = scores.filter(pl.col("score").is_not_null() & pl.col("score").is_not_nan())
    rest = (
        kept.filter((pl.col("phase") == "default") & pl.col("subject").is_not_null())
        .group_by(key)
        .agg(pl.col("score").mean().alias("rest"))
    )
    evoked = kept.filter((pl.col("phase") == "evoked") & pl.col("factor").is_not_null())
    joined = evoked.join(rest, on=key, how="left", maintain_order="left")
    paired = pl.col("subject").is_not_null()
    return joined.with_columns(
        change=pl.when(paired).then(pl.col("score") - pl.col("rest")).otherwise(pl.col("score"))
    ).filter(pl.col("change").is_not_null())


def _components(factor: Array, n: Array, mean: Array, within: Array) -> tuple[float, float, float]:
    """The variance between factors, between situations of a factor, and within situations."""
    _, place = np.unique(factor, return_inverse=True)
    a, b, total = int(place.max(initial=-1)) + 1, len(n), float(n.sum())
    if a < 2 or b <= a:
        return math.nan, math.nan, math.nan
    size = np.bincount(place, weights=n)
    centre = np.bincount(place, weights=n * mean) / size
    grand = float((n * mean).sum() / total)
    ms_within = float(within.sum() / (total - b)) if total > b else 0.0
    ms_situation = float((n * (mean - centre[place]) ** 2).sum() / (b - a))
    ms_factor = float((size * (centre - grand) ** 2).sum() / (a - 1))
    per_factor = float((n**2 / size[place]).sum())
    per_situation = (total - per_factor) / (b - a)
    crossed = (per_factor - float((n**2).sum()) / total) / (a - 1)
    per_size = (total - float((size**2).sum()) / total) / (a - 1)
    situation = max(0.0, (ms_situation - ms_within) / per_situation)
    between = max(0.0, (ms_factor - ms_within - crossed * situation) / per_size)
    return between, situation, ms_within


def _share(between: float, situation: float) -> float:
    return between / (between + situation) if between + situation > 0 else math.nan


def _interval(
    factor: Array, arrays: list[Array], estimate: float, confidence: float
) -> tuple[float, float]:
    names = np.unique(factor)
    k = len(names)
    if k < 3 or math.isnan(estimate):
        return math.nan, math.nan
    left_out = np.array(
        [
            _share(*_components(factor[kept], *(array[kept] for array in arrays))[:2])
            for kept in (factor != name for name in names)
        ]
    )
    if np.isnan(left_out).any() or np.ptp(left_out) == 0:
        return math.nan, math.nan
    se = math.sqrt((k - 1) / k * float(((left_out - left_out.mean()) ** 2).sum()))
    margin = t_margin(k - 1, confidence) * se
    return max(0.0, estimate - margin), min(1.0, estimate + margin)
