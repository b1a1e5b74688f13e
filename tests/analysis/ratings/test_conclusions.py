"""What the conclusions say, and the numbers they rest on."""

from __future__ import annotations

import dataclasses
import json
import random
from collections.abc import Sequence

import polars as pl
import pytest
from scipy.special import stdtr
from scipy.stats import ttest_ind, ttest_rel

from empathylab.analysis import AnalysisResult, ratings
from empathylab.analysis.ratings import RatingsResult
from empathylab.analysis.ratings.design import recognise_design
from empathylab.analysis.ratings.differences import Comparison
from empathylab.analysis.ratings.rows import conclusion_table
from empathylab.analysis.ratings.sentences import (
    assumption_sentences,
    disagreement_sentence,
    unequal_effects,
    with_caveats,
)
from empathylab.errors import UserError
from empathylab.situations.sources.released import Dimension
from empathylab.stats.arms import Estimate
from empathylab.stats.mixed import clmm, lmm
from empathylab.store.ratings import Study

KEYS = {
    *("dimension", "arm", "reference", "subset", "estimate", "low", "high", "scale"),
    *("p", "p_adjusted", "model", "basis", "caveats"),
}
LIKERT = Dimension("warmth", (1, 2, 3, 4, 5), ("cold", "", "", "", "warm"))


def table(
    *, raters: int = 24, each: int = 8, shift: float = 0.0, points: int = 3, seed: int = 1
) -> pl.DataFrame:
    """Ratings between subjects; gpt's are higher by the shift in a latent normal scale."""
    draw = random.Random(seed)
    rows = []
    for arm in ("human", "gpt"):
        for rater in range(raters):
            mild = draw.gauss(0, 0.3)
            for k in range(each):
                latent = mild + draw.gauss(0, 1) + (shift if arm == "gpt" else 0.0)
                place = round((points + 1) / 2 + latent * points / 4)
                rows.append(
                    {
                        "rater": f"{arm}{rater}",
                        "arm": arm,
                        "situation": f"s{rater * each + k}",
                        "valence": ("positive", "negative")[k % 2],
                        "dimension": "warmth",
                        "rating": float(min(points, max(1, place))),
                    }
                )
    return pl.DataFrame(rows)


def once_each(situations: int, *, own: bool = False, shift: float = 0.4) -> pl.DataFrame:
    """Replies that vary, each rated by twelve raters of its own; arms share situations or not."""
    draw = random.Random(3)
    rows = []
    for arm in ("human", "gpt"):
        for place in range(situations):
            situation = f"{arm if own else ''}s{place}"
            reply = draw.gauss(shift * (arm == "gpt"), 0.8)
            for k in range(12):
                rating = min(7, max(1, round(4 + reply + draw.gauss(0, 1.2))))
                rows.append((f"{situation}{arm}{k}", arm, situation, float(rating)))
    return pl.DataFrame(rows, ["rater", "arm", "situation", "rating"], orient="row")


def mean_by_situation(frame: pl.DataFrame, arm: str) -> Sequence[float]:
    of_arm = frame.filter(arm=arm).group_by("situation", maintain_order=True)
    return of_arm.agg(pl.col("rating").mean())["rating"].to_list()


def likert(**options: object) -> Study:
    return Study("s", "S", "between", (LIKERT,), "closed", **options)  # type: ignore[arg-type]


def test_the_result_has_the_shape_of_all_analyses() -> None:
    found = ratings.from_table(table(shift=1))
    assert isinstance(found, AnalysisResult)
    assert found.to_frame().height == len(found.conclusions)
    assert found.summary().startswith(str(found.conclusions[0]))
    assert set(found.tables) >= {"counts", "comparisons", "by_emotion", "means", "models", "raters"}
    assert found.tables["comparisons"]["subset"].to_list() == ["all", "negative", "positive"]
    # One rating per reply: a reply is no second way of clustering.
    assert found.comparison.clusters == "rater"


