"""Which ratings of a study count as good, dimension by dimension."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from empathylab.errors import InputError, UnknownName
from empathylab.situations.sources.released import Dimension
from empathylab.stats.arms import RatingScale
from empathylab.store.ratings import Study

Thresholds = float | Mapping[str, float] | None
Margins = Mapping[str, float]
"""The smallest difference that matters, by dimension."""
_LIKERT_POINTS = 5


@dataclass(frozen=True, slots=True)
class StudyScales:
    """How each dimension of a study is analysed."""

    counted: Mapping[str, RatingScale]
    """Dimensions whose good ratings are counted."""
    continuous: Mapping[str, bool]
    """Of every dimension with ratings: whether its scale has no points."""
    averaged: tuple[str, ...]
    """Dimensions compared by mean alone: continuous scales, and those with a single point."""
    likert: tuple[str, ...]
    """Dimensions of five points or more: the mean is reported first, good ratings beside it."""
    ranges: Mapping[str, float]
    """The width of each dimension's scale, in points."""

    @property
    def by_mean(self) -> tuple[str, ...]:
        """Dimensions whose headline is the mean."""
        return (*self.averaged, *self.likert)

    def width(self, dimension: str) -> float:
        """The largest possible difference between arms, in the unit they are compared in."""
        return self.ranges[dimension] if dimension in self.by_mean else 100.0

    def around(self, dimension: str, thresholds: Sequence[str]) -> dict[str, tuple[str, str]]:
        """The answers below and above each threshold of an ordinal model, by their labels.

        Empty where the model has other answers than the scale, such as one that nobody gave.
        """
        scale = self.counted.get(dimension)
        labels = [] if scale is None else [item.label for item in scale.categories]
        if len(labels) != len(thresholds) + 1:
            return {}
        return dict(zip(thresholds, itertools.pairwise(labels), strict=True))


def study_scales(study: Study, ratings: pl.DataFrame, good_from: Thresholds) -> StudyScales:
    """The scale of each dimension with ratings.

    One threshold holds for every continuous dimension; where a study has none, for all. A mapping
    gives thresholds by dimension.
    """
    rated = set(ratings["dimension"].unique().to_list())
    dimensions = [dimension for dimension in study.dimensions if dimension.name in rated]
    limits = _limits(dimensions, good_from)
    scales, averaged, likert, ranges = {}, [], [], {}
    for dimension in dimensions:
        values = ratings.filter(dimension=dimension.name)["rating"]
        scale = _scale(dimension, values, limits.get(dimension.name))
        if scale is not None:
            scales[dimension.name] = scale
        if scale is None or not dimension.values:
            averaged.append(dimension.name)
        elif len(dimension.values) >= _LIKERT_POINTS and dimension.name not in limits:
            likert.append(dimension.name)
        ends = dimension.ends or dimension.values or values
        ranges[dimension.name] = float(max(ends)) - float(min(ends))
    continuous = {dimension.name: not dimension.values for dimension in dimensions}
    return StudyScales(scales, continuous, tuple(averaged), tuple(likert), ranges)


def checked_margins(
    given: float | Margins | None, declared: Margins, scales: StudyScales
) -> dict[str, float]:
    """The margin of each dimension: as given, else as declared in the study file.

    In points of the scale for dimensions compared by mean, else in percentage points.
    """
    names = list(scales.continuous)
    margins = {name: value for name, value in declared.items() if name in names}
    if isinstance(given, Mapping):
        for name in given:
            if name not in names:
                raise UnknownName("rated dimension", name, names)
        margins |= given
    elif given is not None:
        margins = dict.fromkeys(names, float(given))
    for name, value in margins.items():
        unit = "points" if name in scales.by_mean else "percentage points"
        most = scales.width(name)
        if not 0 < value < most:
            raise InputError(
                f"the margin of {name} must be between 0 and {most:g} {unit}",
                got=value,
                remedy="Declare the smallest difference that would matter.",
            )
    return margins


def by_dimension(given: list[str] | None, option: str) -> Thresholds:
    """What `OPTION 75`, or `OPTION warmth=75` given several times, asks for."""
    single, named = [], {}
    for text in given or ():
        name, sign, value = text.rpartition("=")
        try:
            number = float(value)
        except ValueError:
            number = float("nan")
        if number != number or (sign and not name.strip()):
            raise InputError(
                f"{option} needs a number, or DIMENSION=NUMBER",
                got=text,
                remedy=f"Write {option} 75 or {option} warmth=75.",
            )
        if sign:
            named[name.strip()] = number
        else:
            single.append(number)
    if single and (named or len(single) > 1):
        raise InputError(
            f"{option} is either one number or named dimensions",
            got=" ".join(given or ()),
            remedy=f"Name the dimension of each: {option} warmth=75 {option} help=4.",
        )
    return single[0] if single else named or None


def _limits(dimensions: list[Dimension], good_from: Thresholds) -> dict[str, float]:
    if good_from is None:
        return {}
    if isinstance(good_from, Mapping):
        known = [dimension.name for dimension in dimensions]
        for name in good_from:
            if name not in known:
                raise UnknownName("rated dimension", name, known)
        return dict(good_from)
    degrees = [dimension.name for dimension in dimensions if not dimension.values]
    return dict.fromkeys(degrees or [dimension.name for dimension in dimensions], float(good_from))


def point_labels(dimension: Dimension) -> tuple[str, ...]:
    """A label for each point: its words, or its number where it has none or shares them."""
    labels = dimension.labels
    if len(labels) != len(dimension.values):
        return labels
    words = [label or f"{value:g}" for label, value in zip(labels, dimension.values, strict=True)]
    return tuple(
        word if words.count(word) == 1 else f"{word} ({value:g})"
        for word, value in zip(words, dimension.values, strict=True)
    )


def labels_by_value(dimensions: Iterable[Dimension]) -> dict[str, dict[float, str]]:
    """The label of each point, by dimension."""
    return {
        dimension.name: dict(zip(dimension.values, point_labels(dimension), strict=False))
        for dimension in dimensions
    }


def _scale(dimension: Dimension, values: pl.Series, limit: float | None) -> RatingScale | None:
    if dimension.values:
        if len(dimension.values) < 2:
            return None
        points = tuple(float(value) for value in dimension.values)
        return RatingScale(dimension.name, points, point_labels(dimension), good_from=limit)
    if limit is None:
        return None
    lowest, highest = float(values.min()), float(values.max())  # type: ignore[arg-type]
    # Only the ratings given are known of the scale; the threshold may lie beyond them.
    ends = (lowest if lowest < limit else limit - 1, max(highest, limit))
    return RatingScale(dimension.name, ends, good_from=limit, continuous=True)
