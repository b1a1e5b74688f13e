from __future__ import annotations

import dataclasses
import json

import polars as pl
import pytest

from empathylab.analysis.ratings.exclusions import (
    exclusions_paragraph,
    mean_robustness,
    robustness_paragraph,
)
from empathylab.analysis.ratings.prose import (
    means_paragraph,
    paired_paragraph,
    results_paragraph,
)
from empathylab.analysis.ratings.raters import raters_paragraph
from empathylab.analysis.ratings.rows import (
    arm_rows,
    comparison_rows,
    comparison_table,
    count_table,
    rater_table,
)
from empathylab.analysis.text.apa import (
    bounded,
    contingency_text,
    counted,
    interval,
    listed,
    p_text,
)
from empathylab.stats.arms import (
    BAD_OKAY_GOOD,
    Estimate,
    RatingScale,
    compare_arms,
    compare_paired_arms,
    independence_test,
)
from empathylab.stats.arms.means import compare_means
from empathylab.stats.raters.comparability import compare_raters
from empathylab.stats.raters.exclusions import (
    StraightLining,
    TooFast,
    apply_exclusions,
    with_and_without,
)
from tests.stats.arms.reference_files import paired, rated, raters

COMPARISON = compare_arms(rated(), BAD_OKAY_GOOD)

CONTRACT = {
    *("arm", "reference", "subset", "n", "good", "good_reference", "relative_gain_percent"),
    *("risk_difference", "chi2", "df", "p", "p_holm", "p_bh", "correction"),
}


def small(human: list[int], model: list[int]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "rater": [f"r{k}" for k in range(len(human) + len(model))],
            "situation": "s",
            "arm": ["human"] * len(human) + ["model"] * len(model),
            "rating": human + model,
        }
    )


def test_rows_hold_what_the_contract_promises() -> None:
    row = comparison_rows(COMPARISON)[0]
    assert set(row) >= CONTRACT
    assert (row["arm"], row["reference"], row["subset"]) == ("alpha", "human", "all")
    assert (row["n"], row["good"], row["good_reference"]) == (112, 69, 35)
    assert row["chi2"] == pytest.approx(19.5461538)
    assert (row["df"], row["correction"]) == (1, "yates")


def test_arms_hold_what_the_contract_promises() -> None:
    row = arm_rows(COMPARISON)[0]
    assert (row["arm"], row["n"]) == ("human", 112)
    assert list(row["counts"]) == list(row["percent"]) == ["Bad", "Okay", "Good"]
    assert len(arm_rows(COMPARISON)) == 3


def test_json_holds_no_nan() -> None:
    constant = compare_arms(small([2, 2], [2, 2]), BAD_OKAY_GOOD)
    for found in (COMPARISON, constant):
        for rows in (arm_rows, comparison_rows):
            json.dumps(rows(found), allow_nan=False)
    assert comparison_rows(constant)[0]["p"] is None


def test_the_count_table_prints_counts_with_percentages() -> None:
    assert count_table(COMPARISON)[0]["Good"] == "35 (31.2%)"
    assert [row["situations"] for row in count_table(COMPARISON, "valence")][:3] == ["negative"] * 3


def test_the_comparison_table_prints_what_a_paper_does() -> None:
    row = comparison_table(COMPARISON)[0]
    assert row["good"] == "69/112"
    assert row["good (reference)"] == "35/112"
    assert row["χ²"] == "19.55"
    assert row["p"] == "< .001"
    assert comparison_table(COMPARISON, "emotion")[0]["situations"] == "afraid"


def test_results_fill_in_the_numbers() -> None:
    text = results_paragraph(COMPARISON, "empathy")
    assert "alpha was rated Good in 69 of 112 ratings (61.6%)" in text
    assert "people in 35 of 112 ratings (31.2%)" in text
    assert "a difference of +30.4 percentage points" in text
    assert "χ²(1, N = 224) = 19.55, p < .001, Holm-corrected p < .001 (Yates' correction)" in text
    assert "Cramér's V = .30." in text
    assert "with raters as clusters, t(37.2) = 4.36, p < .001" in text
    assert "Of 4 emotions, alpha differed from people in" in text


def test_results_say_why_the_plain_test_overstates() -> None:
    assert "and that test overstates the evidence" in results_paragraph(COMPARISON, "empathy")


def test_results_say_why_there_is_no_test() -> None:
    text = results_paragraph(compare_arms(small([2, 2], [2, 2]), BAD_OKAY_GOOD), "empathy")
    assert text == "model and people cannot be compared: no rating of either is Good."


def test_a_small_study_gets_fishers_test_in_words() -> None:
    text = results_paragraph(
        compare_arms(small([1, 2, 2, 1], [3, 3, 3, 1]), BAD_OKAY_GOOD), "empathy"
    )
    assert "Fisher's exact test, p = .143" in text
    assert "relative gain" not in text
    assert "Yates" not in text


