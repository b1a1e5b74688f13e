"""What a rating scale looks like, and which of its ratings count as good."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from empathylab.errors import InputError

_MAX_CATEGORIES = 11


class Category(NamedTuple):
    """A range of ratings that is counted together."""

    label: str
    low: float
    high: float
    """The highest rating in it."""


@dataclass(frozen=True, slots=True)
class RatingScale:
    """The values a rating can take, from worst to best."""

    name: str
    values: tuple[float, ...]
    """Ascending; of a continuous scale its two ends."""
    labels: tuple[str, ...] = ()
    """One per value; the values themselves if left out."""
    good_from: float | None = None
    """The lowest rating that counts as good; None: only the highest value does."""
    continuous: bool = False
    """Any number between the two ends is a rating."""

    def __post_init__(self) -> None:
        where = f"rating scale {self.name!r}"
        if len(self.values) < 2 or list(self.values) != sorted(set(self.values)):
            raise InputError(
                "the values must be at least two, different and ascending",
                where=where,
                got=self.values,
                remedy="List them from worst to best.",
            )
        if self.labels and len(self.labels) != len(self.values):
            raise InputError(
                f"{len(self.values)} values need as many labels",
                where=where,
                got=self.labels,
                remedy="Name every value, or none.",
            )
        if self.good_from is None:
            if self._many:
                raise InputError(
                    "a scale with many values has no obvious threshold for a good rating",
                    where=where,
                    remedy="Give the lowest rating that counts as good (good_from).",
                )
        elif not self.values[0] < self.good_from <= self.values[-1]:
            raise InputError(
                f"the lowest good rating must be above {self.values[0]:g} and not above "
                f"{self.values[-1]:g}",
                where=where,
                got=self.good_from,
                remedy="Choose a threshold inside the scale.",
            )

    @classmethod
    def between(
        cls, lowest: int, highest: int, *, name: str = "rating", good_from: float | None = None
    ) -> RatingScale:
        """A scale of the whole numbers from lowest to highest."""
        values = tuple(float(value) for value in range(lowest, highest + 1))
        return cls(name, values, good_from=good_from)

    @property
    def threshold(self) -> float:
        """The lowest rating that counts as good."""
        return self.values[-1] if self.good_from is None else self.good_from

    @property
    def good_label(self) -> str:
        """What a good rating is called."""
        if self.good_from is None or self.good_from == self.values[-1]:
            return self.labels[-1] if self.labels else f"{self.values[-1]:g}"
        return f"{self.good_from:g} or more"

    @property
    def categories(self) -> tuple[Category, ...]:
        """What is counted: every value, or below and above the threshold where they are many."""
        if self._many:
            low, high = self.values[0], self.values[-1]
            return (
                Category(f"below {self.threshold:g}", low, self.threshold),
                Category(self.good_label, self.threshold, high),
            )
        labels = self.labels or tuple(f"{value:g}" for value in self.values)
        return tuple(
            Category(label, value, value) for label, value in zip(labels, self.values, strict=True)
        )

    @property
    def _many(self) -> bool:
        return self.continuous or len(self.values) > _MAX_CATEGORIES

    def valid(self, rating: str) -> pl.Expr:
        """Which rows of the column hold a rating of this scale."""
        column = pl.col(rating)
        if self.continuous:
            return column.is_between(self.values[0], self.values[-1])
        return column.is_in(self.values)

    def category(self, rating: str) -> pl.Expr:
        """The number of the category that each row's rating falls into, from 0."""
        if self._many:
            return (pl.col(rating) >= self.threshold).cast(pl.Int64)
        places = {value: place for place, value in enumerate(self.values)}
        return pl.col(rating).replace_strict(places, return_dtype=pl.Int64)


BAD_OKAY_GOOD = RatingScale("empathy", (1.0, 2.0, 3.0), ("Bad", "Okay", "Good"))
"""The scale of Welivita & Pu (2024): how empathetic, compared with one's own reply."""
