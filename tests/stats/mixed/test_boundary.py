"""Standard deviations that may be zero, on functions whose least values are known."""

from __future__ import annotations

import numpy as np
import pytest

from empathylab.stats.arrays import Array
from empathylab.stats.mixed.boundary import Limits, bounded
from empathylab.stats.mixed.effects.structure import (
    Effects,
    GroupEffects,
    intercepts,
    lower_factor,
    singular_trials,
)
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


def correlated() -> tuple[Effects, Array, Array]:
    """Three correlated effects of one grouping, and their factor Λ."""
    columns = np.random.default_rng(1).normal(size=(12, 3))
    effects = Effects([GroupEffects(np.repeat(np.arange(4), 3), 4, columns, ((0, 1, 2),))])
    theta = np.array([1.0, 0.5, 0.4, 0.01, 0.3, 0.6])
    return effects, theta, effects.factors(theta)[0]


def test_an_effect_without_variance_leaves_the_covariance_of_the_others() -> None:
    effects, theta, factor = correlated()
    (without, gone), _ = singular_trials(effects, theta, 3)
    found = effects.factors(without)[0]
    expected = factor @ factor.T
    expected[1, :] = expected[:, 1] = 0.0
    assert found @ found.T == pytest.approx(expected)
    assert gone == {1, 3, 4}  # its row and its column of Λ


def test_an_effect_that_follows_from_others_leaves_their_variances() -> None:
    effects, theta, factor = correlated()
    _, (follows, gone) = singular_trials(effects, theta, 3)
    found = effects.factors(follows)[0]
    assert found[:, 1] == pytest.approx([0.0, 0.0, 0.0], abs=0)
    assert found[:, 0] == pytest.approx(factor[:, 0])
    assert (found @ found.T)[2, 2] == pytest.approx((factor @ factor.T)[2, 2])
    assert gone == {3, 4}  # its column alone: it still varies with the effects before it


def test_rounding_adds_no_column_to_a_lower_factor() -> None:
    loading = np.array([0.1, 0.3, 0.7])  # squares that floats round
    factor = lower_factor(np.outer(loading, loading))
    assert factor[:, 0] == pytest.approx(loading)
    assert not factor[:, 1:].any()


def test_a_column_turned_round_gets_its_sign_back() -> None:
    effects, theta, factor = correlated()
    turned = theta * np.array([1, 1, 1, -1, -1, 1])
    assert effects.factors(turned * effects.signs(turned))[0] == pytest.approx(factor, abs=0)
    assert effects.signs(theta) == pytest.approx(np.ones(6), abs=0)
