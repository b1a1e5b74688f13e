"""The Laplace approximation, against a slow one and against differences of itself."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from scipy import stats
from scipy.optimize import minimize

from empathylab.stats.arrays import Array
from empathylab.stats.mixed import components
from empathylab.stats.mixed.design import MixedDesign, read_design
from empathylab.stats.mixed.ordinal.laplace import Laplace
from empathylab.stats.mixed.ordinal.links import find_link
from empathylab.stats.mixed.spread import random_structure
from tests.stats.mixed.rated_frames import between, crossed, reference_frame

FORMULAS = {
    "crossed": "rating ~ arm + length + (1|rater) + (1|item)",
    "three": "rating ~ arm + (1|rater) + (1|item) + (1|site)",
    "nested": "rating ~ arm * valence + (1|school/class)",
}


def prepared(design: MixedDesign, link: str) -> Laplace:
    y = np.asarray(design.y, dtype=np.int64)
    return Laplace(y, len(design.levels), design.x, random_structure(design), find_link(link))


def somewhere(design: MixedDesign) -> Array:
    cut = len(design.levels) - 1
    sd = [0.9, 0.5, 0.7][: len(design.groups)]
    return np.array([*np.linspace(-1.2, 1.3, cut), *np.linspace(-0.3, 0.4, len(design.names)), *sd])


def differences(function: Laplace, at: Array) -> Array:
    slopes = []
    for number in range(len(at)):
        shift = np.zeros(len(at))
        shift[number] = 1e-5
        slopes.append((function(at + shift).value - function(at - shift).value) / 2e-5)
    return np.array(slopes)


@pytest.mark.parametrize("link", ["logit", "probit"])
@pytest.mark.parametrize("name", FORMULAS)
def test_the_gradient_is_the_slope_of_the_value(name: str, link: str) -> None:
    design = read_design(reference_frame(name), FORMULAS[name], ordinal=True)
    laplace, at = prepared(design, link), somewhere(design)
    assert laplace(at).gradient == pytest.approx(differences(laplace, at), abs=1e-5)


def test_the_gradient_holds_where_a_standard_deviation_is_zero() -> None:
    design = read_design(reference_frame("three"), FORMULAS["three"], ordinal=True)
    laplace, at = prepared(design, "logit"), somewhere(design)
    at[-2] = 0.0
    assert laplace(at).gradient == pytest.approx(differences(laplace, at), abs=1e-5)


def test_the_gradient_holds_for_a_large_sparse_component() -> None:
    frame = crossed(90, 150, seed=3, share=0.1)
    design = read_design(frame, "rating ~ arm + (1|rater) + (1|situation)", ordinal=True)
    laplace, at = prepared(design, "logit"), somewhere(design)
    assert laplace(at).gradient == pytest.approx(differences(laplace, at), abs=1e-4)


def test_the_value_is_the_mode_and_the_curvature_found_the_slow_way() -> None:
    design = read_design(
        reference_frame("three").head(60), "rating ~ arm + (1|rater) + (1|site)", ordinal=True
    )
    at = somewhere(design)
    cut, link = len(design.levels) - 1, find_link("logit")
    loading = np.concatenate(
        [
            sd * np.eye(len(group.levels))[group.codes]
            for sd, group in zip(at[-2:], design.groups, strict=True)
        ],
        axis=1,
    )
    bounds = np.array([-math.inf, *at[:cut], math.inf])
    y, base = np.asarray(design.y, dtype=np.int64), design.x @ at[cut:-2]

    def joint(u: Array) -> float:
        eta = base + loading @ u
        p = link.cdf(bounds[y + 1] - eta) - link.cdf(bounds[y] - eta)
        return float(u @ u / 2 - np.log(p).sum())

    mode = minimize(joint, np.zeros(loading.shape[1]), tol=1e-10).x
    eta = base + loading @ mode
    weight = stats.logistic.pdf(bounds[y + 1] - eta) + stats.logistic.pdf(bounds[y] - eta)
    curve = np.eye(len(mode)) + loading.T @ (weight[:, None] * loading)
    expected = joint(mode) + np.linalg.slogdet(curve)[1] / 2
    assert prepared(design, "logit")(at).value == pytest.approx(expected, abs=1e-6)


def test_batches_add_up_to_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = between(30, seed=1, effect=0.5, sd=(0.8, 0.5))
    design = read_design(frame, "rating ~ arm + (1|rater) + (1|situation)", ordinal=True)
    at = somewhere(design)
    whole = prepared(design, "logit")(at)
    monkeypatch.setattr(components, "_BATCH", 50)
    apart = prepared(design, "logit")(at)
    assert apart.value == pytest.approx(whole.value, rel=1e-12)
    assert apart.gradient == pytest.approx(whole.gradient, abs=1e-8)


def test_the_order_of_ratings_does_not_matter() -> None:
    frame = reference_frame("crossed")
    mixed = frame.select(pl.all().shuffle(seed=4))
    values = []
    for value in (frame, mixed):
        design = read_design(value, FORMULAS["crossed"], reference={"arm": "human"}, ordinal=True)
        flat = np.array([-2, -1, 0, 1, 0, 0, 0.3, 0.8, 0.6])
        values.append(prepared(design, "logit")(flat).value)
    assert values[0] == pytest.approx(values[1], rel=1e-10)


def test_thresholds_that_cross_are_infinitely_unlikely() -> None:
    design = read_design(reference_frame("three"), FORMULAS["three"], ordinal=True)
    at = somewhere(design)
    at[0] = at[1]
    assert prepared(design, "logit")(at).value == math.inf


def test_standard_deviations_beyond_all_reason_raise_nothing() -> None:
    design = read_design(reference_frame("three"), FORMULAS["three"], ordinal=True)
    laplace, at = prepared(design, "probit"), somewhere(design)
    at[-3:] = 1e9
    assert laplace(at).value > laplace(somewhere(design)).value
