"""Ratings of several arms, checked and put into one shape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import polars as pl

from empathylab.errors import InputError, UnknownName
from empathylab.stats.arms.rating_scales import RatingScale

SubsetKind = Literal["all", "valence", "emotion"]


@dataclass(frozen=True, slots=True)
class Subset:
    """Some of the situations: all, those of one valence, or those of one emotion."""

    kind: SubsetKind
    name: str
    """`all`, `positive`, `negative`, or `emotion:NAME`."""
    ratings: pl.DataFrame


@dataclass(frozen=True, slots=True)
class RatedArms:
    """The ratings of one dimension."""

    dimension: str
    scale: RatingScale
    ratings: pl.DataFrame
    """Columns rater, situation, arm, rating, good, category; emotion, valence and cluster where
    known."""
    arms: tuple[str, ...]
    """The reference first, then in the order in which they appear."""
    dropped: int
    """Rows without a rating, rater, situation or arm."""

    @property
    def reference(self) -> str:
        """The arm the others are compared with."""
        return self.arms[0]

    def subsets(self) -> Iterator[Subset]:
        """All ratings, then by valence, then by emotion, each kind by name."""
        return subsets(self.ratings)


def subsets(ratings: pl.DataFrame) -> Iterator[Subset]:
    """All ratings, then by valence, then by emotion, each kind by name."""
    yield Subset("all", "all", ratings)
    kinds: tuple[SubsetKind, ...] = ("valence", "emotion")
    for kind in kinds:
        if kind not in ratings.columns:
            continue
        known = ratings.filter(pl.col(kind).is_not_null() & (pl.col(kind) != ""))
        for value in sorted(known[kind].unique().to_list()):
            name = value if kind == "valence" else f"emotion:{value}"
            yield Subset(kind, name, known.filter(pl.col(kind) == value))


def rated_arms(
    frame: pl.DataFrame,
    scale: RatingScale | Mapping[str, RatingScale],
    *,
    reference: str = "human",
    rater: str = "rater",
    situation: str = "situation",
    arm: str = "arm",
    dimension: str = "dimension",
    rating: str = "rating",
    emotion: str = "emotion",
    valence: str = "valence",
    cluster: str = "",
) -> list[RatedArms]:
    """The ratings by dimension, in the order in which dimensions appear.

    `scale` may differ by dimension. A frame without a dimension column holds one dimension, named
    as the scale. Rows with a gap are dropped and counted; a rating the scale does not have is an
    error, for it may mean that the scale is another one.
    """
    roles = {"rater": rater, "situation": situation, "arm": arm, "rating": rating}
    optional = {"dimension": dimension, "emotion": emotion, "valence": valence, "cluster": cluster}
    for role, column in roles.items():
        if column not in frame.columns:
            raise UnknownName("column", column, frame.columns, remedy=f"Name it with {role}=.")
    roles |= {role: column for role, column in optional.items() if column in frame.columns}
    chosen = frame.select(
        (_number(frame, column) if role == "rating" else pl.col(column).cast(pl.String)).alias(role)
        for role, column in roles.items()
    )
    if "dimension" not in chosen.columns:
        name = scale.name if isinstance(scale, RatingScale) else next(iter(scale), "rating")
        chosen = chosen.with_columns(dimension=pl.lit(name))
    if chosen.is_empty():
        raise InputError("there are no ratings", remedy="Collect or import ratings first.")
    nowhere = chosen["dimension"].null_count()
    if nowhere:
        raise InputError(
            f"{nowhere} ratings have no dimension",
            remedy=f"Fill the column {dimension!r}, or leave it out where there is one dimension.",
        )
    return [
        _one_dimension(ratings, name, _scale_of(scale, name), reference)
        for (name,), ratings in chosen.group_by("dimension", maintain_order=True)
        if isinstance(name, str)
    ]


def _number(frame: pl.DataFrame, column: str) -> pl.Expr:
    values = frame[column]
    if values.dtype != pl.String:
        return pl.col(column).cast(pl.Float64)
    as_numbers = values.cast(pl.Float64, strict=False)
    wrong = frame.filter(as_numbers.is_null() & values.is_not_null() & (values != ""))
    if wrong.height:
        raise InputError(
            f"{column!r} must contain numbers",
            got=wrong[column][0],
            remedy="Code the ratings as numbers, from worst to best.",
        )
    return pl.col(column).cast(pl.Float64, strict=False)


def _scale_of(scale: RatingScale | Mapping[str, RatingScale], dimension: str) -> RatingScale:
    if isinstance(scale, RatingScale):
        return scale
    if dimension not in scale:
        raise UnknownName("rating scale for the dimension", dimension, scale)
    return scale[dimension]


def _one_dimension(
    ratings: pl.DataFrame, dimension: str, scale: RatingScale, reference: str
) -> RatedArms:
    needed = ["rater", "situation", "arm", "rating"]
    # A NaN is a gap too; polars distinguishes the two.
    whole = ratings.with_columns(pl.col("rating").fill_nan(None)).drop_nulls(needed)
    wrong = whole.filter(~scale.valid("rating"))
    if wrong.height:
        listed = ", ".join(f"{value:g}" for value in scale.values[:12])
        allowed = (
            f"be between {scale.values[0]:g} and {scale.values[-1]:g}"
            if scale.continuous
            else f"be one of {listed}"
        )
        raise InputError(
            f"a rating must {allowed}",
            where=f"dimension {dimension!r}, arm {wrong['arm'][0]!r}, rater {wrong['rater'][0]!r}",
            got=wrong["rating"][0],
            remedy="Fix the rating, or name the scale that was used.",
        )
    arms = whole["arm"].unique(maintain_order=True).to_list()
    if reference not in arms:
        raise UnknownName("arm with ratings", reference, arms, remedy="Choose the reference arm.")
    arms.remove(reference)
    coded = whole.with_columns(
        good=pl.col("rating") >= scale.threshold, category=scale.category("rating")
    )
    dropped = ratings.height - whole.height
    return RatedArms(dimension, scale, coded, (reference, *arms), dropped)
