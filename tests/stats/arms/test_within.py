from __future__ import annotations

import math

import polars as pl
import pytest

from empathylab.errors import InputError
from empathylab.stats.arms import BAD_OKAY_GOOD, compare_paired_arms
from tests.stats.arms.reference_files import R, paired, rated


def test_pairs_by_rater_are_tested_as_r_does() -> None:
    found = compare_paired_arms(paired(), BAD_OKAY_GOOD, unit="rater")
    alpha = next(test for test in found.tests if test.arm == "alpha")
    (both, only), (lost, _) = R["pairs"]
    assert alpha.mcnemar is not None
    assert (alpha.mcnemar.only_first, alpha.mcnemar.only_second) == (only, lost)
    assert (alpha.n, alpha.good) == (25, both + only)
    assert alpha.p == pytest.approx(R["binomial"])
    assert alpha.ranks.p == pytest.approx(R["signed_ranks"]["p"], rel=1e-10)


def test_all_paired_arms_are_tested_as_r_does() -> None:
    overall = compare_paired_arms(paired(), BAD_OKAY_GOOD, unit="rater").overall[0]
    assert overall.friedman.p == pytest.approx(R["friedman"]["p"], rel=1e-9)
    assert overall.cochran is not None
    assert overall.cochran.p == pytest.approx(R["cochran"]["p"], rel=1e-9)
    assert (overall.n, overall.dropped) == (25, 0)


def test_rater_and_situation_together_make_a_pair() -> None:
    by_rater = compare_paired_arms(paired(), BAD_OKAY_GOOD, unit="rater")
    by_both = compare_paired_arms(paired(), BAD_OKAY_GOOD, unit="rater and situation")
    assert [test.p for test in by_both.tests] == [test.p for test in by_rater.tests]


def test_a_unit_that_one_arm_lacks_is_dropped_and_counted() -> None:
    frame = paired().filter(~((pl.col("rater") == "r03") & (pl.col("arm") == "alpha")))
    found = compare_paired_arms(frame, BAD_OKAY_GOOD, unit="rater")
    alpha, beta = found.tests
    assert (alpha.n, alpha.dropped, beta.n) == (24, 1, 25)
    assert (found.overall[0].n, found.overall[0].dropped) == (24, 1)


def test_several_ratings_per_unit_are_averaged_and_only_ranked() -> None:
    found = compare_paired_arms(rated(), BAD_OKAY_GOOD, unit="situation")
    assert found.tests[0].averaged
    assert found.tests[0].mcnemar is None
    assert found.tests[0].p == found.tests[0].ranks.p
    assert found.overall[0].cochran is None
    assert found.overall[0].friedman.p < 1


def test_families_are_those_of_the_plain_comparison() -> None:
    tests = compare_paired_arms(rated(), BAD_OKAY_GOOD).tests
    assert {test.kind: test.family_size for test in tests} == {"all": 2, "valence": 4, "emotion": 8}


def test_arms_without_a_common_unit_have_no_test() -> None:
    found = compare_paired_arms(rated(), BAD_OKAY_GOOD, unit="rater").tests[0]
    assert (found.n, found.dropped) == (0, 40)
    assert math.isnan(found.p)


def test_an_unknown_unit_is_refused() -> None:
    with pytest.raises(InputError, match="paired by situation, rater"):
        compare_paired_arms(rated(), BAD_OKAY_GOOD, unit="arm")  # type: ignore[arg-type]
