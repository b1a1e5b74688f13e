"""Large connected designs: the iterative method against the exact one."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from empathylab.stats.mixed import clmm, lmm
from empathylab.stats.mixed.blocks import Blocks
from empathylab.stats.mixed.effects import iterative
from empathylab.stats.mixed.effects.exact import ExactSolver
from empathylab.stats.mixed.effects.iterative import IterativeSolver
from empathylab.stats.mixed.effects.solvers import (
    solver_for,
)
from empathylab.stats.mixed.effects.structure import (
    Effects,
    GroupEffects,
    intercepts,
    lower_factor,
)


def connected(situations: int, raters: int, *, arms: int = 5, seed: int = 1) -> pl.DataFrame:
    """Two ratings of every reply, by raters drawn at random: one connected block."""
    generator = np.random.default_rng(seed)
    reply = np.repeat(np.arange(situations * arms), 2)
    situation, arm = np.divmod(reply, arms)
    rater = generator.permutation(np.resize(np.arange(raters), len(reply)))
    latent = 0.2 * arm + 0.8 * generator.normal(size=raters)[rater]
    latent += 0.6 * generator.normal(size=situations)[situation]
    latent += 0.7 * generator.normal(size=situations * arms)[reply]
    points = latent + generator.normal(size=len(reply))
    latent += generator.logistic(size=len(reply))
    return pl.DataFrame(
        {
            "arm": np.array(list("ABCDE"))[arm],
            "rater": rater,
            "situation": situation,
            "points": points,
            "rating": 1 + (latent > -1) + (latent > 0.8),
        }
    )


FRAME = connected(400, 400)
FORMULAS = {
    "crossed": "arm + (1|rater) + (1|situation)",
    "replies": "arm + (1|rater) + (1|situation) + (1|arm:situation)",
}


@pytest.mark.parametrize("name", FORMULAS)
def test_both_methods_give_one_linear_model(name: str) -> None:
    exact = lmm(FRAME, f"points ~ {FORMULAS[name]}", method="exact")
    found = lmm(FRAME, f"points ~ {FORMULAS[name]}", method="iterative")
    assert (exact.method, found.method) == ("exact", "iterative")
    assert found.converged
    for term, one in exact.coefficients.items():
        assert found.coefficients[term].estimate == pytest.approx(one.estimate, abs=1e-3)
        assert found.coefficients[term].se == pytest.approx(one.se, rel=0.01)
    for group, effect in exact.random_effects.items():
        assert found.random_effects[group].sd == pytest.approx(effect.sd, abs=1e-3)


def test_both_methods_give_one_cumulative_model() -> None:
    exact = clmm(FRAME, f"rating ~ {FORMULAS['crossed']}", method="exact")
    found = clmm(FRAME, f"rating ~ {FORMULAS['crossed']}", method="iterative")
    assert (exact.method, found.method) == ("exact", "iterative")
    assert found.converged
    assert found.log_likelihood == pytest.approx(exact.log_likelihood, abs=0.05)
    for tests, others in (
        (exact.coefficients, found.coefficients),
        (exact.thresholds, found.thresholds),
    ):
        for term, one in tests.items():
            assert others[term].estimate == pytest.approx(one.estimate, abs=1e-3)
            assert others[term].se == pytest.approx(one.se, rel=0.01)
    for group, effect in exact.random_effects.items():
        assert found.random_effects[group].sd == pytest.approx(effect.sd, abs=1e-3)


def test_the_general_exact_method_gives_what_blocks_give() -> None:
    frame = connected(40, 40)
    formula = f"rating ~ {FORMULAS['crossed']}"
    plain, general = clmm(frame, formula), clmm(frame, formula, method="exact")
    assert general.log_likelihood == pytest.approx(plain.log_likelihood, abs=1e-7)
    for term, one in plain.coefficients.items():
        assert general.coefficients[term].se == pytest.approx(one.se, rel=1e-4)


def test_many_connected_levels_are_fitted_by_iteration() -> None:
    generator = np.random.default_rng(2)
    codes = [generator.integers(0, 1_100, 6_000), generator.integers(0, 1_100, 6_000)]
    assert isinstance(solver_for(intercepts(codes, [1_100, 1_100])), IterativeSolver)
    assert isinstance(solver_for(intercepts(codes[:1], [1_100])), Blocks)


def test_the_iterative_method_gives_the_same_numbers_every_time() -> None:
    frame = connected(60, 60)
    fits = [lmm(frame, f"points ~ {FORMULAS['crossed']}", method="iterative") for _ in range(2)]
    assert fits[0].criterion == fits[1].criterion


def structure() -> tuple[Effects, np.ndarray, np.ndarray]:
    """Three groupings, two of them with slopes, and row weights."""
    generator = np.random.default_rng(5)
    n = 2_000
    x = np.column_stack([np.ones(n), generator.normal(size=n)])
    effects = Effects(
        [
            GroupEffects(generator.integers(0, 60, n), 60, x, ((0, 1),)),
            GroupEffects(generator.integers(0, 80, n), 80, None, ((0,),)),
            GroupEffects(generator.integers(0, 50, n), 50, x, ((0,), (1,))),
        ]
    )
    theta = generator.uniform(0.3, 0.8, len(effects.parameters))
    return effects, theta, generator.uniform(0.1, 0.25, n)


@pytest.mark.parametrize("method", ["exact", "exact and sparse", "iterative"])
def test_solvers_give_determinant_solution_and_inverse_of_the_full_matrix(method: str) -> None:
    effects, theta, weight = structure()
    factors = effects.factors(theta)
    loading = np.column_stack([effects.linear(item, factors) for item in np.eye(effects.length)])
    matrix = np.eye(effects.length) + loading.T @ (weight[:, None] * loading)
    exact = method != "iterative"
    solver = solver_for(effects, "exact" if exact else "iterative")
    if isinstance(solver, ExactSolver):
        assert solver.dense
        solver.dense = method == "exact"
    found = solver.factor(weight, factors)
    assert found.log_determinant == pytest.approx(
        np.linalg.slogdet(matrix)[1], abs=1e-8 if exact else 0.5
    )
    right = np.random.default_rng(1).normal(size=(effects.length, 2))
    assert found.solve(right) == pytest.approx(np.linalg.solve(matrix, right), abs=1e-6)
    reached = loading @ np.linalg.inv(matrix)
    for group, span, row in zip(effects.groups, effects.spans, found.inverse_rows(), strict=True):
        whole = reached[:, span].reshape(effects.n, group.size, group.width)
        own = whole[np.arange(effects.n), group.codes]
        if exact:
            assert row == pytest.approx(own)
        else:
            assert weight @ row == pytest.approx(weight @ own, rel=0.02, abs=0.5)


def test_the_largest_grouping_does_not_make_a_matrix_too_large() -> None:
    """It is eliminated: only the 20 effects beside its 2,400 are decomposed."""
    generator = np.random.default_rng(2)
    x = np.column_stack([np.ones(3_000), generator.normal(size=3_000)])
    effects = Effects(
        [
            GroupEffects(generator.integers(0, 1_200, 3_000), 1_200, x, ((0, 1),)),
            GroupEffects(generator.integers(0, 20, 3_000), 20, None, ((0,),)),
        ]
    )
    assert solver_for(effects).method == "exact"


def test_nothing_is_eliminated_where_too_many_levels_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    effects, theta, weight = structure()
    factors = effects.factors(theta)
    right = np.random.default_rng(1).normal(size=effects.length)
    eliminated = solver_for(effects, "iterative")
    monkeypatch.setattr(iterative, "_MAX_PAIRS", 0)
    whole = solver_for(effects, "iterative")
    assert isinstance(whole, IterativeSolver)
    assert len(whole.core) == effects.length
    found = whole.factor(weight, factors).solve(right)
    assert found == pytest.approx(eliminated.factor(weight, factors).solve(right), abs=1e-6)


def test_a_singular_matrix_has_a_lower_factor_with_columns_of_zeros() -> None:
    covariance = np.array([[1.0, 2.0, 0.5], [2.0, 4.0, 1.0], [0.5, 1.0, 3.0]])
    factor = lower_factor(covariance)
    assert factor @ factor.T == pytest.approx(covariance)
    assert factor[:, 1] == pytest.approx(0.0)
