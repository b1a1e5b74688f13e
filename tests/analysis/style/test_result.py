"""The JSON document and the words about style."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from empathylab.analysis.style import from_table
from empathylab.analysis.style.estimates import Depth, StyleEstimates
from empathylab.analysis.style.feature_titles import main_features
from empathylab.analysis.style.prose import paragraphs
from empathylab.analysis.style.result import StyleResult
from empathylab.analysis.style.tables import (
    classification_rows,
    confusion_rows,
    difference_rows,
    emoji_rows,
    feature_rows,
    feature_values,
    overview_rows,
    relation_rows,
    reuse_rows,
)
from empathylab.style import FEATURES
from tests.report.style_frames import ratings, responses


@pytest.fixture(scope="module")
def analysis() -> StyleEstimates:
    frame = responses()
    return from_table(frame, ratings=ratings(frame), depth=Depth(permutations=99)).estimates


@pytest.fixture(scope="module")
def document(analysis: StyleEstimates) -> dict[str, Any]:
    # Through JSON and back, without a NaN anywhere.
    found: dict[str, Any] = json.loads(json.dumps(StyleResult(analysis).to_dict(), allow_nan=False))
    return found


def test_respondents_have_the_contracts_figures(document: dict[str, Any]) -> None:
    warm = document["respondents"][0]
    assert warm["respondent"] == "warm"
    assert warm["responses"] == 12
    assert warm["words_per_response"] == 12.0
    assert warm["emoji_per_response"] == 1.0
    assert warm["punctuation"]["!"] == 2.0
    assert warm["features"]["exclamation_marks"] == 2.0
    assert set(warm["features"]) <= set(FEATURES)
    assert set(warm["figures"]["words"]) >= {"mean", "low", "high", "sd", "used", "dropped"}


def test_distinctive_terms_are_listed_by_respondent(document: dict[str, Any]) -> None:
    terms = {item["term"] for item in document["distinctive"]["dry"]}
    assert "my own week" in terms
    assert {"term", "z", "count"} <= set(document["distinctive"]["warm"][0])


def test_predictability_has_the_contracts_figures(document: dict[str, Any]) -> None:
    told = document["predictability"]
    assert (told["accuracy"], told["macro_f1"], told["chance"]) == (1.0, 1.0, 0.5)
    assert (told["folds"], told["grouped_by"]) == (5, "situation")
    assert told["confusion"] == {"warm": {"warm": 12, "dry": 0}, "dry": {"warm": 0, "dry": 12}}
    assert {ablation["name"] for ablation in told["ablations"]} >= {
        "without length",
        "length alone",
    }


def test_tests_name_feature_and_both_respondents(document: dict[str, Any]) -> None:
    [one] = [test for test in document["tests"] if test["feature"] == "exclamation_marks"]
    assert (one["respondent"], one["against"], one["difference"]) == ("warm", "dry", 2.0)
    assert one["meaning"] == "exclamation marks"
    assert one["n"] == 12


def test_emoji_tactics_repetition_and_ratings_are_there(document: dict[str, Any]) -> None:
    assert document["emoji"] == [
        {"respondent": "warm", "emoji": "😊", "count": 12, "responses": 12, "per_response": 1.0}
    ]
    assert document["tactics"]["tagger"] == "rules"
    assert [item["respondent"] for item in document["repetition"]] == ["warm", "dry"]
    slope = document["ratings"][0]["relations"][0]["alone"]
    assert set(slope) == {"estimate", "low", "high", "se", "df", "p"}


@pytest.mark.parametrize(("joint", "kind"), [(0.049, "different"), (0.051, "inconclusive")])
def test_an_association_is_claimed_by_the_jointly_corrected_p(
    analysis: StyleEstimates, joint: float, kind: str
) -> None:
    first = analysis.rated[0].relations[0]
    slope = first.within._replace(estimate=0.3, df=30.0, p=0.001)
    name = next(iter(main_features(analysis)))
    relation = replace(first, feature=name, within=slope, p_holm=0.02)
    rated = replace(analysis.rated[0], relations=(replace(relation, p_joint=joint),))
    result = StyleResult(replace(analysis, rated=(rated,)))
    [found] = [item for item in result.conclusions if item.subject == "features"]
    assert found.kind == kind
    assert ("p = .049" in found.sentence) == (kind == "different")


def test_one_respondent_has_null_predictability_and_a_note() -> None:
    lone = from_table(responses().filter(respondent="dry")).estimates
    found = json.loads(json.dumps(StyleResult(lone).to_dict(), allow_nan=False))
    assert found["predictability"] is None
    assert (found["tests"], found["distinctive"]) == ([], {})
    assert "there is no comparison" in found["notes"][0]


def test_one_single_word_has_no_nan_in_json() -> None:
    frame = pl.DataFrame({"respondent": ["a"], "situation": ["s"], "text": ["Hm"]})
    json.dumps(from_table(frame).to_dict(), allow_nan=False)


def test_paragraphs_hold_methods_and_the_main_numbers(analysis: StyleEstimates) -> None:
    text = "\n".join(paragraphs(analysis))
    assert "24 responses of warm and dry to 12 situations" in text
    assert "Monroe et al., 2008" in text
    assert "paired t tests of situation means" in text
    assert "was identified correctly in 100.0% of 24 responses" in text
    assert "“my own week”" in text
    assert "nan" not in text


def test_paragraphs_of_one_respondent_make_no_comparison() -> None:
    text = "\n".join(paragraphs(from_table(responses().filter(respondent="dry")).estimates))
    assert "compared by" not in text
    assert "dry wrote 12.0" in text


def test_the_short_table_has_a_row_per_respondent(analysis: StyleEstimates) -> None:
    warm, dry = overview_rows(analysis)
    assert (warm["respondent"], warm["words"], warm["!"], warm["emoji"]) == (
        "warm", "12.00", "2.00", "1.00",
    )  # fmt: skip
    assert dry["?"] == "1.00"


def test_features_nobody_uses_are_not_in_the_table(analysis: StyleEstimates) -> None:
    names = [row["feature"] for row in feature_rows(analysis)]
    assert "exclamation marks" in names
    assert "semicolons" not in names


def test_values_for_a_spreadsheet_are_not_rounded(analysis: StyleEstimates) -> None:
    [mtld] = [
        row
        for row in feature_values(analysis)
        if (row["respondent"], row["feature"]) == ("warm", "letters_per_word")
    ]
    assert mtld["mean"] == analysis.profiles[0].features["letters_per_word"].mean


def test_the_largest_differences_come_first_and_can_be_cut(analysis: StyleEstimates) -> None:
    assert len(difference_rows(analysis, most=3)) == 3
    assert len(difference_rows(analysis)) == len(analysis.differences)


def test_the_other_tables_follow_the_results(analysis: StyleEstimates) -> None:
    assert confusion_rows(analysis)[0] == {
        "written by": "warm",
        "predicted as warm": "12",
        "predicted as dry": "0",
    }
    assert classification_rows(analysis)[0]["accuracy"] == "100.0%"
    assert emoji_rows(analysis) == [
        {
            "emoji": "😊",
            "name": "smiling face with smiling eyes",
            "warm": "1.000",
            "dry": "0.000",
        }
    ]
    openings = reuse_rows(analysis)[0]
    assert (openings["warm"], openings["dry"]) == ("100.0%", "100.0%")
    assert relation_rows(analysis.rated[0])[0]["ratings"] == "72"


def test_figures_and_sentences_use_main_features_that_vary(analysis: StyleEstimates) -> None:
    titles = main_features(analysis)
    assert titles["exclamation_marks"] == "exclamation marks"
    assert "dashes" not in titles
    assert "exclamation_rate" not in titles
