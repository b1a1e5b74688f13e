"""Standard deviations and correlations of random effects, from the factors that were searched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl

from empathylab.stats.arrays import Array
from empathylab.stats.mixed.design import MixedDesign
from empathylab.stats.mixed.effects.structure import Effects, GroupEffects
from empathylab.stats.mixed.random_columns import correlation_pairs

_SINGULAR = 1e-4
"""Diagonal of a factor, relative to its row, below which a fit is singular; lme4's bound."""


@dataclass(frozen=True, slots=True)
class RandomEffect:
    """How much an effect varies between the levels of a grouping."""

    sd: float
    variance: float
    levels: int
    boundary: bool
    """Whether the maximum lies at zero."""


class Correlation(NamedTuple):
    """Of two random effects of one grouping."""

    group: str
    first: str
    second: str
    estimate: float
    """NaN where one of the two does not vary."""


class Spread(NamedTuple):
    """How random effects vary."""

    effects: dict[str, RandomEffect]
    correlations: tuple[Correlation, ...]
    singular: bool
    covariances: list[Array]
    """Per grouping, of the effects of its columns as given."""


def random_structure(design: MixedDesign) -> Effects:
    """The random effects of a design, on the columns that are searched."""
    return Effects(
        [
            GroupEffects(group.codes, len(group.levels), group.columns.values, group.columns.blocks)
            for group in design.groups
        ]
    )


def random_spread(design: MixedDesign, effects: Effects, theta: Array, unit: float = 1.0) -> Spread:
    """Standard deviations and correlations at θ, in a unit (the residual's in a linear model)."""
    random_effects: dict[str, RandomEffect] = {}
    correlations: list[Correlation] = []
    covariances, singular = [], False
    for group, factor in zip(design.groups, effects.factors(theta), strict=True):
        covariance = unit**2 * group.columns.covariance(factor)
        covariances.append(covariance)
        sds = np.sqrt(np.diag(covariance))
        own = np.sqrt((factor**2).sum(axis=1))
        singular |= bool((np.abs(np.diag(factor)) <= _SINGULAR * np.maximum(own, 1e-300)).any())
        zero = own == 0 if len(own) == 1 else own <= _SINGULAR * max(float(own.max()), 1e-300)
        for column, name in enumerate(group.effect_names):
            sd = float(sds[column])
            random_effects[name] = RandomEffect(sd, sd**2, len(group.levels), bool(zero[column]))
        for a, b in correlation_pairs(group.columns):
            both = float(sds[a] * sds[b])
            value = float(covariance[a, b]) / both if both > 0 else float("nan")
            names = group.columns.names
            correlations.append(Correlation(group.name, names[a], names[b], value))
    return Spread(random_effects, tuple(correlations), singular, covariances)


def parameter_names(design: MixedDesign, effects: Effects) -> list[str]:
    """A name for each element of θ."""
    names = []
    for parameter in effects.parameters:
        group = design.groups[parameter.group]
        if group.columns.values is None:
            names.append(f"sd({group.name})")
            continue
        row, column = (group.columns.names[place] for place in (parameter.row, parameter.column))
        names.append(f"factor({group.name}; {row}, {column})")
    return names


def mode_tables(design: MixedDesign, modes: Sequence[Array]) -> dict[str, pl.DataFrame]:
    """Per random effect, each level's predicted effect."""
    return {
        name: pl.DataFrame({"level": list(group.levels), "mode": by_level[:, column]})
        for group, by_level in zip(design.groups, modes, strict=True)
        for column, name in enumerate(group.effect_names)
    }
