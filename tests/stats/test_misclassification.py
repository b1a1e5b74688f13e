"""Proportions corrected for misclassification."""

from __future__ import annotations

import math

import numpy as np
import pytest

from empathylab.stats.misclassification import ErrorRate, corrected_proportion


def test_rogan_and_gladens_estimate_by_hand() -> None:
    # (.30 + .90 - 1) / (.80 + .90 - 1) = .20 / .70
    found = corrected_proportion(
        0.3, 200, ErrorRate.of_counts(40, 50), ErrorRate.of_counts(90, 100)
    )
    assert found.estimate == pytest.approx(0.2857143)
    assert found.low < found.estimate < found.high


def test_without_errors_the_interval_is_agresti_and_coulls() -> None:
    # Agresti and Coull (1998), by hand: (10 + 1.92073) / 43.84146 = .27190,
    # ± 1.95996 * sqrt(.27190 * .72810 / 43.84146) = .13171.
    found = corrected_proportion(0.25, 40, ErrorRate(1, 1, 0), ErrorRate(1, 1, 0))
    assert found.estimate == 0.25
    assert (found.low, found.high) == pytest.approx((0.14019, 0.40361), abs=2e-5)


def test_uncertain_error_rates_widen_the_interval() -> None:
    sure = corrected_proportion(
        0.3, 200, ErrorRate.of_counts(4000, 5_000), ErrorRate.of_counts(4500, 5_000)
    )
    unsure = corrected_proportion(
        0.3, 200, ErrorRate.of_counts(24, 30), ErrorRate.of_counts(27, 30)
    )
    assert unsure.high - unsure.low > 1.5 * (sure.high - sure.low)


def test_estimates_stay_between_0_and_1() -> None:
    found = corrected_proportion(
        0.01, 100, ErrorRate.of_counts(40, 50), ErrorRate.of_counts(90, 100)
    )
    assert (found.estimate, found.low) == (0, 0)
    assert (
        corrected_proportion(
            1, 100, ErrorRate.of_counts(40, 50), ErrorRate.of_counts(90, 100)
        ).estimate
        == 1
    )


@pytest.mark.parametrize(
    ("size", "sensitivity", "specificity"),
    [
        (0, ErrorRate.of_counts(40, 50), ErrorRate.of_counts(45, 50)),
        (9, ErrorRate.of_counts(20, 50), ErrorRate.of_counts(25, 50)),
        (9, ErrorRate.of_counts(0, 0), ErrorRate.of_counts(45, 50)),
    ],
)
def test_what_cannot_be_corrected_is_nan(
    size: int, sensitivity: ErrorRate, specificity: ErrorRate
) -> None:
    assert all(map(math.isnan, corrected_proportion(0.5, size, sensitivity, specificity)))


@pytest.mark.parametrize("truth", [0.05, 0.3, 0.7])
@pytest.mark.parametrize(("sensitivity", "specificity"), [(0.75, 0.97), (0.9, 0.85)])
def test_the_interval_covers_the_truth(
    truth: float, sensitivity: float, specificity: float
) -> None:
    source = np.random.default_rng(7)
    rounds, size, labelled = 1_000, 200, 60
    tagged = truth * sensitivity + (1 - truth) * (1 - specificity)
    covered = 0
    for shares, hits, rejections in zip(
        source.binomial(size, tagged, rounds) / size,
        source.binomial(labelled, sensitivity, rounds),
        source.binomial(labelled, specificity, rounds),
        strict=True,
    ):
        found = corrected_proportion(
            shares,
            size,
            ErrorRate.of_counts(hits, labelled),
            ErrorRate.of_counts(rejections, labelled),
        )
        covered += found.low <= truth <= found.high
    # The share as tagged would be right in almost no round of most of these.
    assert 0.93 <= covered / rounds <= 0.995