def test_the_headline_is_the_mixed_models_coefficient() -> None:
    frame = table(shift=1)
    found = ratings.from_table(frame)
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert all(set(conclusion) >= KEYS for conclusion in document["conclusions"])
    first = document["conclusions"][0]
    fit = clmm(frame, "rating ~ arm + (1|rater) + (1|situation)", reference={"arm": "human"})
    effect = fit.coefficients["armgpt"]
    assert first["estimate"] == pytest.approx(effect.estimate, rel=1e-4)
    # The linear model with the same formula says how much wider the interval must be.
    linear = [
        lmm(frame, fit.formula, reml=reml, reference={"arm": "human"}).coefficients["armgpt"]
        for reml in (True, False)
    ]
    t = effect.z * linear[1].se / linear[0].se
    assert first["p"] == pytest.approx(2 * stdtr(linear[0].df, -t), rel=1e-3)
    assert (first["kind"], first["scale"], first["subset"]) == ("better", "log-odds", "all")
    assert [conclusion["subset"] for conclusion in document["conclusions"]] == [
        *("all", "all", "negative", "positive")
    ]


def test_the_paragraphs_give_the_test_of_the_headline() -> None:
    """With few raters Wald's test is another, and would contradict the conclusion."""
    found = ratings.from_table(table(raters=5, each=4, shift=0.5))
    headline = found.conclusions[0]
    assert headline.p is not None
    [sentence] = [text for text in found.paragraphs() if ", b = " in text]
    assert f"95% CI [{headline.low:.3f}, {headline.high:.3f}]".replace("-", "−") in sentence
    assert f"p = {headline.p:.3f}".replace("0.", ".") in sentence
    assert " z = " not in sentence


def test_the_table_rounds_the_conclusions_numbers() -> None:
    found = ratings.from_table(table(shift=1))
    first, row = found.conclusions[0], conclusion_table(found.conclusions)[0]
    assert row["estimate"] == f"{first.estimate:.2f} [{first.low:.2f}, {first.high:.2f}]"
    assert (row["unit"], row["p"], row["conclusion"]) == ("log-odds", "< .001", "better")
    (alone,) = conclusion_table(ratings.from_table(table().filter(arm="gpt")).conclusions)
    assert (alone["reference"], alone["p"], alone["model"]) == ("–", "–", "–")


def test_the_sentence_turns_with_the_reference() -> None:
    frame = table(shift=1)
    found = ratings.from_table(frame, reference="gpt").conclusions[0]
    assert found.kind == "worse"
    assert found.sentence.startswith("People were rated lower than gpt on warmth: log-odds −")


def test_without_a_margin_no_difference_is_inconclusive() -> None:
    found = ratings.from_table(table()).conclusions[0]
    assert found.kind == "inconclusive"
    assert "no margin for equivalence was declared" in found.sentence


def test_a_wide_margin_makes_arms_equivalent_and_a_narrow_one_does_not() -> None:
    wide, narrow = (ratings.from_table(table(), margin=m).conclusions[0] for m in (40, 0.5))
    assert wide.kind == "equivalent"
    assert "within the margin of ±40 percentage points" in wide.sentence
    assert narrow.kind == "inconclusive"
    assert "nor exclude one larger than ±0.5" in narrow.sentence


def test_a_difference_within_the_margin_is_still_a_difference() -> None:
    found = ratings.from_table(table(shift=0.6), margin=60).conclusions[0]
    assert found.kind == "better"
    assert found.sentence.endswith(
        "The difference is smaller than the margin of ±60 percentage points."
    )


def three_arms(points: int, shift: float, seed: int) -> pl.DataFrame:
    """Few raters of three arms; llama's replies are like people's, gpt's better by the shift."""
    whole = table(raters=10, each=6, points=points, shift=shift, seed=seed)
    llama = table(raters=10, each=6, points=points, seed=seed + 50).filter(arm="gpt")
    llama = llama.with_columns(arm=pl.lit("llama"), rater="l" + pl.col("rater"))
    return pl.concat([whole, llama]).drop("valence")


