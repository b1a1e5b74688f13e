"""The profiled criterion of random intercepts is what the whole matrices give."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from empathylab.stats.mixed.effects.solvers import Method
from empathylab.stats.mixed.effects.structure import intercepts
from empathylab.stats.mixed.linear.criterion import Columns
from empathylab.stats.mixed.linear.profile import Profile

Codes = NDArray[np.int64]


def balanced() -> tuple[list[Codes], list[int]]:
    """Ten raters of five situations each, every situation rated twice: separate small blocks."""
    situation = np.tile(np.arange(25), 2)
    rater = np.concatenate([np.arange(25) // 5, 5 + np.arange(25) // 5])
    return [rater, situation], [10, 25]


def scattered(groups: int) -> tuple[list[Codes], list[int]]:
    """Levels drawn at random, unequally often; all connected."""
    rng = np.random.default_rng(groups)
    sizes = [7, 11, 5, 3][:groups]
    return [rng.integers(size, size=60) for size in sizes], sizes


def islands() -> tuple[list[Codes], list[int]]:
    """Components of many sizes: rater r meets situations of its own island only."""
    rng = np.random.default_rng(5)
    raters, situations = [], []
    first_rater = first_situation = 0
    for size in (1, 2, 2, 3, 4, 5, 6, 7, 9):
        raters.append(first_rater + np.concatenate([np.arange(size), rng.integers(size, size=20)]))
        situations.append(first_situation + rng.integers(size + 2, size=size + 20))
        first_rater, first_situation = first_rater + size, first_situation + size + 2
    return [np.concatenate(raters), np.concatenate(situations)], [first_rater, first_situation]


def nested() -> tuple[list[Codes], list[int]]:
    rater = np.repeat(np.arange(12), 5)
    return [rater // 3, rater], [4, 12]


STUDIES = {
    "balanced": balanced(),
    "one group": scattered(1),
    "two groups": scattered(2),
    "three groups": scattered(3),
    "four groups": scattered(4),
    "islands": islands(),
    "nested": nested(),
    "no group": ([], []),
}


def study_columns(codes: Sequence[Codes]) -> Columns:
    rng = np.random.default_rng(1)
    n = len(codes[0]) if codes else 30
    return Columns(rng.normal(size=n), np.column_stack([np.ones(n), rng.normal(5, 2, n)]))


def whole(
    columns: NDArray[np.float64], codes: Sequence[Codes], sizes: Sequence[int], theta: list[float]
) -> tuple[NDArray[np.float64], float]:
    """V and log|V| without any shortcut."""
    v = np.eye(len(columns))
    for group, size, one in zip(codes, sizes, theta, strict=True):
        z = np.eye(size)[group]
        v += one**2 * z @ z.T
    return v, float(np.linalg.slogdet(v)[1])


@pytest.mark.parametrize("method", [None, "exact"])
@pytest.mark.parametrize("name", STUDIES)
@pytest.mark.parametrize("theta", [[0.7, 0.3, 1.9, 0.2], [0.0, 1.2, 0.0, 0.4]])
def test_sums_of_squares_are_those_of_the_whole_matrix(
    name: str, theta: list[float], method: Method | None
) -> None:
    codes, sizes = STUDIES[name]
    theta = theta[: len(sizes)]
    columns = study_columns(codes)
    v, determinant = whole(columns.values, codes, sizes, theta)
    profile = Profile(columns, intercepts(codes, sizes), reml=False, method=method)
    point = profile.at(np.array(theta))
    assert point.log_determinants == pytest.approx(determinant, abs=1e-9)
    by_hand = columns.values.T @ np.linalg.solve(v, columns.values)
    assert point.products == pytest.approx(by_hand, abs=1e-9)


@pytest.mark.parametrize("name", [name for name in STUDIES if name != "no group"])
def test_modes_are_those_of_the_whole_matrix(name: str) -> None:
    codes, sizes = STUDIES[name]
    theta = [0.7, 0.3, 1.9, 0.2][: len(sizes)]
    columns = study_columns(codes)
    beta = np.array([-0.4, 1.0])
    v, _ = whole(columns.values, codes, sizes, theta)
    rest = np.linalg.solve(v, columns.values @ columns.combination(beta))
    found = Profile(columns, intercepts(codes, sizes), reml=True).modes(np.array(theta), beta)
    for group, size, one, modes in zip(codes, sizes, theta, found, strict=True):
        by_hand = one**2 * np.bincount(group, rest, minlength=size)
        assert modes[:, 0] == pytest.approx(by_hand, abs=1e-9)


def test_the_restricted_criterion_is_that_of_the_whole_matrix() -> None:
    codes, sizes = scattered(2)
    rng = np.random.default_rng(3)
    x = np.column_stack([np.ones(60), rng.normal(5, 2, 60)])
    y = rng.normal(100, 3, 60)
    theta = [0.6, 0.4]
    v, determinant = whole(x, codes, sizes, theta)
    information = x.T @ np.linalg.solve(v, x)
    beta = np.linalg.solve(information, x.T @ np.linalg.solve(v, y))
    squares = float((y - x @ beta) @ np.linalg.solve(v, y - x @ beta))
    profile = Profile(Columns(y, x), intercepts(codes, sizes), reml=True)
    point = profile.at(np.array(theta))
    by_hand = determinant + np.linalg.slogdet(information)[1]
    by_hand += 58 * (1 + math.log(2 * math.pi * squares / 58))
    assert point.criterion == pytest.approx(by_hand, rel=1e-10)
    assert profile.columns.beta(point) == pytest.approx(beta, rel=1e-9)
    turn = np.linalg.inv(profile.columns.back)
    found = turn.T @ point.products[: profile.p, : profile.p] @ turn
    assert found == pytest.approx(information, rel=1e-9)


def test_the_slope_is_nil_at_the_minimum_and_the_criterion_rises_from_it() -> None:
    codes, sizes = scattered(2)
    rng = np.random.default_rng(4)
    y = rng.normal(size=7)[codes[0]] + rng.normal(size=11)[codes[1]] + rng.normal(size=60)
    profile = Profile(Columns(y, np.ones((60, 1))), intercepts(codes, sizes), reml=True)
    found = profile.minimised()
    assert found.converged
    value, gradient = profile(found.theta)
    assert np.abs(gradient).max() < 1e-4
    for moved in (0.95 * found.theta, 1.05 * found.theta):
        assert profile.at(moved).criterion > value


@pytest.mark.parametrize("seed", range(25))
def test_no_other_start_finds_a_lower_criterion(seed: int) -> None:
    from scipy.optimize import minimize

    rng = np.random.default_rng(seed)
    n, sizes = 60, [int(size) for size in rng.integers(2, 20, size=1 + seed % 3)]
    codes = [rng.permutation(np.arange(n) % size) for size in sizes]
    spreads = rng.choice([0, 0.05, 0.3, 1, 20], size=len(sizes))
    y = rng.normal(size=n)
    for group, size, spread in zip(codes, sizes, spreads, strict=True):
        y += spread * rng.normal(size=size)[group]
    columns = Columns(y, np.ones((n, 1)))
    profile = Profile(columns, intercepts(codes, sizes), reml=seed % 2 == 0)
    found = profile.minimised()
    assert found.converged
    for start in (0.1, 1.0, 10.0):
        other = minimize(
            lambda theta: profile.at(theta).criterion,
            np.full(len(sizes), start),
            method="L-BFGS-B",
            bounds=[(0, 1e5)] * len(sizes),
        )
        assert found.point.criterion <= other.fun + 1e-6


def test_a_search_without_residual_ends_once_spreads_are_large() -> None:
    rng = np.random.default_rng(0)
    situation, rater = np.tile(np.arange(12), 2), np.repeat(np.arange(6), 4)
    y = rng.normal(size=6)[rater] + rng.normal(size=12)[situation]
    columns = Columns(y, np.ones((24, 1)))
    found = Profile(columns, intercepts([rater, situation], [6, 12]), reml=True).minimised()
    assert not found.converged
    assert found.theta.max() == pytest.approx(1e5)
    assert found.evaluations < 50
