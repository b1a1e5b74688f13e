"""Standard deviations that may be zero, on functions whose least values are known."""

from __future__ import annotations

import numpy as np
import pytest

from empathylab.stats.arrays import Array
from empathylab.stats.mixed.boundary import Limits, bounded
from empathylab.stats.mixed.effects.structure import intercepts
from empathylab.stats.mixed.search import Function, Place

LIMITS = Limits(near=0.1, beside=0.02, alone=1e-9, jointly=1e-5)


def tried(function: Function, at: float) -> tuple[Array, list[int]]:
    start = np.array([at])
    value, gradient = function(start)
    effects = intercepts([np.repeat(np.arange(3), 2)], [3])
    place = Place(start, value, gradient, np.eye(1), 1, False)
    return bounded(function, effects, place, LIMITS, slack=0.0)


def crest(at: Array) -> tuple[float, Array]:
    """Flat at zero, and least at 0.1 on either side."""
    rest = float(at[0] ** 2) - 0.01
    return rest**2, 4 * rest * at


def bowl(at: Array) -> tuple[float, Array]:
    return float(at[0] ** 2), 2 * at


def test_a_search_that_ended_on_a_crest_goes_on_beside_it() -> None:
    whole, free = tried(crest, 1e-7)
    assert whole == pytest.approx([0.02])
    assert free == [0]


def test_a_search_that_ended_close_to_a_minimum_at_zero_ends_there() -> None:
    whole, free = tried(bowl, 1e-5)
    assert whole == pytest.approx([0.0], abs=0)
    assert free == []


def test_a_minimum_close_to_zero_stays_where_it_is() -> None:
    whole, free = tried(lambda at: (float(at[0] - 0.05) ** 2, 2 * (at - 0.05)), 0.05)
    assert whole == pytest.approx([0.05])
    assert free == [0]