def test_several_arms_are_concluded_by_the_corrected_p() -> None:
    """p between .025 and .05 in the model and in the clustered test of means, and of proportions.

    Holm's correction of the smallest of two p values doubles it.
    """
    by_mean = ratings.from_table(three_arms(5, 0.6, 1), study=likert()).conclusions
    by_proportion = ratings.from_table(three_arms(3, 0.45, 5)).conclusions
    found = [conclusion for conclusion in (*by_mean, *by_proportion) if conclusion.subject == "gpt"]
    assert [conclusion.unit for conclusion in found] == [
        *("log-odds", "points", "log-odds", "percentage points")
    ]
    for conclusion in (found[0], found[1], found[3]):
        assert conclusion.p is not None
        assert 0.025 < conclusion.p < 0.05
        assert conclusion.p_adjusted == pytest.approx(2 * conclusion.p)
        assert conclusion.kind == "inconclusive"


def test_a_margin_of_the_study_counts_and_an_option_overrides_it() -> None:
    study = likert(margins={"warmth": 2.0})
    frame = table(points=5)
    assert ratings.from_table(frame, study=study).conclusions[0].kind == "equivalent"
    given = ratings.from_table(frame, study=study, margin={"warmth": 0.01})
    assert (given.conclusions[0].kind, given.margins) == ("inconclusive", {"warmth": 0.01})


@pytest.mark.parametrize("margin", [0, -1, 100, float("inf"), float("nan"), {"warmth": 101}])
def test_a_margin_that_makes_no_sense_is_refused(margin: float) -> None:
    with pytest.raises(UserError, match="must be between 0 and 100 percentage points"):
        ratings.from_table(table(raters=3), margin=margin)


def test_a_margin_of_an_unknown_dimension_is_refused() -> None:
    with pytest.raises(UserError, match="Did you mean 'warmth'"):
        ratings.from_table(table(raters=3), margin={"warmt": 5})


def test_tost_is_that_of_a_calculation_by_hand() -> None:
    """df = 10 and a standard error of 1: t(.975) = 2.228139 (any t table)."""
    half = 2.2281388519649385
    one = Comparison(
        *("d", "a", "b", "all", "all", 20, 12, Estimate(0.5, 0.5 - half, 0.5 + half)),
        *("points", 10, 0.6, 0.6, "", "mean d"),
    )
    found = one.equivalence(margin=3.0)
    assert found is not None
    # P(t < −2.5) with 10 degrees of freedom, R: pt(-2.5, 10) = 0.01572; t(.95) = 1.812461.
    assert found.p == pytest.approx(0.01572, abs=5e-5)
    assert (found.low, found.high) == pytest.approx((0.5 - 1.812461, 0.5 + 1.812461), abs=1e-5)


def test_a_difference_of_percentages_cannot_exceed_100_points() -> None:
    found = ratings.from_table(table(raters=3, each=6, shift=2))
    ends = [
        end
        for conclusion in found.conclusions
        if conclusion.unit == "percentage points"
        for end in (conclusion.low, conclusion.high)
        if end is not None
    ]
    assert 100 in ends
    assert all(-100 <= end <= 100 for end in ends)


def test_few_raters_are_said_in_the_conclusion() -> None:
    result = ratings.from_table(table(raters=6))
    few = result.conclusions[0]
    assert "only 6 raters for replies by gpt and 6 raters for replies by people" in few.sentence
    assert few.caveats[0].startswith("Few raters")
    # Proportional odds are not tested either: that test rejects too often with few raters.
    assert result.models[0].odds is None
    enough = ratings.from_table(table(raters=20))
    assert enough.conclusions[0].caveats == ()
    assert enough.models[0].odds is not None


def several_per_reply() -> pl.DataFrame:
    """Every reply is rated by the same raters of its arm."""
    return table(raters=12, each=8).with_columns(
        situation=pl.lit("s") + (pl.int_range(pl.len()) % 8).cast(pl.String)
    )


