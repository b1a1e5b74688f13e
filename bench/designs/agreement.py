"""Intervals of agreement, where several replies belong to one situation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from statistics import mean

import numpy as np
import polars as pl

from designs.simulation import FIVE, Array, Counts, names, rated
from empathylab.stats.agreement import agreement, cohen_kappa

_LEVELS = (-0.5, -0.2, 0.2, 0.6)
"""The raters: intervals hold for these, and other situations."""


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


def _coefficients(frame: pl.DataFrame, resamples: int) -> dict[str, tuple[float, float, float]]:
    found = agreement(
        frame, situation="response", dimension=None, resamples=resamples, cluster="situation"
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
