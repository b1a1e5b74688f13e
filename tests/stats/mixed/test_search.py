"""Searches for the least value of a function."""

from __future__ import annotations

import numpy as np
import pytest

from empathylab.stats.arrays import Array
from empathylab.stats.mixed.search import Precision, inverted, settle


def bowl(at: Array) -> tuple[float, Array]:
    """Least at (1, −2), with the second derivatives 3 and 5."""
    slope = np.array([3.0, 5.0]) * (at - [1.0, -2.0])
    return float(slope @ (at - [1.0, -2.0])) / 2, slope


def test_the_last_steps_end_at_the_least_value_with_the_inverse_curvature() -> None:
    precision = Precision(slack=0.0, loose=1e-6, tight=1e-12, share=1e-3)
    ended = settle(bowl, np.zeros(2), np.eye(2), precision, inverted)
    assert ended.converged
    assert ended.at == pytest.approx([1.0, -2.0], abs=1e-6)
    assert ended.inverse == pytest.approx(np.diag([1 / 3, 1 / 5]), abs=1e-6)


def test_a_search_that_ends_too_early_has_not_converged() -> None:
    precision = Precision(slack=0.0, loose=1e6, tight=1e6, share=1e-3)
    ended = settle(bowl, np.zeros(2), np.eye(2), precision, inverted)
    assert not ended.converged
    assert ended.at == pytest.approx([0.0, 0.0])