def test_replies_with_several_ratings_enter_the_model() -> None:
    found = ratings.from_table(several_per_reply())
    assert found.model is not None
    assert found.model.formula == ("rating ~ arm + (1|rater) + (1|situation) + (1|arm:situation)")
    assert "100% of the replies have two or more ratings" in found.model.reason
    assert found.to_dict()["mixed_model"]["random_effects"]["arm:situation"]["levels"] == 16


def test_a_five_point_scale_is_compared_by_its_mean() -> None:
    found = ratings.from_table(table(shift=1, points=5), study=likert())
    second = found.conclusions[1]
    assert (second.unit, found.conclusions[0].unit) == ("points", "log-odds")
    frame = table(shift=1, points=5)
    means = dict(frame.group_by("arm").agg(pl.col("rating").mean()).iter_rows())
    assert second.estimate == pytest.approx(means["gpt"] - means["human"])
    (mean,) = found.means
    (gap,) = [difference for difference in mean.differences if difference.kind == "all"]
    assert gap.g.estimate == pytest.approx(second.estimate / pooled_sd(frame), rel=0.01)
    # Counts of categories stay beside it.
    assert found.comparison.tests


def pooled_sd(frame: pl.DataFrame) -> float:
    parts = [part["rating"] for _, part in frame.group_by("arm")]
    squares = sum((len(part) - 1) * float(part.var()) for part in parts)  # type: ignore[arg-type]
    return float((squares / (sum(map(len, parts)) - 2)) ** 0.5)


def test_a_chosen_threshold_makes_good_ratings_the_comparison() -> None:
    found = ratings.from_table(table(shift=1, points=5), study=likert(), good_from=4)
    assert found.conclusions[1].unit == "percentage points"


def test_points_without_a_label_keep_their_number() -> None:
    found = ratings.from_table(table(points=5), study=likert())
    counts = found.comparison.counts[0]
    assert list(counts.counts) == ["cold", "2", "3", "4", "warm"]
    assert sum(counts.counts.values()) == counts.n


def test_points_that_share_a_label_stay_apart() -> None:
    twice = Dimension("warmth", (1, 2, 3), ("low", "low", "high"))
    found = ratings.from_table(table(), study=Study("s", "S", "between", (twice,), "closed"))
    assert list(found.comparison.counts[0].counts) == ["low (1)", "low (2)", "high"]


def test_arms_that_cannot_be_modelled_rest_on_the_clustered_test() -> None:
    frame = table(raters=8).with_columns(
        rating=pl.when(pl.col("arm") == "gpt").then(3.0).otherwise("rating")
    )
    first = ratings.from_table(frame).conclusions[0]
    assert first.unit == "percentage points"
    assert first.caveats[0].startswith("This rests on the clustered test alone")


def test_one_arm_is_described() -> None:
    found = ratings.from_table(table().filter(arm="gpt"))
    assert [conclusion.kind for conclusion in found.conclusions] == ["descriptive"]
    [only] = found.conclusions
    assert only.reference is None
    assert only.sentence.startswith("gpt was rated 3 in ")
    ends = f"(95% CI [{only.low:.1f}, {only.high:.1f}], {only.basis}); there is no other arm"
    assert ends in only.sentence
    assert found.model is None


def test_within_subjects_raters_may_prefer_an_arm() -> None:
    frame = table(raters=8, each=6).with_columns(rater=pl.col("rater").str.slice(-1))
    found: RatingsResult = ratings.from_table(frame)
    assert found.recognised.kind == "within"
    assert found.model is not None
    assert "(1|arm:rater)" in str(found.model.formula)
    # With one rating of each arm a rater's preference cannot be told from chance.
    once = frame.unique(["rater", "arm"], keep="first", maintain_order=True)
    twice = frame.filter(pl.int_range(pl.len()).over("rater", "arm") == 1).head(4)
    headline = ratings.from_table(
        pl.concat([once, once.with_columns(pl.col("rater") + "x"), twice])
    )
    assert headline.model is not None
    assert "(1|arm:rater)" not in str(headline.model.formula)
    assert any("differ by the same amount" in text for text in headline.conclusions[0].caveats)
    assert not any("same amount" in text for text in found.conclusions[0].caveats)


