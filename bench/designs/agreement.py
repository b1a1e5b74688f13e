"""Intervals of agreement, where several replies belong to one situation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from statistics import mean

import numpy as np
import polars as pl

from designs.simulation import FIVE, Array, Counts, names, rated
from empathylab.stats.agreement import agreement, cohen_kappa

_LEVELS = (-0.5, -0.2, 0.2, 0.6)
"""The raters: intervals hold for these, and other situations."""
_FEW_LEVELS = {2: (-0.3, 0.3), 3: (-0.4, 0, 0.4), 5: (-0.5, -0.2, 0, 0.3, 0.5)}
_CUTS = {3: (-1.1, 1.1), 5: (-2.2, -0.7, 0.7, 2.2)}
"""Thresholds of the points with few items, at which alpha is about 0.5."""


@dataclass(frozen=True, slots=True)
class AgreementDesign:
    """Four raters who lean by situation rate every reply, on five points."""

    name: str
    replies: int
    """Per situation."""
    situations: int = 30
    missing: float = 0.0
    """The proportion of ratings that are missing."""

    def count(self, seed: int) -> Counts:
        """Whether each coefficient's interval covers the agreement on all situations."""
        frame = _simulated(self.situations, self.replies, self.missing, seed)
        found = _coefficients(frame, resamples=500)
        return {
            name: (int(low <= _truth()[name] <= high), 1) for name, (_, low, high) in found.items()
        }


@dataclass(frozen=True, slots=True)
class JudgeKappaDesign:
    """A judge that leans by situation beside the median of three people, as on its card."""

    name: str
    replies: int
    situations: int = 30

    def count(self, seed: int) -> Counts:
        """Whether the interval of the weighted kappa covers that on all situations."""
        people, judge, situation = _judged(self.situations, self.replies, seed)
        found = cohen_kappa(people, judge, weights="quadratic", clusters=situation)
        return {"weighted_kappa": (int(found.low <= _judge_truth() <= found.high), 1)}


@dataclass(frozen=True, slots=True)
class FewItemsDesign:
    """A few situations with one reply each, which every rater rates."""

    name: str
    situations: int
    raters: int
    points: int

    def count(self, seed: int) -> Counts:
        """Which intervals cover the agreement on all situations, of those that there are."""
        frame = _few_items(self.situations, self.raters, self.points, seed)
        truth = _few_items_truth(self.raters, self.points)
        found = _coefficients(frame, 500, self.points)
        return {
            name: (int(low <= truth[name] <= high), int(math.isfinite(low)))
            for name, (_, low, high) in found.items()
        }


def _coefficients(
    frame: pl.DataFrame, resamples: int, points: int | None = None
) -> dict[str, tuple[float, float, float]]:
    found = agreement(
        frame,
        situation="response",
        dimension=None,
        levels=None if points is None else range(1, points + 1),
        resamples=resamples,
        cluster="situation",
    )
    whole, pair = found.dimensions[0], found.pairs[0]
    coefficients = {
        "alpha": whole.krippendorff_alpha,
        "fleiss": whole.fleiss_kappa,
        "ac1": whole.gwet_ac1,
        "ac2": whole.gwet_ac2,
        "icc": whole.icc,
        "weighted_kappa": pair.weighted_kappa,
        "kappa": pair.kappa,
        "spearman": pair.spearman,
        "percent": pair.percent,
    }
    return {name: (item.estimate, item.low, item.high) for name, item in coefficients.items()}


def _simulated(situations: int, replies: int, missing: float, seed: int) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    reply = np.arange(situations * replies)
    situation = reply // replies
    quality = random.normal(0, 0.7, situations)[situation] + random.normal(0, 1, len(reply))
    latent = quality[:, None] + np.array(_LEVELS)
    latent += random.normal(0, 0.8, (situations, len(_LEVELS)))[situation]
    values = rated(latent + random.logistic(size=latent.shape), FIVE)
    kept = random.random(values.shape) >= missing
    row, rater = np.nonzero(kept)
    return pl.DataFrame(
        {
            "situation": names("s", situation[row]),
            "response": names("r", reply[row]),
            "rater": names("p", rater),
            "rating": values[kept],
        }
    )


def _judged(situations: int, replies: int, seed: int) -> tuple[Array, Array, Array]:
    random = np.random.default_rng(seed)
    situation = np.repeat(np.arange(situations), replies)
    size = len(situation)
    quality = random.normal(0, 0.7, situations)[situation] + random.normal(0, 1, size)
    people = rated(quality[:, None] + random.logistic(size=(size, 3)), FIVE)
    lean = random.normal(0, 0.8, situations)[situation]
    judge = rated(1.2 * quality + lean + random.logistic(size=size) / 2, FIVE)
    return np.median(people, axis=1), judge, situation.astype(float)


def _few_items(situations: int, raters: int, points: int, seed: int) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    quality = random.normal(0, 2.2, situations)
    latent = quality[:, None] + np.array(_FEW_LEVELS[raters])
    latent += random.logistic(size=(situations, raters))
    values = rated(latent, _CUTS[points])
    item, rater = np.divmod(np.arange(values.size), raters)
    return pl.DataFrame(
        {
            "situation": names("s", item),
            "response": names("s", item),
            "rater": names("p", rater),
            "rating": values.ravel(),
        }
    )


@cache
def _few_items_truth(raters: int, points: int) -> dict[str, float]:
    samples = [
        _coefficients(_few_items(100_000, raters, points, seed), 0, points) for seed in range(6)
    ]
    return {name: mean(sample[name][0] for sample in samples) for name in samples[0]}


@cache
def _truth() -> dict[str, float]:
    """The coefficients of two million situations: of fewer the error would move coverage."""
    samples = [
        _coefficients(_simulated(100_000, 1, 0.0, seed=seed), resamples=0) for seed in range(20)
    ]
    return {name: mean(sample[name][0] for sample in samples) for name in samples[0]}


@cache
def _judge_truth() -> float:
    samples = [_judged(400_000, 1, seed) for seed in range(5)]
    return mean(cohen_kappa(*pair, weights="quadratic").estimate for *pair, _ in samples)


DESIGNS = [
    *(AgreementDesign(f"agreement_{few}_replies_per_situation", few) for few in (1, 2, 4, 8)),
    AgreementDesign("agreement_4_replies_with_gaps", 4, missing=0.2),
    AgreementDesign("agreement_4_replies_12_situations", 4, situations=12),
    *(JudgeKappaDesign(f"judge_kappa_{few}_replies_per_situation", few) for few in (2, 6)),
]
FEW_ITEMS = [
    FewItemsDesign(
        f"agreement_{items}_items_{raters}_raters_{points}_points", items, raters, points
    )
    for items in (4, 6, 8, 12, 20, 30, 50, 80, 120)
    for raters in ((2, 3, 5) if items <= 20 else (2,))
    for points in (3, 5)
]
