from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from empathylab.errors import InputError, UnknownName
from empathylab.stats.raters.comparability import (
    POOLED,
    RaterComparison,
    compare_numbers,
    compare_raters,
    welch_anova,
)
from tests.stats.arms.reference_files import R, raters


def compared(**options: object) -> RaterComparison:
    return compare_raters(raters(), numeric=["teq", "age"], categorical=["country"], **options)  # type: ignore[arg-type]


def test_welch_is_the_one_of_r() -> None:
    found = compared().numeric[0]
    assert found.welch.f == pytest.approx(R["welch"]["f"], rel=1e-10)
    assert [found.welch.df, found.welch.df_denominator] == pytest.approx(R["welch"]["df"])
    assert found.p == pytest.approx(R["welch"]["p"], rel=1e-9)
    assert found.kruskal.p == pytest.approx(R["kruskal_teq"]["p"], rel=1e-9)


def test_welch_of_two_groups_is_the_squared_t() -> None:
    groups = [np.array([1.0, 2, 3]), np.array([2.0, 4, 9])]
    found = welch_anova(groups)
    # Means 2 and 5, variances 1 and 13: t² = 9 / (1/3 + 13/3).
    assert found.f == pytest.approx(9 / (14 / 3))


def test_each_arm_against_the_reference_is_rs_t_test() -> None:
    found = compared().numeric[0].differences[0]
    assert (found.arm, found.reference) == ("alpha", "human")
    assert found.t == pytest.approx(R["t"]["t"], rel=1e-10)
    assert found.df == pytest.approx(R["t"]["df"], rel=1e-10)
    assert found.p == pytest.approx(R["t"]["p"], rel=1e-9)
    assert found.difference[1:] == pytest.approx([R["t"]["low"], R["t"]["high"]])


def test_equivalence_is_rs_two_one_sided_tests() -> None:
    found = compared().numeric[0].differences[0].equivalence
    assert found.p == pytest.approx(R["tost"], rel=1e-9)
    assert found.interval == pytest.approx(R["tost_interval"])
    assert not found.equivalent


def test_wide_bounds_show_equivalence() -> None:
    found = compared(bound=1.0).numeric[0].differences[0].equivalence
    assert found.equivalent
    assert max(map(abs, found.interval)) < found.margin


def test_categories_are_rs_chi_square() -> None:
    found = compared(rare=1).categorical[0]
    assert found.test.chi2 == pytest.approx(R["country"]["statistic"], rel=1e-10)
    assert found.test.df == R["country"]["df"]
    assert found.test.method == "chi-square, simulated"
    assert found.p == pytest.approx(R["country_simulated"], abs=0.015)


def test_rare_levels_are_pooled_and_said() -> None:
    found = compared(rare=10).categorical[0]
    rare = raters()["country"].value_counts().filter(pl.col("count") < 10)["country"].to_list()
    assert len(rare) >= 2
    assert sorted(found.pooled) == sorted(rare)
    assert found.levels[-1] == POOLED
    assert sum(map(sum, found.counts)) == 105


def test_a_single_rare_level_stays_as_it_is() -> None:
    frame = pl.DataFrame(
        {
            "rater": [f"r{k}" for k in range(20)],
            "arm": ["human", "model"] * 10,
            "sex": ["f", "f", "m", "m"] * 4 + ["f", "m", "f", "x"],
        }
    )
    found = compare_raters(frame, categorical=["sex"]).categorical[0]
    assert (found.pooled, found.levels) == ((), ("f", "m", "x"))


def test_p_is_corrected_over_everything_compared() -> None:
    found = compared()
    p = [item.p for item in found.numeric] + [item.p for item in found.categorical]
    smallest = found.numeric[int(np.argmin(p))]
    assert smallest.p_holm == pytest.approx(3 * smallest.p)


def test_histograms_share_their_bins_and_hold_everybody() -> None:
    found = compared().numeric[1]
    assert [sum(arm.histogram) for arm in found.arms] == [40, 35, 30]
    assert {len(arm.histogram) for arm in found.arms} == {len(found.bins) - 1}


def test_missing_values_and_words_are_left_out_and_counted() -> None:
    frame = raters().with_columns(
        pl.when(pl.col("rater") == "human-00")
        .then(pl.lit("CONSENT_REVOKED"))
        .otherwise(pl.col("age").cast(pl.String))
        .alias("age"),
        pl.when(pl.col("rater") == "alpha-00").then(None).otherwise("country").alias("country"),
    )
    found = compare_raters(frame, numeric=["age"], categorical=["country"])
    assert (found.numeric[0].arms[0].n, found.numeric[0].arms[0].missing) == (39, 1)
    assert found.categorical[0].missing == 1


def test_summaries_by_hand() -> None:
    found = compare_numbers([np.array([1.0, 2, 3, 4]), np.array([2.0, 2])], ["human", "model"])
    first = found.arms[0]
    assert (first.mean, first.median, first.quartiles) == (2.5, 2.5, (1.75, 3.25))
    assert first.sd == pytest.approx(math.sqrt(5 / 3))


def test_a_constant_number_has_no_test() -> None:
    found = compare_numbers([np.ones(4), np.ones(4)], ["human", "model"])
    assert math.isnan(found.p)
    assert math.isnan(found.differences[0].equivalence.p)
    assert not found.differences[0].equivalence.equivalent


def test_an_arm_without_values_has_no_test() -> None:
    found = compare_numbers([np.array([1.0, 2]), np.array([math.nan])], ["human", "model"])
    assert math.isnan(found.p)
    assert found.arms[1].n == 0


def test_a_property_nobody_stated_has_no_test() -> None:
    frame = raters().with_columns(country=pl.lit(None, dtype=pl.String))
    found = compare_raters(frame, categorical=["country"]).categorical[0]
    assert (found.test.method, found.missing) == ("none", 105)
    assert math.isnan(found.p)


def test_ratings_instead_of_raters_are_refused() -> None:
    with pytest.raises(InputError, match="one row"):
        compare_raters(pl.concat([raters(), raters()]), numeric=["teq"])


def test_a_single_arm_is_refused() -> None:
    with pytest.raises(InputError, match="one arm only"):
        compare_raters(raters().filter(arm="human"), numeric=["teq"])


def test_an_unknown_column_or_arm_gets_the_nearest_name() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'country'"):
        compare_raters(raters(), categorical=["county"])
    with pytest.raises(UnknownName, match="Did you mean 'human'"):
        compare_raters(raters(), numeric=["teq"], reference="humans")


def test_a_bound_of_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="above 0"):
        compared(bound=0)
