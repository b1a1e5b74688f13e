"""The penalised ordinal regression."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import check_grad, minimize
from scipy.sparse import csr_matrix
from scipy.special import expit

from empathylab.analysis.judges.ordinal_ridge import _Problem, fit_ordinal_ridge
from empathylab.errors import InputError


def simulated(n: int = 400, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    design = rng.normal(size=(n, 3))
    latent = design @ np.array([0.5, -1.0, 0.2]) + rng.logistic(size=n)
    return design, np.digitize(latent, [-1.0, 0.3, 1.5]) + 1.0


def test_it_is_the_maximum_of_the_plainly_written_likelihood() -> None:
    design, ratings = simulated()

    def loss(x: np.ndarray) -> float:
        cuts = np.concatenate([[-np.inf], np.sort(x[:3]), [np.inf]])
        score = design @ x[3:]
        codes = ratings.astype(int) - 1
        chance = expit(cuts[codes + 1] - score) - expit(cuts[codes] - score)
        return float(-np.log(chance).sum() + 2.0 / 2 * (x[3:] ** 2).sum())

    plain = minimize(loss, np.array([-1.0, 0.0, 1.0, 0, 0, 0]), method="BFGS")
    found = fit_ordinal_ridge(design, ratings, penalty=2.0, tolerance=1e-12)
    assert found.thresholds == pytest.approx(plain.x[:3], abs=2e-3)
    assert found.weights == pytest.approx(plain.x[3:], abs=2e-3)


def test_with_two_categories_it_is_logistic_regression_with_a_ridge() -> None:
    from sklearn.linear_model import LogisticRegression

    design, ratings = simulated()
    good = (ratings > 2).astype(float)
    found = fit_ordinal_ridge(design, good, penalty=4.0, tolerance=1e-12)
    outside = LogisticRegression(C=1 / 4.0, tol=1e-10, max_iter=1000).fit(design, good)
    assert found.weights == pytest.approx(outside.coef_[0], abs=1e-3)
    assert -found.thresholds[0] == pytest.approx(outside.intercept_[0], abs=1e-3)


def test_the_slope_is_that_of_the_loss() -> None:
    design, ratings = simulated(50)
    problem = _Problem(design, ratings.astype(int) - 1, 4, 0.3)
    x = problem.begin(None) + 0.1
    assert check_grad(lambda at: problem.loss(at)[0], lambda at: problem.loss(at)[1], x) < 1e-4


def test_known_weights_are_found_again() -> None:
    design, ratings = simulated(20_000)
    found = fit_ordinal_ridge(design, ratings, penalty=0.0)
    assert found.weights == pytest.approx([0.5, -1.0, 0.2], abs=0.05)
    assert found.thresholds == pytest.approx([-1.0, 0.3, 1.5], abs=0.05)


def test_sparse_and_dense_predictors_give_the_same() -> None:
    design, ratings = simulated()
    dense = fit_ordinal_ridge(design, ratings, penalty=1.0)
    sparse = fit_ordinal_ridge(csr_matrix(design), ratings, penalty=1.0)
    assert sparse.weights == pytest.approx(dense.weights, abs=1e-6)
    assert sparse.expected(csr_matrix(design)) == pytest.approx(dense.expected(design), abs=1e-6)


def test_an_earlier_fit_to_begin_with_changes_nothing() -> None:
    design, ratings = simulated()
    first = fit_ordinal_ridge(design, ratings, penalty=1.0, tolerance=1e-12)
    again = fit_ordinal_ridge(design, ratings, penalty=1.0, tolerance=1e-12, start=first)
    assert again.weights == pytest.approx(first.weights, abs=1e-4)


def test_shares_add_up_and_the_mean_lies_within_the_scale() -> None:
    design, ratings = simulated()
    found = fit_ordinal_ridge(design, ratings, penalty=1.0)
    assert found.shares(design).sum(axis=1) == pytest.approx(np.ones(len(design)))
    assert (found.shares(design) >= 0).all()
    assert 1 <= found.expected(design).min() <= found.expected(design).max() <= 4


def test_ratings_that_are_all_the_same_are_refused() -> None:
    with pytest.raises(InputError, match="all the same"):
        fit_ordinal_ridge(np.ones((3, 1)), [2.0, 2.0, 2.0], penalty=1.0)
