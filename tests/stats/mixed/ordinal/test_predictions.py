"""Predicted probabilities of the categories."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from empathylab.errors import InputError, UnknownName
from empathylab.stats.mixed.ordinal.clmm import Clmm, clmm
from empathylab.stats.mixed.ordinal.predictions import Random, category_probabilities
from tests.stats.mixed.rated_frames import reference_frame


@pytest.fixture(scope="module")
def fit() -> Clmm:
    return clmm(
        reference_frame("nested"),
        "rating ~ arm + (1|school/class)",
        link="probit",
        reference={"arm": "a"},
    )


@pytest.mark.parametrize("random", ["typical", "averaged", "modes"])
def test_probabilities_of_a_row_sum_to_one(fit: Clmm, random: Random) -> None:
    found = category_probabilities(fit, random=random)
    assert found.columns == ["1", "2", "3", "4"]
    assert found.sum_horizontal().to_numpy() == pytest.approx(np.ones(360))


@pytest.mark.parametrize("random", ["typical", "averaged", "modes"])
def test_the_fitted_frame_again_gives_the_same(fit: Clmm, random: Random) -> None:
    again = category_probabilities(fit, reference_frame("nested"), random=random)
    assert again.to_numpy() == pytest.approx(category_probabilities(fit, random=random).to_numpy())


def test_without_predictors_probabilities_are_the_shares() -> None:
    frame = pl.DataFrame({"rating": [1] * 20 + [2] * 30 + [3] * 50})
    found = category_probabilities(clmm(frame, "rating ~ 1"))
    assert found.row(0) == pytest.approx((0.2, 0.3, 0.5))


def test_averaging_a_probit_widens_the_latent_error(fit: Clmm) -> None:
    # A normal effect added to a normal error is a normal error of the summed variance.
    from scipy.special import ndtr

    spread = np.sqrt(1 + sum(effect.variance for effect in fit.random_effects.values()))
    thresholds = np.array([threshold.estimate for threshold in fit.thresholds.values()])
    found = category_probabilities(fit, pl.DataFrame({"arm": ["a"]}), random="averaged")
    assert np.cumsum(found.row(0))[:-1] == pytest.approx(ndtr(thresholds / spread), abs=1e-9)


def test_a_group_not_seen_before_counts_as_typical(fit: Clmm) -> None:
    frame = pl.DataFrame({"arm": ["b"], "school": [99], "class": [1]})
    found = category_probabilities(fit, frame, random="modes")
    assert found.row(0) == pytest.approx(category_probabilities(fit, frame).row(0))


def test_rows_that_cannot_be_predicted_are_refused(fit: Clmm) -> None:
    with pytest.raises(UnknownName, match="level of 'arm'"):
        category_probabilities(fit, pl.DataFrame({"arm": ["c"]}))
    with pytest.raises(UnknownName, match="there is no column 'arm'"):
        category_probabilities(fit, pl.DataFrame({"source": ["a"]}))
    with pytest.raises(UnknownName, match="there is no column 'school'"):
        category_probabilities(fit, pl.DataFrame({"arm": ["a"]}), random="modes")
    with pytest.raises(InputError, match="missing value"):
        category_probabilities(fit, pl.DataFrame({"arm": ["a", None]}))
    with pytest.raises(UnknownName, match="random effects"):
        category_probabilities(fit, random="none")  # type: ignore[arg-type]