def test_pairs_are_told_with_mcnemars_test() -> None:
    text = paired_paragraph(compare_paired_arms(paired(), BAD_OKAY_GOOD, unit="rater"), "empathy")
    assert text.startswith(
        "In 25 pairs by rater, only alpha was rated good in 6 and only people in 7: a difference "
        "of −4.0 percentage points"
    )
    assert "exact binomial test, p = 1.000" in text


def test_averaged_pairs_are_told_with_ranks() -> None:
    found = compare_paired_arms(rated(), BAD_OKAY_GOOD)
    text = paired_paragraph(found, "empathy")
    (alpha,) = [test for test in found.tests if (test.kind, test.arm) == ("all", "alpha")]
    assert alpha.p < 0.05
    assert "In 40 pairs by situation with averaged ratings, alpha differed from people" in text


def test_averaged_pairs_differ_only_where_the_test_says_so() -> None:
    found = compare_paired_arms(rated(), BAD_OKAY_GOOD)
    (alpha,) = [test for test in found.tests if (test.kind, test.arm) == ("all", "alpha")]
    alone = dataclasses.replace(alpha, p=0.105, family_size=1)
    text = paired_paragraph(dataclasses.replace(found, tests=(alone,)), "empathy")
    assert "alpha did not differ detectably from people, Wilcoxon's V = " in text
    assert ", p = .105." in text


def test_arms_without_pairs_are_told_so() -> None:
    text = paired_paragraph(compare_paired_arms(rated(), BAD_OKAY_GOOD, unit="rater"), "empathy")
    assert "cannot be compared in 0 pairs by rater: the arms share none." in text
    assert "40 raters in one of the two arms only were excluded." in text


def test_the_rater_table_has_a_row_per_number_and_level() -> None:
    found = compare_raters(raters(), numeric=["teq"], categorical=["country"], rare=10)
    rows = rater_table(found)
    assert len(rows) == 1 + len(found.categorical[0].levels)
    assert rows[0]["test"] == "F(2, 66.9) = 3.40"
    assert (rows[1]["variable"], rows[2]["variable"], rows[2]["p"]) == ("country", "", "")


def test_arms_called_like_columns_keep_their_own_columns_of_raters() -> None:
    renamed = raters().with_columns(pl.col("arm").replace({"alpha": "p", "beta": "variable"}))
    row = rater_table(compare_raters(renamed, numeric=["teq"], reference="human"))[0]
    assert row["variable"] == "teq"
    assert row["p"] == ".039"
    assert {"of p", "of variable"} <= set(row)


def test_categories_called_like_columns_keep_their_own_columns() -> None:
    scale = RatingScale("empathy", (1.0, 2.0, 3.0), ("n", "Okay", "arm"))
    row = count_table(compare_arms(rated(), scale))[0]
    assert (row["arm"], row["n"], row["rated arm"]) == ("human", "112", "35 (31.2%)")


def test_the_conclusion_is_judged_with_raters_as_units() -> None:
    people = rated().unique("rater", maintain_order=True).select("rater", "arm")
    exclusions = apply_exclusions(rated(), people, [StraightLining(fewest=2)])
    found = with_and_without(rated(), exclusions, lambda item: compare_arms(item, BAD_OKAY_GOOD))
    tests = [
        dataclasses.replace(test, clustered_p_holm=0.2) if test.kind == "all" else test
        for test in found.kept.tests
    ]
    changed = dataclasses.replace(found, kept=dataclasses.replace(found.kept, tests=tuple(tests)))
    # The plain test stays as it was, so that only the clustered one can change the conclusion.
    assert changed.kept.tests[0].p == found.kept.tests[0].p < 0.05
    assert "Holm-corrected p = .200), with them +30.4" in robustness_paragraph(changed)
    assert "the conclusion changes" in robustness_paragraph(changed)


def test_means_are_stated_with_their_test_and_by_what_it_shows() -> None:
    text = means_paragraph(compare_means(rated(), dimension="empathy"))
    # tests/reference/arm_means.R
    assert "The mean of empathy was 2.00 for people (95% CI [1.83, 2.17], SD " in text
    assert "alpha differed from people on empathy: difference +0.47, 95% CI [0.24, 0.70]" in text
    assert "t(37.2) = 4.18, p < .001, Holm-corrected p < .001, Hedges' g = 0.62" in text
    few = compare_means(small([1, 2, 3, 2], [2, 3, 2, 2]))
    assert (
        "model did not differ detectably from people on rating: difference +0.25"
        in means_paragraph(few)
    )


def test_the_mean_of_one_arm_is_told_without_a_comparison() -> None:
    text = means_paragraph(compare_means(small([1, 50, 90], []), dimension="warmth"))
    assert text.startswith("The mean of warmth was 47.00 for people (95% CI [")
    assert text.endswith("; the 95% interval takes raters as clusters.")


def test_a_single_rater_leaves_the_means_untested() -> None:
    frame = small([1, 50], [20, 80]).with_columns(rater=pl.lit("r"))
    text = means_paragraph(compare_means(frame, dimension="warmth"))
    assert "model and people cannot be tested on warmth: an arm has a single rater." in text


