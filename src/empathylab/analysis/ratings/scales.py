"""Which ratings of a study count as good, dimension by dimension."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from empathylab.errors import InputError, UnknownName
from empathylab.situations.sources.released import Dimension
from empathylab.stats.arms import RatingScale
from empathylab.store.ratings import Study

Thresholds = float | Mapping[str, float] | None


@dataclass(frozen=True, slots=True)
class StudyScales:
    """How each dimension of a study is analysed."""

    counted: Mapping[str, RatingScale]
    """Dimensions whose good ratings are counted."""
    degrees: Mapping[str, bool]
    """Of every dimension with ratings: whether its scale has no points."""
    averaged: tuple[str, ...]
    """Dimensions that are compared by their means: degrees, and those with one point only."""


def study_scales(study: Study, ratings: pl.DataFrame, good_from: Thresholds) -> StudyScales:
    """The scale of each dimension with ratings.

    One threshold holds for every dimension of degrees; where a study has none, for all. A mapping
    gives thresholds by dimension.
    """
    rated = set(ratings["dimension"].unique().to_list())
    dimensions = [one for one in study.dimensions if one.name in rated]
    limits = _limits(dimensions, good_from)
    scales, averaged = {}, []
    for one in dimensions:
        values = ratings.filter(dimension=one.name)["rating"]
        scale = _scale(one, values, limits.get(one.name))
        if scale is not None:
            scales[one.name] = scale
        if scale is None or not one.values:
            averaged.append(one.name)
    degrees = {one.name: not one.values for one in dimensions}
    return StudyScales(scales, degrees, tuple(averaged))


def thresholds(given: list[str] | None) -> Thresholds:
    """What `--good-from 75` or `--good-from warmth=75`, given several times, asks for."""
    plain, named = [], {}
    for text in given or ():
        name, sign, value = text.rpartition("=")
        try:
            number = float(value)
        except ValueError:
            number = float("nan")
        if number != number or (sign and not name.strip()):
            raise InputError(
                "--good-from needs a number, or DIMENSION=NUMBER",
                got=text,
                remedy="Write --good-from 75 or --good-from warmth=75.",
            )
        if sign:
            named[name.strip()] = number
        else:
            plain.append(number)
    if plain and (named or len(plain) > 1):
        raise InputError(
            "--good-from is either one number or named dimensions",
            got=" ".join(given or ()),
            remedy="Name the dimension of each: --good-from warmth=75 --good-from help=4.",
        )
    return plain[0] if plain else named or None


def _limits(dimensions: list[Dimension], good_from: Thresholds) -> dict[str, float]:
    if good_from is None:
        return {}
    if isinstance(good_from, Mapping):
        known = [one.name for one in dimensions]
        for name in good_from:
            if name not in known:
                raise UnknownName("rated dimension", name, known)
        return dict(good_from)
    degrees = [one.name for one in dimensions if not one.values]
    return dict.fromkeys(degrees or [one.name for one in dimensions], float(good_from))


def _scale(one: Dimension, values: pl.Series, limit: float | None) -> RatingScale | None:
    if one.values:
        if len(one.values) < 2:
            return None
        return RatingScale(one.name, one.values, one.labels, good_from=limit)
    if limit is None:
        return None
    lowest, highest = float(values.min()), float(values.max())  # type: ignore[arg-type]
    # Only the ratings given are known of the scale; the threshold may lie beyond them.
    ends = (lowest if lowest < limit else limit - 1, max(highest, limit))
    return RatingScale(one.name, ends, good_from=limit, continuous=True)
