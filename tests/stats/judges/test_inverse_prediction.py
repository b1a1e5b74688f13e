"""Which values of x a new y does not rule out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from empathylab.stats.judges.inverse_prediction import EVERYTHING, InversePrediction, StraightLine

X, Y = np.array([1.0, 2, 3, 4, 6]), np.array([1.2, 1.9, 3.3, 3.8, 6.1])


def read_back(x: np.ndarray, y: np.ndarray) -> InversePrediction:
    """The line through the points, each tried on the line of the others."""
    missed = [
        StraightLine.through(np.delete(x, n), np.delete(y, n)).missed(float(x[n]), float(y[n]))
        for n in range(len(x))
    ]
    return InversePrediction.of(StraightLine.through(x, y), missed)


def test_points_left_out_give_the_variance_around_the_line() -> None:
    # By hand: a point's distance from the others' line over its root is e / sqrt(1 - h).
    slope, level = np.polyfit(X, Y, 1)
    hats = 1 / 5 + (X - X.mean()) ** 2 / ((X - X.mean()) ** 2).sum()
    expected = np.mean((Y - level - slope * X) ** 2 / (1 - hats))
    assert read_back(X, Y).variance == pytest.approx(expected)


def test_at_each_end_the_new_value_is_just_at_students_quantile() -> None:
    found = read_back(X, Y)
    quantile = stats.t.ppf(0.975, 3)
    for end in found.ends(5.0):
        distance = found.line.missed(end, 5.0) / math.sqrt(found.variance)
        assert abs(distance) == pytest.approx(quantile)
    low, high = found.ends(5.0)
    assert low < 5 < high


def test_the_interval_grows_with_the_confidence_and_with_the_distance() -> None:
    found = read_back(X, Y)

    def width(y: float, confidence: float) -> float:
        low, high = found.ends(y, confidence)
        return high - low

    assert width(3.0, 0.99) > width(3.0, 0.95)
    assert width(12.0, 0.95) > width(3.0, 0.95)


def test_a_line_that_is_not_shown_to_rise_rules_nothing_out() -> None:
    assert read_back(X, np.array([3.0, 1, 4, 1, 5])).ends(9.0) == EVERYTHING
    assert read_back(X, Y[::-1]).ends(2.0) == EVERYTHING
    assert read_back(np.ones(5), Y).ends(2.0) == EVERYTHING
    assert read_back(X[:2], Y[:2]).ends(2.0) == EVERYTHING


@pytest.mark.parametrize("far", [0.0, 3.0])
def test_it_covers_also_far_from_all_points(far: float) -> None:
    rng = np.random.default_rng(2)
    held = 0
    for _ in range(400):
        x = rng.normal(0, 1, 6)
        y = 2 * x + rng.normal(0, 0.5, 6)
        low, high = read_back(x, y).ends(2 * far + rng.normal(0, 0.5))
        held += low <= far <= high
    assert 0.92 <= held / 400 <= 0.98
