"""Likelihood-ratio tests between cumulative link mixed models."""

from __future__ import annotations

import polars as pl
import pytest

from empathylab.errors import InputError
from empathylab.stats.mixed.comparisons import likelihood_ratio_test
from empathylab.stats.mixed.ordinal.clmm import Clmm, clmm
from empathylab.stats.notes import note
from tests.stats.mixed.rated_frames import reference, reference_frame


def fitted(formula: str, frame: pl.DataFrame | None = None, link: str = "logit") -> Clmm:
    return clmm(reference_frame("crossed") if frame is None else frame, formula, link=link)


def test_the_test_of_a_factor_is_that_of_r() -> None:
    found = likelihood_ratio_test(
        fitted("rating ~ length + (1|rater) + (1|item)"),
        fitted("rating ~ arm + length + (1|rater) + (1|item)"),
    )
    expected = reference()["likelihood_ratio"]
    assert found.statistic == pytest.approx(expected["statistic"], abs=1e-4)
    assert found.df == expected["df"]
    assert found.p == pytest.approx(expected["p"], abs=1e-6)
    assert (found.n, found.note) == (300, None)


def test_testing_a_variance_is_said_to_be_cautious() -> None:
    found = likelihood_ratio_test(
        fitted("rating ~ arm + (1|rater)"), fitted("rating ~ arm + (1|rater) + (1|item)")
    )
    assert found.df == 1
    assert found.note == note("tested_at_boundary")


def test_models_that_do_not_hold_each_other_are_refused() -> None:
    arm, length = fitted("rating ~ arm"), fitted("rating ~ length")
    for smaller, larger in ((length, arm), (arm, length), (arm, arm)):
        with pytest.raises(InputError, match="is not nested in the second"):
            likelihood_ratio_test(smaller, larger)


def test_models_of_other_ratings_are_refused() -> None:
    fewer = fitted("rating ~ arm + length", reference_frame("crossed").head(200))
    with pytest.raises(InputError, match="200 ratings"):
        likelihood_ratio_test(fitted("rating ~ arm"), fewer)


def test_models_of_another_link_are_refused() -> None:
    probit = fitted("rating ~ arm + length", link="probit")
    with pytest.raises(InputError, match="same link"):
        likelihood_ratio_test(fitted("rating ~ arm"), probit)
