from __future__ import annotations

import pytest

from empathylab.errors import InputError
from empathylab.stats.power.analytic import (
    chi_square_power,
    chi_square_sample_size,
    design_effect,
    detectable_effect,
    raters_for_power,
    raters_for_precision,
    two_shares_power,
    two_shares_sample_size,
)
from tests.stats.arms.reference_files import R


def test_the_published_sample_size_is_that_of_five_arms_and_three_ratings() -> None:
    # Welivita & Pu (2024): w = .3, α = .05, power .95 → 253; df = (5 − 1)(3 − 1) = 8.
    assert chi_square_sample_size(0.3, power=0.95, df=8).n == 253


@pytest.mark.parametrize("df", [1, 2, 3, 4, 5, 6, 7, 9, 10])
def test_no_other_degrees_of_freedom_give_the_published_size(df: int) -> None:
    assert chi_square_sample_size(0.3, power=0.95, df=df).n != 253


@pytest.mark.parametrize(
    ("w", "n", "df", "name"),
    [
        (0.3, 253, 8, "power_253_8"),
        (0.3, 252, 8, "power_252_8"),
        (0.3, 145, 1, "power_145_1"),
        (0.25, 100, 2, "power_100_2"),
    ],
)
def test_chi_square_power_is_that_of_rs_noncentral_distribution(
    w: float, n: int, df: int, name: str
) -> None:
    assert chi_square_power(w, n, df=df).power == pytest.approx(R[name], abs=1e-10)


def test_one_degree_of_freedom_is_the_normal_test_by_hand() -> None:
    # z is normal around √(n w²) = 3: Φ(3 − 1.96) + Φ(−3 − 1.96).
    assert chi_square_power(0.3, 100).power == pytest.approx(0.8508388, abs=1e-6)


def test_the_smallest_effect_goes_back_to_its_size() -> None:
    found = detectable_effect(253, power=0.95, df=8)
    assert found.w == pytest.approx(0.29983, abs=1e-5)
    assert chi_square_power(found.w, 253, df=8).power == pytest.approx(0.95, abs=1e-9)


def test_two_shares_power_is_rs_power_prop_test() -> None:
    assert two_shares_power(0.65, 0.5, 100).power == pytest.approx(R["two_shares_100"], abs=1e-9)


def test_two_shares_sample_size_is_rs_power_prop_test() -> None:
    # R prints 226.16; whole ratings are needed.
    assert two_shares_sample_size(0.65, 0.5, power=0.9).n == 227
    assert raters_for_power(0.65, 0.5, power=0.9, icc=0).independent_ratings == pytest.approx(
        R["two_shares_n"], abs=1e-3
    )


def test_design_effect_by_hand() -> None:
    assert design_effect(0.1, 10) == pytest.approx(1.9)
    assert design_effect(0.1, 1) == 1
    assert design_effect(0, 10) == 1


def test_raters_for_a_margin_by_hand() -> None:
    # 1.96² · .25 / .05² = 384.15 ratings, times 1.9, over 10 per rater: 72.99.
    found = raters_for_precision(0.05)
    assert found.independent_ratings == pytest.approx(384.146, abs=1e-3)
    assert (found.raters, found.ratings) == (73, 730)


def test_a_difference_of_two_arms_needs_twice_the_raters() -> None:
    found = raters_for_precision(0.05, share=0.5, share_reference=0.5)
    assert found.independent_ratings == pytest.approx(2 * 384.146, abs=1e-2)


def test_raters_for_power_by_hand() -> None:
    # 226.16 ratings times 1.9 over 10.
    assert raters_for_power(0.65, 0.5, power=0.9).raters == 43


def test_fewer_than_two_raters_are_no_study() -> None:
    assert raters_for_precision(0.45, ratings_per_rater=1000, icc=0).raters == 2


@pytest.mark.parametrize("w", [0, -0.1, float("nan"), float("inf")])
def test_an_effect_that_is_none_is_refused(w: float) -> None:
    with pytest.raises(InputError, match="above 0"):
        chi_square_sample_size(w)


@pytest.mark.parametrize(("power", "alpha"), [(0, 0.05), (1, 0.05), (0.9, 0), (0.9, 1)])
def test_power_and_alpha_lie_between_0_and_1(power: float, alpha: float) -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        chi_square_sample_size(0.3, power=power, alpha=alpha)


def test_a_power_below_alpha_is_refused() -> None:
    with pytest.raises(InputError, match="must be above alpha"):
        chi_square_sample_size(0.3, power=0.04)


def test_equal_shares_are_refused() -> None:
    with pytest.raises(InputError, match="nothing to detect"):
        two_shares_sample_size(0.5, 0.5)


def test_a_share_in_percent_is_refused() -> None:
    with pytest.raises(InputError, match="between 0 and 1; got 65"):
        two_shares_sample_size(65, 50)


def test_no_observations_are_refused() -> None:
    for ask in (lambda: chi_square_power(0.3, 0), lambda: detectable_effect(0)):
        with pytest.raises(InputError, match="at least 1"):
            ask()


def test_an_impossible_icc_is_refused() -> None:
    with pytest.raises(InputError, match="between −1 and 1"):
        design_effect(1.5, 10)


def test_no_study_is_large_enough_for_a_difference_of_nearly_nothing() -> None:
    with pytest.raises(InputError, match="no size of study"):
        two_shares_sample_size(0.5, 0.5000001)
