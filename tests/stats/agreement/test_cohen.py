"""Cohen's kappa and Spearman's correlation of two raters."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from empathylab.errors import InputError
from empathylab.stats.agreement import cohen_kappa, spearman
from empathylab.stats.notes import note
from tests.stats.agreement.examples import FIRST, SECOND

# Made by tests/reference/agreement.R.
R = json.loads((Path(__file__).parents[2] / "reference" / "agreement_r.json").read_text())


def test_kappa_by_hand() -> None:
    # Agree on 3 of 4; shares 1/2, 1/2 and 1/4, 3/4: chance 1/8 + 3/8; (3/4 − 1/2) / (1/2) = 1/2.
    assert cohen_kappa([1, 1, 2, 2], [1, 2, 2, 2]).estimate == pytest.approx(0.5)


def test_quadratic_kappa_by_hand() -> None:
    # Squared distances 0, 1, 0: mean 1/3. By chance: variances 2/3 and 2/9, means 2 and 7/3, so
    # 2/3 + 2/9 + 1/9 = 1. Kappa is 1 − 1/3.
    found = cohen_kappa([1, 2, 3], [2, 2, 3], weights="quadratic")
    assert found.estimate == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("weights", "key"),
    [("identity", "unweighted"), ("linear", "linear"), ("quadratic", "quadratic")],
)
def test_kappa_is_the_one_r_prints(weights: str, key: str) -> None:
    found = cohen_kappa(FIRST, SECOND, weights=weights)  # type: ignore[arg-type]
    assert found.estimate == pytest.approx(R["kappa"][key], abs=1e-10)
    assert (found.n, found.dropped) == (20, 0)


@pytest.mark.parametrize(
    ("weights", "se"),
    # statsmodels 0.15.0, cohens_kappa(...).std_kappa: tests/reference/agreement_packages.py
    [("identity", 0.14048568668), ("linear", 0.08314957324), ("quadratic", 0.04202635475)],
)
def test_the_large_sample_interval_has_the_standard_error_of_statsmodels(
    weights: str, se: float
) -> None:
    found = cohen_kappa(FIRST, SECOND, weights=weights, confidence=0.9)  # type: ignore[arg-type]
    assert found.estimate - found.low == pytest.approx(1.6448536269514722 * se, abs=1e-9)
    assert found.interval == "large sample"


def test_ranks_put_skipped_values_one_step_apart() -> None:
    a, b = [1, 1, 5, 5, 3], [1, 5, 5, 5, 1]
    coded = cohen_kappa([0, 0, 2, 2, 1], [0, 2, 2, 2, 0], weights="quadratic")
    assert cohen_kappa(a, b, weights="quadratic", spacing="ranks").estimate == coded.estimate
    skipping = cohen_kappa([1, 1, 5, 5, 2], [1, 5, 5, 5, 1], weights="quadratic")
    assert skipping.estimate != pytest.approx(coded.estimate)


def test_the_bootstrap_interval_is_near_the_large_sample_one_and_repeats_with_its_seed() -> None:
    plain = cohen_kappa(FIRST * 10, SECOND * 10, weights="quadratic")
    found = cohen_kappa(FIRST * 10, SECOND * 10, weights="quadratic", resamples=1000, seed=5)
    again = cohen_kappa(FIRST * 10, SECOND * 10, weights="quadratic", resamples=1000, seed=5)
    assert found == again
    assert found.interval == "bootstrap over situations"
    assert found.low == pytest.approx(plain.low, abs=0.01)
    assert found.high == pytest.approx(plain.high, abs=0.01)


def test_pairs_with_a_gap_are_left_out_and_counted() -> None:
    found = cohen_kappa(pl.Series([1, 1, 2, 2, None]), np.array([1, 2, 2, 2, 1]))
    assert (found.estimate, found.n, found.dropped) == (pytest.approx(0.5), 4, 1)


def test_kappa_of_one_value_only_is_nan_and_says_why() -> None:
    found = cohen_kappa([3, 3, 3], [3, 3, 3])
    assert math.isnan(found.estimate)
    assert found.note == note("constant_pair")


def test_kappa_of_nothing_is_nan_and_says_why() -> None:
    found = cohen_kappa([], [])
    assert math.isnan(found.estimate)
    assert found.note == note("no_shared_situation")


def test_perfect_agreement_has_no_large_sample_interval() -> None:
    found = cohen_kappa([1, 2, 3], [1, 2, 3])
    assert found.estimate == 1
    assert math.isnan(found.low)
    assert found.interval == "none"


def test_raters_with_other_lengths_are_refused() -> None:
    with pytest.raises(InputError, match="each situation; got '2 and 3 values'"):
        cohen_kappa([1, 2], [1, 2, 3])


def test_spearman_is_the_one_r_prints() -> None:
    assert spearman(FIRST, SECOND).estimate == pytest.approx(R["spearman"], abs=1e-10)


def test_spearman_by_hand() -> None:
    # Ranks 1, 2, 3 and 1, 3, 2: differences 0, 1, 1; 1 − 6·2/(3·8) = 1/2.
    assert spearman([10, 20, 30], [1, 9, 5]).estimate == pytest.approx(0.5)


def test_bonett_and_wrights_interval_by_hand() -> None:
    found = spearman(FIRST, SECOND)
    r = R["spearman"]
    margin = 1.959963984540054 * math.sqrt((1 + r**2 / 2) / 17)
    assert found.low == pytest.approx(math.tanh(math.atanh(r) - margin))
    assert found.high == pytest.approx(math.tanh(math.atanh(r) + margin))


def test_spearman_of_a_constant_rater_is_nan_and_says_why() -> None:
    found = spearman([1, 2, 3], [2, 2, 2])
    assert math.isnan(found.estimate)
    assert found.note == note("constant_rater")


def test_spearman_of_three_pairs_has_no_interval() -> None:
    assert math.isnan(spearman([1, 2, 3], [1, 3, 2]).low)


def test_kappa_clustered_by_row_is_the_large_sample_one_with_t() -> None:
    rng = np.random.default_rng(1)
    first = rng.integers(1, 5, 60)
    second = np.clip(first + rng.integers(-1, 2, 60), 1, 5)
    plain = cohen_kappa(first, second, weights="quadratic")
    apart = cohen_kappa(first, second, weights="quadratic", clusters=np.arange(60))
    # CR1's factor √(60/59), and t(59) in place of the normal quantile; on Fisher's z scale, whose
    # slope is 1/(1 − κ²).
    wider = np.sqrt(60 / 59) * 2.000995 / 1.959964 / (1 - plain.estimate**2)
    margin = (plain.estimate - plain.low) * wider
    assert np.arctanh(plain.estimate) - np.arctanh(apart.low) == pytest.approx(margin)
    assert np.arctanh(apart.high) - np.arctanh(plain.estimate) == pytest.approx(margin)
    assert apart.interval == "large sample, clustered"


def test_the_clustered_interval_holds_where_a_judge_leans_by_situation() -> None:
    # 30 situations of 6 replies: the plain interval holds in 84% (audit), here clustered.
    def drawn(seed: int, situations: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rng = np.random.default_rng(seed)
        situation = np.repeat(np.arange(situations), 6)
        person = rng.normal(size=len(situation))
        lean = rng.normal(0, 1, situations)[situation]
        judge = person + lean + rng.normal(0, 0.5, len(situation))
        cuts = [-1.5, -0.5, 0.5, 1.5]
        return np.searchsorted(cuts, person), np.searchsorted(cuts, judge), situation

    first, second, _ = drawn(0, 20_000)
    truth = cohen_kappa(first, second, weights="quadratic").estimate
    held = plain = 0
    for seed in range(1, 201):
        first, second, situation = drawn(seed, 30)
        found = cohen_kappa(first, second, weights="quadratic", clusters=situation)
        held += found.low <= truth <= found.high
        alone = cohen_kappa(first, second, weights="quadratic")
        plain += alone.low <= truth <= alone.high
    assert held >= 182
    assert plain <= 178