def test_means_with_and_without_are_told_together() -> None:
    whole = compare_means(rated(), dimension="empathy")
    text = mean_robustness([whole], [whole])
    assert "differs from that of people by +0.47 (t(37.2) = 4.18, Holm-corrected p < .001)" in text
    assert text.count("the conclusion holds") == 2


def test_one_arm_is_described_by_its_proportion() -> None:
    found = compare_arms(small([1, 2, 3], []), BAD_OKAY_GOOD)
    text = results_paragraph(found, "empathy")
    assert text.startswith("People were rated Good in 1 of 3 ratings (33.3%)")


def test_an_interval_of_a_difference_ends_where_differences_do() -> None:
    frame = small([1, 3, 3, 1], [3, 3, 3, 3]).with_columns(
        rater=pl.Series(["a", "a", "b", "b", "c", "c", "d", "d"])
    )
    found = compare_arms(frame, BAD_OKAY_GOOD)
    clustered = dataclasses.replace(
        found.tests[0].clustered, difference=Estimate(0.5, -0.2, 1.2), note=None, t=1.0, df=2.0
    )
    tests = (dataclasses.replace(found.tests[0], clustered=clustered),)
    text = results_paragraph(dataclasses.replace(found, tests=tests), "empathy")
    assert "95% CI [−20.0, 100.0]" in text


def test_raters_are_compared_in_words() -> None:
    found = compare_raters(raters(), numeric=["teq"], categorical=["country"], rare=10)
    text = raters_paragraph(found)
    assert "(40 of people, 35 of alpha and 30 of beta)" in text
    assert "Welch's F(2, 66.9) = 3.40, p = .039, p Holm = .078" in text
    assert "not shown to be equivalent to people within ±0.30 SD" in text
    assert "Country did not differ detectably between arms" in text
    assert "rare levels pooled" in text
    assert "over these 2 tests" in text


def test_equivalent_raters_are_called_so() -> None:
    found = compare_raters(raters(), numeric=["teq"], bound=1.5)
    assert "; equivalent within ±1.50 SD (TOST p < .001)." in raters_paragraph(found)


def test_a_variable_that_cannot_be_tested_says_so() -> None:
    frame = raters().with_columns(teq=pl.lit(3), country=pl.lit("ES"))
    text = raters_paragraph(compare_raters(frame, numeric=["teq"], categorical=["country"]))
    assert "it cannot be tested" in text
    assert "Country cannot be compared: it is the same for all raters." in text


def test_exclusions_are_told_by_arm() -> None:
    people = raters().with_columns(
        seconds=pl.when(pl.col("arm") == "alpha").then(60).otherwise(600)
    )
    ratings = people.select("rater", rating="age")
    text = exclusions_paragraph(apply_exclusions(ratings, people, [TooFast(seconds=120)]))
    assert text.startswith("Raters who took less than 120 seconds were excluded.")
    assert "0 of 40 raters of people, 35 of 35 raters of alpha and 0 of 30 raters of beta" in text
    assert "The arms lost unequal numbers of raters" in text


def test_exclusions_that_hit_the_arms_alike_say_so() -> None:
    people = raters().with_columns(
        seconds=pl.when(pl.col("rater").str.ends_with("-01")).then(None).otherwise(600)
    )
    ratings = people.select("rater", rating="age")
    rules = [TooFast(seconds=700), StraightLining(fewest=1)]
    text = exclusions_paragraph(apply_exclusions(ratings, people, rules[:1]))
    assert "The arms lost similar numbers of raters" in text
    assert "In 3 cases a rule could not be applied" in text


def test_results_with_and_without_are_told_together() -> None:
    people = rated().unique("rater", maintain_order=True).select("rater", "arm")
    exclusions = apply_exclusions(rated(), people, [StraightLining(fewest=2)])
    assert exclusions.excluded
    found = with_and_without(rated(), exclusions, lambda item: compare_arms(item, BAD_OKAY_GOOD))
    text = robustness_paragraph(found)
    assert "Without the excluded raters, the difference of alpha from people is +" in text
    assert "with them +30.4 (t(37.2) = 4.36, Holm-corrected p < .001): the conclusion ho" in text
    assert "use the cluster-robust test" in text


def test_no_rules_are_said_too() -> None:
    ratings = raters().select("rater", rating="age")
    text = exclusions_paragraph(apply_exclusions(ratings, raters(), []))
    assert text == "No exclusion rule was declared; all raters were kept."


@pytest.mark.parametrize(
    ("p", "text"), [(0.0001, "p < .001"), (0.0123, "p = .012"), (1.0, "p = 1.000")]
)
def test_p_is_written_as_papers_do(p: float, text: str) -> None:
    assert p_text(p) == text


def test_small_words_are_right() -> None:
    assert listed([]) == ""
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert counted(1, "study", "studies") == "1 study"
    assert counted(2000, "rater") == "2,000 raters"
    assert bounded(-0.25) == "−.25"
    assert bounded(1.5) == "1.50"
    assert interval(Estimate(0.5)) == "no interval"


def test_a_simulated_p_is_called_so() -> None:
    assert contingency_text(independence_test([[2, 1, 0], [0, 1, 2]])).endswith("(simulated)")
