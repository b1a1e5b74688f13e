"""What a fitted cumulative link mixed model expects: the probability of each category."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np
import polars as pl

from empathylab.errors import InputError, UnknownName
from empathylab.stats.arguments import require_columns
from empathylab.stats.arrays import Array, Codes
from empathylab.stats.mixed.coding import Predictor
from empathylab.stats.mixed.columns import level_codes
from empathylab.stats.mixed.design import MixedDesign
from empathylab.stats.mixed.ordinal.clmm import Clmm
from empathylab.stats.mixed.ordinal.links import Link, find_link

Random = Literal["typical", "averaged", "modes"]

_NODES = 48
"""Points of the quadrature over random effects."""


def category_probabilities(
    fit: Clmm, frame: pl.DataFrame | None = None, *, random: Random = "typical"
) -> pl.DataFrame:
    """The probability of each category, one row per row of the frame, one column per category.

    Without a frame, for the ratings that were fitted. `random` says for whom: a `typical` rater
    and situation, whose effects are zero; `averaged` over all raters and situations there could
    be, which draws probabilities together; or `modes`, each row's own rater and situation as far
    as known (one not seen in the fit counts as typical). A missing value is an error.
    """
    if random not in ("typical", "averaged", "modes"):
        raise UnknownName("way to treat random effects", random, ["typical", "averaged", "modes"])
    if random == "averaged":
        refuse_averaging(fit)
    design = fit.design
    x = design.x
    if frame is not None:
        x = design.coding.matrix(_values(design, frame), frame.height)
    eta = x @ np.array([coefficient.estimate for coefficient in fit.coefficients.values()])
    if random == "modes":
        eta = eta + _own_effects(fit, frame, len(eta))
    sd = np.array([effect.sd for effect in fit.random_effects.values()])
    by_category = probabilities(
        np.array([threshold.estimate for threshold in fit.thresholds.values()]),
        eta,
        float(np.sqrt((sd**2).sum())) if random == "averaged" else 0.0,
        find_link(fit.link),
    )
    return pl.DataFrame(by_category, schema=list(fit.levels))


def refuse_averaging(fit: Clmm) -> None:
    """An InputError where the spread of raters and situations depends on the row."""
    if fit.has_slopes:
        raise InputError(
            "probabilities cannot be averaged over levels whose slopes vary",
            where=f"formula {fit.formula!r}",
            remedy="Ask for those of a typical level, or fit random intercepts only.",
        )


def probabilities(thresholds: Array, eta: Array, spread: float, link: Link) -> Array:
    """Rows × categories, averaged over a normal effect of that standard deviation."""
    at = thresholds - eta[:, None]
    if spread > 0:
        nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
        below = link.cdf(at[..., None] - spread * nodes) @ (weights / weights.sum())
    else:
        below = link.cdf(at)
    ends = np.zeros((len(eta), 1)), np.ones((len(eta), 1))
    return np.diff(np.concatenate([ends[0], below, ends[1]], axis=1), axis=1)


def _values(design: MixedDesign, frame: pl.DataFrame) -> Mapping[str, Codes | Array]:
    values: dict[str, Codes | Array] = {}
    for label, predictor in design.coding.predictors.items():
        name = predictor.variable.name
        require_columns(frame, name)
        if frame[name].null_count():
            raise InputError(
                f"{name!r} has a missing value, for which nothing can be predicted",
                remedy="Leave out such rows.",
            )
        values[label] = _known_levels(frame[name], predictor)
    return values


def _known_levels(column: pl.Series, predictor: Predictor) -> Codes | Array:
    if not predictor.levels:
        return column.cast(pl.Float64).to_numpy()
    codes, levels = level_codes(column)
    for level in levels:
        if level not in predictor.levels:
            raise UnknownName(f"level of {column.name!r} in the fit:", level, predictor.levels)
    places = np.array([predictor.levels.index(level) for level in levels], dtype=np.int64)
    return places[codes]


def _own_effects(fit: Clmm, frame: pl.DataFrame | None, n: int) -> Array:
    total = np.zeros(n)
    for group, columns in zip(fit.design.groups, fit.design.formula.groups, strict=True):
        if frame is None:
            for number, effect in enumerate(group.effect_names):
                effects = fit.modes[effect]["mode"].to_numpy()[group.codes]
                given = group.columns.given
                total += effects if given is None else effects * given[:, number]
            continue
        if group.columns.values is not None:
            raise InputError(
                f"random slopes by {group.name!r} cannot be predicted for new rows",
                where=f"formula {fit.formula!r}",
                remedy="Leave out the frame, or ask for a typical level.",
            )
        modes = fit.modes[group.name]
        require_columns(frame, *columns)
        names = [pl.Series(_names(frame[column])) for column in columns]
        wanted = names[0]
        for name in names[1:]:
            wanted = wanted + ":" + name
        joined = pl.DataFrame({"level": wanted}).join(
            modes, on="level", how="left", maintain_order="left"
        )
        total += joined["mode"].fill_null(0.0).to_numpy()
    return total


def _names(column: pl.Series) -> list[str]:
    codes, levels = level_codes(column)
    return [levels[code] for code in codes.tolist()]
