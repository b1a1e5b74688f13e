"""The same comparison under every declared reasonable choice: a specification curve.

Steegen, S., Tuerlinckx, F., Gelman, A., & Vanpaemel, W. (2016). Perspectives on Psychological
Science 11, 702–712. Simonsohn, U., Simmons, J. P., & Nelson, L. D. (2020). Nature Human Behaviour
4, 1208–1214.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from empathylab.analysis.json_values import json_value
from empathylab.analysis.ratings.design import RatingsDesign
from empathylab.analysis.ratings.mixed_models import doubtful
from empathylab.analysis.ratings.model import DimensionModel, coefficient_tests
from empathylab.analysis.results import ALPHA
from empathylab.analysis.text.apa import counted
from empathylab.analysis.text.numbers import signed
from empathylab.compute import map_ordered
from empathylab.errors import InputError
from empathylab.stats.arms.clustered import clustered_difference
from empathylab.stats.mixed import Clmm, clmm

_LATENT_SD = {"logit": math.pi / math.sqrt(3), "probit": 1.0}
_MOST_THRESHOLDS = 10


@dataclass(frozen=True, slots=True)
class Specification:
    """One way to analyse the comparison of an arm with the reference."""

    dimension: str
    arm: str
    outcome: str
    """`mean`, `good from 3`, or `ordered categories`."""
    method: str
    """`clustered` or the link of the mixed model."""
    clustering: str
    exclusions: str
    estimate: float
    """In standard deviations: of the outcome, or of the latent scale."""
    low: float
    high: float
    p: float
    n: int


@dataclass(frozen=True, slots=True)
class Multiverse:
    """All specifications, by dimension and arm, the smallest estimate first."""

    specifications: tuple[Specification, ...]

    def of(self, dimension: str, arm: str) -> tuple[Specification, ...]:
        """The specifications of one comparison."""
        return tuple(
            specification
            for specification in self.specifications
            if (specification.dimension, specification.arm) == (dimension, arm)
        )

    @property
    def comparisons(self) -> tuple[tuple[str, str], ...]:
        """Dimension and arm of each comparison."""
        return tuple(
            dict.fromkeys(
                (specification.dimension, specification.arm)
                for specification in self.specifications
            )
        )

    def summaries(self) -> list[dict[str, Any]]:
        """Per comparison: how many specifications, and how many show a difference each way."""
        return [self._summary(*key) for key in self.comparisons]

    def _summary(self, dimension: str, arm: str) -> dict[str, Any]:
        every = self.of(dimension, arm)
        estimates = [item.estimate for item in every]
        significant = [item for item in every if item.p < ALPHA]
        return {
            "dimension": dimension,
            "arm": arm,
            "specifications": len(every),
            "higher": sum(item.estimate > 0 for item in significant),
            "lower": sum(item.estimate < 0 for item in significant),
            "median": float(np.median(estimates)),
            "smallest": min(estimates),
            "largest": max(estimates),
        }

    def sentences(self) -> list[str]:
        """A sentence per comparison."""
        return [
            f"{row['arm']} on {row['dimension']}: of "
            f"{counted(row['specifications'], 'specification')}, {row['higher']} show a higher "
            f"and {row['lower']} a lower rating (p < .05); median {signed(row['median'], 2)} "
            f"standard deviations, from {signed(row['smallest'], 2)} to "
            f"{signed(row['largest'], 2)}."
            for row in self.summaries()
        ]

    def to_dict(self) -> dict[str, Any]:
        """As `--json` holds it."""
        document: dict[str, Any] = json_value(
            {"summaries": self.summaries(), "specifications": list(self.specifications)}
        )
        return document


def multiverse(
    samples: Mapping[str, pl.DataFrame],
    models: Iterable[DimensionModel],
    design: RatingsDesign,
    points: Mapping[str, Sequence[float]],
) -> Multiverse:
    """Every combination of exclusions, outcome, method and clustering.

    `samples` holds the ratings by name of the exclusions; `points` the scale of each dimension,
    empty where it is continuous. Outcomes are the mean and every threshold of the scale; methods
    the clustered test (by rater, and by rater and situation where replies vary) and the ordinal
    mixed model with either link. What cannot be estimated is left out.
    """
    fitted = [model for model in models if not model.by_valence]
    worlds = [
        _World(
            model.dimension,
            exclusions,
            frame.filter(dimension=model.dimension),
            tuple(points.get(model.dimension, ())),
            model.model.formula if isinstance(model.model, Clmm) else None,
        )
        for exclusions, frame in samples.items()
        for model in fitted
    ]
    specifications = [
        item for every in map_ordered(partial(_estimated, design), worlds) for item in every
    ]
    order = {key: place for place, key in enumerate(_keys(specifications))}
    specifications.sort(key=lambda item: (order[item.dimension, item.arm], item.estimate))
    return Multiverse(tuple(specifications))


class _World(NamedTuple):
    """The ratings of a dimension under one choice of exclusions."""

    dimension: str
    exclusions: str
    ratings: pl.DataFrame
    values: tuple[float, ...]
    """The points of the scale; none where it is continuous."""
    formula: str | None
    """Of the ordinal mixed model, where there is one."""


def _estimated(design: RatingsDesign, world: _World) -> list[Specification]:
    specifications = [item for arm in design.arms[1:] for item in _clustered(world, arm, design)]
    return [*specifications, *_mixed(world, design)]


def _keys(specifications: Iterable[Specification]) -> list[tuple[str, str]]:
    return list(dict.fromkeys((item.dimension, item.arm) for item in specifications))


def _clustered(world: _World, arm: str, design: RatingsDesign) -> Iterator[Specification]:
    both = world.ratings.filter(pl.col("arm").is_in([arm, design.arms[0]]))
    outcomes = {"mean": both["rating"].to_numpy()}
    for cut in sorted(world.values)[1 : _MOST_THRESHOLDS + 1]:
        outcomes[f"good from {cut:g}"] = (both["rating"] >= cut).cast(pl.Float64).to_numpy()
    second = design.second_cluster
    ways = {"rater": None} | ({design.clusters: both[second]} if second else {})
    for outcome, numbers in outcomes.items():
        sd = _pooled_sd(numbers, (both["arm"] == arm).to_numpy())
        for clustering, situations in ways.items():
            test = clustered_difference(
                numbers, both["arm"] == arm, both["rater"], situations=situations
            )
            if not math.isfinite(test.p) or not sd > 0:
                continue
            yield Specification(
                dimension=world.dimension,
                arm=arm,
                outcome=outcome,
                method="clustered test",
                clustering=clustering,
                exclusions=world.exclusions,
                estimate=test.difference.estimate / sd,
                low=test.difference.low / sd,
                high=test.difference.high / sd,
                p=test.p,
                n=test.n,
            )


def _pooled_sd(values: Any, side: Any) -> float:
    parts = [values[side], values[~side]]
    if min(len(part) for part in parts) < 2:
        return math.nan
    squares = sum((len(part) - 1) * float(part.var(ddof=1)) for part in parts)
    return math.sqrt(squares / (len(values) - 2))


def _mixed(world: _World, design: RatingsDesign) -> Iterator[Specification]:
    if world.formula is None:
        return
    levels, ratings = {"arm": design.arms[0]}, world.ratings
    groups = world.formula.split(" ~ arm + ")[-1]
    for link, sd in _LATENT_SD.items():
        try:
            fit = clmm(ratings, world.formula, link=link, reference=levels)
        except InputError:
            continue
        tests, unsure = coefficient_tests(fit, ratings, levels), doubtful(fit)
        for arm in design.arms[1:]:
            name = f"arm{arm}"
            if name in unsure or name not in tests:
                continue
            test = tests[name]
            yield Specification(
                dimension=world.dimension,
                arm=arm,
                outcome="ordered categories",
                method=f"mixed model, {link}",
                clustering=groups,
                exclusions=world.exclusions,
                estimate=test.estimate / sd,
                low=test.low / sd,
                high=test.high / sd,
                p=test.p,
                n=fit.n,
            )
