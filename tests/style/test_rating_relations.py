"""What in the style goes with the ratings."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from empathylab.analysis.style.estimates import RatedStyle
from empathylab.analysis.style.prose import rated_sentence
from empathylab.analysis.style.tables import relation_rows
from empathylab.errors import InputError
from empathylab.style.rating_relations import rating_relations

ROW = np.arange(60)
# The table of tests/reference/style_clusters.R; each rating has its own response here.
WORDS, MARKS = 10 + (ROW * ROW) % 23, (ROW * 5 + ROW // 7) % 9
RATING = 1 + (3 * ROW + MARKS + (ROW % 12) // 3) % 5
RATINGS = pl.DataFrame(
    {
        "respondent": "one",
        "situation": (7 * ROW) % 15,
        "sample": ROW,
        "rater": ROW % 12,
        "rating": RATING,
    }
)
FEATURES = pl.DataFrame(
    {
        "respondent": "one",
        "situation": (7 * ROW) % 15,
        "sample": ROW,
        "words": WORDS,
        "marks": MARKS,
    }
)


def test_slopes_and_errors_are_those_of_rs_sandwich() -> None:
    [words, marks] = rating_relations(FEATURES, RATINGS)
    assert (marks.feature, words.feature) == ("marks", "words")
    assert marks.clusters == ("situation", "rater")
    assert (marks.alone.estimate, marks.alone.se) == pytest.approx(
        (0.256479822957, 0.298518052986), rel=1e-9
    )
    assert (marks.length_adjusted.estimate, marks.length_adjusted.se) == pytest.approx(
        (0.377153645703, 0.292807586471), rel=1e-9
    )
    assert (marks.n, marks.dropped) == (60, 0)


def test_without_raters_only_situations_are_clusters() -> None:
    [marks] = rating_relations(FEATURES, RATINGS.drop("rater"), columns=["marks"])
    assert marks.clusters == ("situation",)
    assert marks.length_adjusted.se == pytest.approx(0.128156162730, rel=1e-9)


def test_length_itself_is_not_adjusted_for_length() -> None:
    [words, _] = rating_relations(FEATURES, RATINGS)
    assert not math.isnan(words.alone.estimate)
    assert math.isnan(words.length_adjusted.estimate)
    assert math.isnan(words.p_holm)


def test_a_mark_of_the_writer_has_no_slope_within_writers() -> None:
    # `b` always writes the mark and is always rated higher; within a writer nothing is left.
    rows = [
        {"respondent": name, "situation": s, "words": 20 + s % 5, "marks": mark, "rating": mark * 2}
        for name, mark in (("a", 0), ("b", 1))
        for s in range(20)
    ]
    table = pl.DataFrame(rows)
    features, ratings = table.drop("rating"), table.select("respondent", "situation", "rating")
    [marks] = rating_relations(features, ratings, columns=["marks"])
    assert marks.alone.estimate == pytest.approx(2 * marks.sd)
    assert math.isnan(marks.within.estimate)


def test_ratings_without_response_or_value_are_dropped_and_counted() -> None:
    strange = RATINGS.with_columns(
        rating=pl.when(pl.col("sample") == 3).then(None).otherwise("rating"),
        respondent=pl.when(pl.col("sample") < 2).then(pl.lit("nobody")).otherwise("respondent"),
    )
    [_, marks] = rating_relations(FEATURES, strange)
    assert (marks.n, marks.dropped) == (57, 3)


def test_a_feature_that_never_varies_has_no_slope() -> None:
    [flat] = rating_relations(FEATURES.with_columns(flat=pl.lit(1)), RATINGS, columns=["flat"])
    assert math.isnan(flat.alone.estimate)
    assert flat.n == 60


def test_a_feature_of_one_response_has_no_p() -> None:
    rare = FEATURES.with_columns(rare=(pl.col("sample") == 7).cast(pl.Int64))
    [found] = rating_relations(rare, RATINGS, columns=["rare"])
    assert not math.isnan(found.alone.estimate)
    assert math.isnan(found.alone.p)


def test_a_rare_feature_is_not_tested_and_counts_in_the_correction() -> None:
    rng = np.random.default_rng(3)
    row = np.arange(80)
    features = pl.DataFrame(
        {
            "respondent": row % 2,
            "situation": row // 2,
            "words": 40 + row % 7,
            "common": rng.poisson(2, 80),
            "rare": (row % 8 == 0).astype(int),
        }
    )
    ratings = features.select("respondent", "situation", rater=row, rating=rng.integers(1, 4, 80))
    found = tuple(rating_relations(features, ratings, columns=["common", "rare"]))
    common, rare = found
    assert (common.too_rare, rare.too_rare) == (False, True)
    assert rare.within.p < 1
    assert math.isnan(rare.p_holm)
    assert common.p_holm == max(min(1, 2 * min(common.within.p, rare.within.p)), common.within.p)
    cells = {row["feature"]: row["p corrected"] for row in relation_rows(RatedStyle("", "", found))}
    assert [cell == "too rare to test" for cell in cells.values()].count(True) == 1
    said = [rated_sentence(RatedStyle("", "warmth", part), {}) for part in (found, (rare,))]
    assert "no association of 1 feature with warmth ratings is significant" in said[0]
    assert said[1].startswith("All features are too rare to test for an association with warmth")


def test_no_ratings_have_no_slope() -> None:
    [_, marks] = rating_relations(FEATURES, RATINGS.clear())
    assert marks.n == 0
    assert math.isnan(marks.alone.estimate)


def test_ratings_in_words_are_refused_with_the_remedy() -> None:
    with pytest.raises(InputError, match="Bad 1, Okay 2, Good 3"):
        rating_relations(FEATURES, RATINGS.with_columns(pl.col("rating").cast(pl.String)))


@pytest.mark.shared_data
def test_exclamations_go_with_good_ratings_and_long_sentences_do_not(
    welivita_responses: pl.DataFrame, welivita_ratings: pl.DataFrame
) -> None:
    from empathylab.style.measures.table import features

    table = features(welivita_responses, sentiment=False)
    found = {relation.feature: relation for relation in rating_relations(table, welivita_ratings)}
    assert found["exclamations"].within.low > 0
    assert found["words_per_sentence"].within.high < 0
    assert found["exclamations"].n == 4000
    assert math.isnan(found["tildes"].within.p)
