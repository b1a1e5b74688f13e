"""Inverse prediction: the values of x that a new y does not exclude, from a line of y on x."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from empathylab.stats.arrays import Array
from empathylab.stats.t_tests import t_margin

_FLAT = 1e-12
EVERYTHING = (-math.inf, math.inf)


@dataclass(frozen=True, slots=True)
class StraightLine:
    """A least-squares line through points."""

    slope: float
    """NaN where all x are the same, or there is one point."""
    mean_x: float
    mean_y: float
    spread: float
    """Of x: the sum of squares around the mean."""
    points: int

    @classmethod
    def through(cls, x: Array, y: Array) -> StraightLine:
        """The line of y on x."""
        centred = x - x.mean()
        spread = float(centred @ centred)
        slope = float(centred @ y) / spread if spread > _FLAT else math.nan
        return cls(slope, float(x.mean()), float(y.mean()), spread, len(x))

    def missed(self, x: float, y: float) -> float:
        """The distance of another point from the line, in units of the scatter: divided by √(1 + h)
        where h says how far the line was stretched; NaN without a slope."""
        if math.isnan(self.slope):
            return math.nan
        deviation = x - self.mean_x
        stretched = 1 + 1 / self.points + deviation**2 / self.spread
        return (y - self.mean_y - self.slope * deviation) / math.sqrt(stretched)


@dataclass(frozen=True, slots=True)
class InversePrediction:
    """A rising line, and how far points lie from it, to be read from y back to x."""

    line: StraightLine
    variance: float
    """Of y around the line; NaN where it cannot be known."""

    @classmethod
    def of(cls, line: StraightLine, missed: Sequence[float]) -> InversePrediction:
        """From the line and the distances of its points, each from the line of all others."""
        known = len(missed) > 2 and not any(math.isnan(item) for item in missed)
        variance = sum(item**2 for item in missed) / len(missed) if known else math.nan
        return cls(line, variance)

    @property
    def df(self) -> int:
        """Points less two."""
        return max(self.line.points - 2, 0)

    def ends(self, y: float, confidence: float = 0.95) -> tuple[float, float]:
        """The ends of what x may be where y was seen; infinite where no x is excluded.

        An x is ruled out where y lies farther from the line at x than Student's quantile allows.
        The interval holds x with that confidence whatever x is, also far from all points, as long
        as y scatters around one straight line. It has no end where the line is not shown to rise.

        Eisenhart, C. (1939). Annals of Mathematical Statistics 10, 162–186. Fieller, E. C. (1954).
        JRSS B 16, 175–185. Osborne, C. (1991). International Statistical Review 59, 309–336.
        """
        line = self.line
        if self.df < 1 or math.isnan(self.variance) or not line.slope > 0:
            return EVERYTHING
        allowed = t_margin(self.df, confidence) ** 2 * self.variance
        steep = line.slope**2 - allowed / line.spread
        if steep <= 0:
            return EVERYTHING
        above = y - line.mean_y
        ground = steep * (1 + 1 / line.points) + above**2 / line.spread
        centre, half = line.slope * above / steep, math.sqrt(allowed * ground) / steep
        return line.mean_x + centre - half, line.mean_x + centre + half
