"""The logistic regression that identifies authors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray

from empathylab.style.authorship import logistic
from empathylab.style.authorship.logistic import Logistic, _step_size, fit_logistic


def simulated(kinds: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Rows with few features, some of them frequent, and classes of unlike size."""
    random = np.random.default_rng(kinds)
    values = random.random((300, 40)) * (random.random((300, 40)) < np.linspace(0.02, 0.9, 40))
    slopes = 3 * random.standard_normal((40, kinds))
    scores = values @ slopes + np.arange(kinds) / 2
    return values, (scores + random.gumbel(size=scores.shape)).argmax(axis=1)


@pytest.mark.parametrize("kinds", [2, 3, 7])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_weights_and_choices_are_those_of_scikit_learn(kinds: int, form: Any) -> None:
    from sklearn.linear_model import LogisticRegression

    values, classes = simulated(kinds)
    outside = LogisticRegression(C=10.0, tol=1e-10, max_iter=10_000).fit(values, classes)
    found = fit_logistic(form(values), classes, cost=10.0, tolerance=1e-9)
    weights = found.weights[:, 1:] if kinds == 2 else found.weights
    # Only differences between intercepts mean anything.
    intercepts = found.intercepts - found.intercepts.mean()
    expected = outside.intercept_ - outside.intercept_.mean()
    assert weights == pytest.approx(outside.coef_.T, abs=1e-4)
    if kinds > 2:
        assert intercepts == pytest.approx(expected, abs=1e-4)
    else:
        assert found.intercepts[1] == pytest.approx(outside.intercept_[0], abs=1e-4)
        assert (found.weights[:, 0] == -found.weights[:, 1]).all()
    assert (found.predict(values) == outside.predict(values)).all()


def test_weights_are_at_the_optimum_unless_told_otherwise() -> None:
    # 3e-5, as the earlier solver had it, leaves weights that are 2% off in texts of the size of a
    # study; the solver of scikit-learn ends 13% off at its usual tolerance.
    values, classes = simulated(2)
    features = sp.csr_matrix(values.astype(np.float32))
    exact = fit_logistic(values, classes, cost=10.0, tolerance=1e-10).weights
    assert fit_logistic(features, classes, cost=10.0).weights == pytest.approx(exact, abs=1e-3)


@pytest.mark.parametrize("kinds", [2, 3, 7])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_a_fit_of_other_features_is_a_start_and_changes_nothing(kinds: int, form: Any) -> None:
    values, classes = simulated(kinds)
    other = form(values + np.random.default_rng(1).random(values.shape) * (values > 0))
    start = fit_logistic(form(values), classes, cost=10.0)
    cold = fit_logistic(other, classes, cost=10.0, tolerance=1e-9)
    warm = fit_logistic(other, classes, cost=10.0, tolerance=1e-9, start=start)
    assert warm.weights == pytest.approx(cold.weights, abs=1e-5)
    assert warm.intercepts == pytest.approx(cold.intercepts, abs=1e-5)


@pytest.mark.parametrize("kinds", [2, 3, 7])
def test_a_fit_that_starts_at_its_end_takes_no_step(
    kinds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    values, classes = simulated(kinds)
    features = sp.csr_matrix(values)
    start = fit_logistic(features, classes, cost=10.0, tolerance=1e-9)
    monkeypatch.setattr(logistic, "_STEPS", 0)
    again = fit_logistic(features, classes, cost=10.0, start=start)
    assert again.weights == pytest.approx(start.weights, abs=1e-5)
    assert again.intercepts == pytest.approx(start.intercepts)


def test_separable_classes_have_finite_weights() -> None:
    values = np.array([[50.0], [49.0], [-50.0], [-48.0]])
    found = fit_logistic(values, np.array([1, 1, 0, 0]), cost=1e6)
    assert np.isfinite(found.weights).all()
    assert found.predict(values).tolist() == [1, 1, 0, 0]


def test_of_equally_likely_classes_the_first_is_chosen_whatever_the_rounding() -> None:
    weights = np.array([[1.0, 1.0 + 1e-7, 0.0]])
    fitted = Logistic(weights, np.zeros(3))
    assert fitted.predict(np.array([[1.0], [2.0], [-1.0]])).tolist() == [0, 0, 2]
    assert fitted._replace(weights=weights[:, [1, 0, 2]]).predict(np.array([[1.0]])).tolist() == [0]


def test_a_step_is_halved_until_the_loss_falls() -> None:
    assert _step_size(lambda size: (size - 0.2) ** 2, -0.4) == 0.25
