"""Cluster-robust covariances."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from empathylab.stats.clusters.robust import (
    cluster_codes,
    cluster_covariance,
    fewest_clusters,
    least_squares,
)
from empathylab.stats.t_tests import t_margin, two_sided_p
from tests.stats.judged_frames import arithmetic

# Made by tests/reference/clusters.R: sandwich::vcovCL, HC0 with cluster adjustment.
R = json.loads((Path(__file__).parents[2] / "reference" / "clusters_r.json").read_text())


def fitted(predictor: np.ndarray, outcome: np.ndarray, *clusters: np.ndarray) -> dict[str, object]:
    design = np.column_stack([np.ones(len(outcome)), predictor])
    fit = least_squares(design, outcome, list(clusters))
    return {"estimate": fit.coefficients, "se": np.sqrt(np.diag(fit.covariance))}


def test_one_way_and_two_way_standard_errors_are_those_of_sandwich() -> None:
    frame = arithmetic()
    apart = (frame["prediction"] - frame["rating"]).to_numpy().astype(float)
    words = np.log(frame["words"].to_numpy())
    rater, situation = cluster_codes(frame["rater"]), cluster_codes(frame["situation"])
    for key, clusters in (
        ("length_two_way", (rater, situation)),
        ("length_one_way", (situation,)),
    ):
        found = fitted(words, apart, *clusters)
        assert found["estimate"] == pytest.approx(R[key]["estimate"], abs=1e-9)
        assert found["se"] == pytest.approx(R[key]["se"], abs=1e-9)


def test_without_clusters_it_is_the_variance_of_a_mean() -> None:
    values = np.array([1.0, 2.0, 4.0, 9.0])
    scores = ((values - values.mean()) / 4)[:, None]
    assert cluster_covariance(scores, [])[0, 0] == pytest.approx(values.var(ddof=1) / 4)


def test_clusters_by_hand() -> None:
    # Sums of two clusters: 3 and −3; (9 + 9) · 2/1.
    scores = np.array([[1.0], [2.0], [-1.0], [-2.0]])
    assert cluster_covariance(scores, [np.array([0, 0, 1, 1])])[0, 0] == 36


def test_a_two_way_variance_below_zero_gives_way_to_the_larger_one_way() -> None:
    # Both ways' sums are 0, so the difference is below 0.
    scores = np.array([[1.0], [-1.0], [-1.0], [1.0]])
    rows, columns = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    assert cluster_covariance(scores, [rows, columns])[0, 0] >= 0


def test_a_missing_label_is_a_cluster_of_its_own() -> None:
    codes = cluster_codes(pl.Series(["a", None, "a", None]))
    assert codes[0] == codes[2]
    assert len(set(codes.tolist())) == 3


def test_the_fewest_clusters_count() -> None:
    assert fewest_clusters(6, [np.array([0, 1, 2, 0, 1, 2]), np.array([0, 0, 0, 1, 1, 1])]) == 2
    assert fewest_clusters(6, []) == 6


def test_three_ways_are_refused() -> None:
    with pytest.raises(ValueError, match="at most two"):
        cluster_covariance(np.ones((2, 1)), [np.array([0, 1])] * 3)


def test_student_quantiles_without_degrees_of_freedom() -> None:
    assert t_margin(0, 0.95) == math.inf
    assert math.isnan(two_sided_p(1.0, 0))
    assert t_margin(2, 0.95) == pytest.approx(4.302652729911275)
    assert two_sided_p(4.302652729911275, 2) == pytest.approx(0.05)