def test_one_rating_of_each_arm_needs_no_preferences_of_raters() -> None:
    """They are part of the residual: the model's p is that of `scipy.stats.ttest_rel`."""
    draw = random.Random(2)
    rows = [
        (f"r{rater}", arm, f"s{rater % 10}", mild + likes * (arm == "gpt") + draw.gauss(0, 9))
        for rater in range(30)
        for mild, likes in [(draw.gauss(50, 10), draw.gauss(2, 20))]
        for arm in ("human", "gpt")
    ]
    frame = pl.DataFrame(rows, ["rater", "arm", "situation", "rating"], orient="row")
    gpt, human = (frame.filter(arm=arm)["rating"].to_numpy() for arm in ("gpt", "human"))
    found = ratings.from_table(frame).conclusions[0]
    assert found.p == pytest.approx(ttest_rel(gpt, human).pvalue)
    assert found.caveats == ()


def test_a_table_without_a_column_says_which() -> None:
    with pytest.raises(UserError, match="no column 'situation'"):
        ratings.from_table(table().drop("situation"))


@pytest.mark.parametrize("column", ["rater", "arm", "situation", "rating"])
def test_incomplete_rows_are_excluded_and_counted(column: str) -> None:
    whole = table(raters=4)
    gap = whole.head(1).with_columns(pl.lit(None).cast(whole[column].dtype).alias(column))
    found = ratings.from_table(pl.concat([gap, whole]))
    assert found.ratings.height == whole.height
    assert found.caveats == ("1 row without a rater, arm, situation or rating was excluded.",)


@pytest.mark.parametrize(
    ("gaps", "said"),
    [
        ({"gpt": 8}, "8 of 32 for gpt (25%) and 0 of 32 for people (0%)"),
        ({"gpt": 8, "human": 2}, "8 of 32 for gpt (25%) and 2 of 32 for people (6%)"),
        ({"gpt": 8, "human": 7}, ""),
        ({"gpt": 4}, ""),
    ],
)
def test_ratings_that_one_arm_misses_more_often_are_named(gaps: dict[str, int], said: str) -> None:
    whole = table(raters=4).with_columns(place=pl.int_range(pl.len()).over("arm"))
    gone = pl.col("place") < pl.col("arm").replace_strict(gaps, default=0, return_dtype=pl.Int64)
    frame = whole.with_columns(rating=pl.when(~gone).then("rating")).drop("place")
    caveats = " ".join(ratings.from_table(frame).caveats)
    assert ("Missing ratings differ between arms" in caveats) == bool(said)
    assert said in caveats


def test_ratings_by_judges_are_left_out() -> None:
    whole = table(raters=4)
    names = whole["rater"].unique(maintain_order=True)
    kinds = pl.DataFrame({"rater": names, "kind": ["judge", *["person"] * (len(names) - 1)]})
    assert names[0] not in ratings.from_table(whole, raters=kinds).ratings["rater"]


def test_a_table_without_ratings_is_refused() -> None:
    with pytest.raises(UserError, match="there are no ratings"):
        ratings.from_table(table().clear())


def test_the_order_of_the_rows_changes_nothing() -> None:
    frame = table(shift=0.5).with_columns(pl.col("arm").replace({"human": "zeta"}))
    one, other = (ratings.from_table(part) for part in (frame, frame.reverse()))
    assert one.reference == other.reference == "gpt"
    assert one.conclusions[1].estimate == pytest.approx(other.conclusions[1].estimate)


