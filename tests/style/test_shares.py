"""Intervals of shares that come in clusters."""

from __future__ import annotations

import math

import numpy as np
import pytest

from empathylab.stats.intervals import wilson
from empathylab.style.shares import effective_size


def test_wilsons_interval_is_the_one_r_prints() -> None:
    # R: prop.test(15, 20, correct = FALSE)$conf.int prints 0.5312991224 0.8881382986.
    assert wilson(0.75, 20) == pytest.approx((0.5312991224, 0.8881382986), abs=1e-9)


def test_wilsons_interval_by_hand_where_all_agree() -> None:
    # With p = 1 the lower end is n / (n + z²).
    assert wilson(1.0, 10) == pytest.approx((10 / (10 + 1.959964**2), 1.0), abs=1e-6)


def test_no_cases_give_no_interval() -> None:
    assert all(math.isnan(end) for end in wilson(0.5, 0))


def test_clusters_of_one_are_worth_nearly_their_number() -> None:
    # Variance p(1−p)/(n−1) instead of p(1−p)/n.
    assert effective_size(np.array([1.0, 1, 0, 1]), np.ones(4)) == pytest.approx(3)


def test_clusters_that_agree_within_are_worth_their_number() -> None:
    # Two clusters all right, two all wrong, ten cases each: worth 3, not 40.
    assert effective_size(np.array([10.0, 10, 0, 0]), np.full(4, 10.0)) == pytest.approx(3)


def test_the_effective_size_never_exceeds_the_cases() -> None:
    # One right and one wrong in every cluster: no variance between clusters at all.
    assert effective_size(np.ones(5), np.full(5, 2.0)) == 5
    assert effective_size(np.array([1.0, 1, 1, 2]), np.full(4, 2.0)) <= 8


def test_where_all_agree_a_cluster_counts_as_one_case() -> None:
    assert effective_size(np.full(6, 3.0), np.full(6, 3.0)) == 6


def test_no_clusters_are_worth_nothing() -> None:
    assert effective_size(np.zeros(0), np.zeros(0)) == 0
