"""The mixed models of a rated study: one per dimension, and one more where valence is known."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import polars as pl

from empathylab.errors import InputError
from empathylab.stats.mixed import Clmm, Lmm, clmm, lmm


@dataclass(frozen=True, slots=True)
class DimensionModel:
    """A mixed model of one dimension's ratings."""

    dimension: str
    kind: str
    """`clmm` for ordered categories, `lmm` for a scale of degrees."""
    by_valence: bool
    """Whether arms may differ in another way for pleasant situations than for others."""
    model: Clmm | Lmm | None
    problem: str | None = None
    """Why there is no model."""


def dimension_models(
    ratings: pl.DataFrame, degrees: Iterable[tuple[str, bool]], reference: str
) -> tuple[DimensionModel, ...]:
    """The models of each dimension; `degrees` says of each whether its scale has no points."""
    found = []
    for name, linear in degrees:
        frame = ratings.filter(dimension=name)
        if frame["arm"].n_unique() < 2:
            continue
        if frame["rating"].n_unique() < 2:
            value = f"{frame['rating'][0]:g}"
            problem = f"every rating of {name} is {value}, so there is nothing to model."
            found.append(DimensionModel(name, "lmm" if linear else "clmm", False, None, problem))
            continue
        found.append(_model(frame, name, reference, linear=linear, by_valence=False))
        # Situations that are both pleasant and unpleasant say nothing on the difference.
        clear = frame.filter(pl.col("valence").is_in(["positive", "negative"]))
        if clear["valence"].n_unique() == 2:
            found.append(_model(clear, name, reference, linear=linear, by_valence=True))
    return tuple(found)


def _model(
    frame: pl.DataFrame, name: str, reference: str, *, linear: bool, by_valence: bool
) -> DimensionModel:
    arms = "arm * valence" if by_valence else "arm"
    formula = f"rating ~ {arms} + (1|rater) + (1|situation)"
    options: dict[str, Any] = {"reference": {"arm": reference}}
    if by_valence:
        options["reference"]["valence"] = "negative"
    kind = "lmm" if linear else "clmm"
    try:
        model = (lmm if linear else clmm)(frame, formula, **options)
    except InputError as error:
        return DimensionModel(name, kind, by_valence, None, str(error))
    return DimensionModel(name, kind, by_valence, model)