@pytest.mark.parametrize("value", ["fine", "inf"])
def test_ratings_that_are_no_numbers_are_refused(value: str) -> None:
    with pytest.raises(UserError, match="'rating' must contain finite numbers"):
        ratings.from_table(table().with_columns(rating=pl.lit(value)))


WORDS = {1.0: "Poor", 2.0: "Fair", 3.0: "Great"}


def test_words_as_ratings_are_analysed_in_the_order_given() -> None:
    numbers = table(shift=0.5)
    words = numbers.with_columns(pl.col("rating").replace_strict(WORDS))
    found = ratings.from_table(words, levels=["Poor", "Fair", "Great"])
    same = ratings.from_table(numbers)
    assert [item.estimate for item in found.conclusions] == [
        item.estimate for item in same.conclusions
    ]
    assert found.study.dimensions[0].labels == ("Poor", "Fair", "Great")
    reversed_order = ratings.from_table(words, levels=["Great", "Fair", "Poor"])
    assert reversed_order.conclusions[0].kind != found.conclusions[0].kind


def test_a_word_that_is_no_point_of_the_scale_is_refused() -> None:
    words = table().with_columns(pl.col("rating").replace_strict(WORDS))
    with pytest.raises(UserError, match="must be one of Poor, Great; 189 rows have other"):
        ratings.from_table(words, levels=["Poor", "Great"])


def test_numbers_as_levels_keep_points_that_nobody_chose() -> None:
    found = ratings.from_table(table(), levels=["1", "2", "3", "4"])
    assert found.study.dimensions[0].values == (1.0, 2.0, 3.0, 4.0)


def test_an_arm_with_one_rater_is_not_compared() -> None:
    alone = table().filter(pl.col("rater").is_in(["human0", "gpt0"]))
    found = ratings.from_table(alone).conclusions[0]
    assert (found.kind, found.p) == ("inconclusive", None)
    assert "an arm has a single rater; collect ratings from more raters" in found.sentence


def test_ratings_that_never_vary_have_a_sentence_with_a_remedy() -> None:
    found = ratings.from_table(table(raters=6).with_columns(rating=pl.lit(2.0))).conclusions[0]
    assert found.sentence == (
        "gpt and people cannot be compared on warmth: the ratings do not vary between raters; "
        "collect more ratings."
    )
    assert found.caveats == ()  # there is no test that they could limit


def test_good_ratings_that_never_vary_may_do_so_at_another_threshold() -> None:
    frame = table(raters=6).with_columns(rating=1.0 + 2 * (pl.col("arm") == "gpt"))
    found = ratings.from_table(frame).conclusions[0]
    assert found.sentence == (
        "gpt and people cannot be tested on warmth, although they differ: the difference in "
        "proportion rated 3 is +100.0 percentage points, but within an arm raters do not vary, so "
        "there is no interval; collect more ratings, or compare at another threshold with "
        "--good-from."
    )


def test_a_second_rating_of_the_same_reply_is_pointed_out() -> None:
    frame = table(raters=6)
    copied = pl.concat([frame, frame.head(2)])
    [caveat] = ratings.from_table(copied).caveats
    assert caveat.startswith(
        "2 rows rate a reply that the same rater had already rated on the same"
    )
    apart = copied.with_columns(response=pl.int_range(pl.len()))
    assert ratings.from_table(apart).caveats == ratings.from_table(frame).caveats == ()


@pytest.mark.parametrize(
    "frame",
    [
        table(raters=6).with_columns(situation=pl.lit("s")),
        table(raters=6).with_columns(rating=pl.lit(2.0)),
        table(raters=6).with_columns(situation=pl.col("arm") + pl.col("situation")),
        table(raters=6).with_columns(rating=1.0 + 2 * (pl.col("arm") == "gpt")),
        table(raters=6).head(2),
        table(raters=6).with_columns(pl.col("rating") * 1e9),
    ],
    ids=["one situation", "all equal", "no shared situation", "separation", "two rows", "1e9"],
)
def test_degenerate_tables_have_a_sentence(frame: pl.DataFrame) -> None:
    found = ratings.from_table(frame)
    assert found.conclusions[0].sentence
    json.dumps(found.to_dict(), allow_nan=False)


def test_replies_to_a_single_situation_are_the_second_cluster() -> None:
    """Several numbered replies per arm: they vary, and no other situation says how much."""
    responses = pl.concat_str("arm", pl.int_range(pl.len()) % 8)
    frame = table(raters=12, each=8).with_columns(situation=pl.lit("s"), response=responses)
    design = recognise_design(frame, "human")
    assert design.second_cluster == "reply_id"
    assert design.clusters == "rater and reply"


def test_situations_are_clusters_where_each_arm_has_its_own() -> None:
    """The second conclusion is then the t test of situations' means in `scipy.stats`."""
    frame = once_each(6, own=True)
    found = ratings.from_table(frame)
    gpt, human = (mean_by_situation(frame, arm) for arm in ("gpt", "human"))
    assert found.conclusions[1].p == pytest.approx(ttest_ind(gpt, human).pvalue)
    [caveat] = found.caveats
    assert caveat == (
        "No situation was rated in two arms, so a difference between arms can also come from "
        "their situations."
    )


def test_replies_to_few_situations_are_tested_by_situation() -> None:
    """The variance of replies to three situations is too often estimated as 0.

    The test is then the paired t test of situations' means in `scipy.stats`.
    """
    frame = once_each(3)
    [found] = ratings.from_table(frame).conclusions
    gpt, human = (mean_by_situation(frame, arm) for arm in ("gpt", "human"))
    assert found.p == pytest.approx(ttest_rel(gpt, human).pvalue)
    [caveat] = found.caveats
    assert caveat == (
        "This rests on the clustered test alone; replies to 3 situations are too few for the "
        "mixed model to estimate how much replies vary."
    )
    units = [ratings.from_table(once_each(count)).conclusions[0].unit for count in (5, 6)]
    assert units == ["points", "log-odds"]


def test_an_arm_with_one_situation_of_its_own_is_not_compared() -> None:
    found = ratings.from_table(once_each(1, own=True, shift=3)).conclusions
    assert [(one.kind, one.p) for one in found] == [("inconclusive", None)]
    assert "an arm has a single situation" in found[0].sentence


def test_raters_of_one_reply_each_need_no_random_effect() -> None:
    """Estimate and standard error are those of R's ordinal::clmm (2022.11-16)."""
    found = ratings.from_table(once_each(6))
    assert found.model is not None
    assert found.model.formula == "rating ~ arm + (1|situation) + (1|arm:situation)"
    effect = found.models[0].model.coefficients["armgpt"]  # type: ignore[union-attr]
    assert (effect.estimate, effect.se) == pytest.approx((0.293804, 0.551463), abs=1e-4)
    assert found.conclusions[0].estimate == effect.estimate


def test_a_significant_difference_may_be_small() -> None:
    """d of a log-odds is √3/π of it (Chinn 2000); Cohen's small effect is 0.2."""
    frame = table(raters=400, each=10, shift=0.12)
    first = ratings.from_table(frame).conclusions[0]
    assert first.kind == "better"
    assert first.estimate is not None
    d = first.estimate * 3**0.5 / 3.14159265
    assert d < 0.2
    assert first.caveats[-1].startswith(
        f"The difference is significant but small: d = +{d:.2f}, where"
    )
    assert ratings.from_table(frame, margin=20).conclusions[0].caveats == ()
    assert "but small" not in str(ratings.from_table(table(shift=1)).conclusions[0].caveats)


def test_thresholds_contradict_each_other_only_if_both_effects_are_known() -> None:
    """Half of each arm's ratings are 2: more of gpt's there means fewer 1 and fewer 3."""
    frame = table(raters=30, each=10)
    narrow = 2 + (pl.col("rating") - 2) * (pl.int_range(pl.len()) % 3 == 0)
    middle = frame.with_columns(
        rating=pl.when(pl.col("arm") == "gpt").then(narrow).otherwise("rating")
    )
    [caveat] = ratings.from_table(middle).conclusions[0].caveats
    assert caveat.endswith("so the single log-odds does not describe the difference.")
    found = ratings.from_table(middle)
    [fitted] = [item for item in found.models if not item.by_valence]
    assert fitted.odds is not None
    first, *others = fitted.odds.test.effects
    unknown = dataclasses.replace(
        fitted.odds.test, effects=(first, *(one._replace(high=0.1) for one in others))
    )
    doubtful = dataclasses.replace(fitted, odds=dataclasses.replace(fitted.odds, test=unknown))
    [milder] = unequal_effects(doubtful, "gpt", found.scales)
    assert milder.endswith("the single log-odds is their average.")


def test_a_paper_gets_design_margin_and_the_clusters_that_were_used() -> None:
    number = pl.col("rater").str.extract(r"(\d+)$")
    frame = table(raters=20, each=6, shift=0.5, points=7).with_columns(
        rater="r" + number, situation="s" + (pl.int_range(pl.len()) % 6).cast(pl.String)
    )
    found = ratings.from_table(frame.drop("valence"), margin=1)
    assert found.recognised.clusters == "rater and situation"
    paper = found.paragraphs()
    text = " ".join(paper)
    assert paper[0].startswith("The study compares 2 arms: people (reference) and gpt.")
    assert "several arms (within subjects): 20 raters for people and 20 for gpt." in paper[0]
    assert "with a margin of ±1 points" in text
    assert "raters and situations as clusters" in text
    assert "raters as the independent units" not in text
    assert found.conclusions[1].model == "cluster-robust t test, raters and situations as clusters"
    order = [text.index(part) for part in (", b = ", "The mean of warmth was", "TOST p")]
    assert order == sorted(order)
    assert "counted as good" not in text
    assert "χ²" not in text


def test_a_paper_says_which_test_decides_where_two_disagree() -> None:
    found = ratings.from_table(table(shift=1))
    model, test = found.conclusions[:2]
    assert (model.kind, test.kind) == ("better", "better")
    assert disagreement_sentence(found.conclusions, "warmth") == ""
    other = dataclasses.replace(test, kind="inconclusive")
    said = disagreement_sentence((model, other), "warmth")
    assert said.startswith("The model and the cluster-robust test disagree about gpt at α = .05.")
    opposite = dataclasses.replace(test, kind="worse")
    assert disagreement_sentence((model, opposite), "warmth") == said


def test_a_failed_assumption_names_its_arm() -> None:
    found = ratings.from_table(table(shift=1))
    model = dataclasses.replace(found.conclusions[0], caveats=("The effect differs.",))
    other = dataclasses.replace(model, subject="llama", caveats=())
    [fitted] = [item for item in found.models if not item.by_valence]
    said = assumption_sentences((model, other), fitted, "")
    assert said[0] == "gpt: The effect differs."
    assert assumption_sentences((model,), fitted, "The effect differs.") == said[1:]


def test_situations_of_one_valence_give_no_conclusion_twice() -> None:
    found = ratings.from_table(table().with_columns(valence=pl.lit("negative")))
    assert {conclusion.subset for conclusion in found.conclusions} == {"all"}


def test_a_caveat_of_all_comparisons_is_said_once() -> None:
    few = ratings.from_table(table(raters=6)).conclusions
    [first, *others] = few
    assert len(first.caveats) == 1
    marked = dataclasses.replace(first, caveats=("Only here.", *first.caveats))
    shared, sentences = with_caveats([marked, *others])
    assert shared == list(first.caveats)
    assert sentences == [f"{first} Only here.", *map(str, others)]
    # Of one or two, each keeps its own.
    assert with_caveats(few[:2]) == ([], [" ".join([str(c), *c.caveats]) for c in few[:2]])
