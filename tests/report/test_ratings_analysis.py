"""A rated study from the lab to the numbers that a reader sees."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from empathylab.errors import InputError, UserError
from empathylab.report import write_report
from empathylab.report.ratings_analysis import RatingsAnalysis, analyse_ratings
from empathylab.report.ratings_document import paragraphs, ratings_document
from empathylab.situations.rating_tables import ratings_from
from empathylab.situations.reply_tables import replies_from
from empathylab.situations.welivita import read_release
from empathylab.stats.exclusions import Inconsistent, StraightLining, TooFast
from empathylab.stats.mixed import Clmm, Lmm
from empathylab.store import Lab
from empathylab.store.releases import import_release
from empathylab.tables import parse_csv, read_table
from tests.helpers.welivita import write_people, write_release


def rated(lab: Lab, folder: Path, **options: Any) -> None:
    """Brings a made-up study of two arms into the lab."""
    write_release(folder / "r.csv", raters=30, per_rater=6, **options)
    write_people(folder / "human.csv", "human", 30)
    write_people(folder / "gpt.csv", "gpt", 30)
    people = [(name, read_table(folder / name)) for name in ("human.csv", "gpt.csv")]
    release = read_release(read_table(folder / "r.csv"), where="r.csv", people=people)
    import_release(lab, release, kind="welivita", source="r.csv", fingerprint="1")


def table(lab: Lab, content: str) -> None:
    """Brings a table of ratings with its replies into the lab."""
    frame = parse_csv(content.encode(), where="t.csv")
    release = replies_from(frame, where="t.csv", set_id="t", title="T")
    study = ratings_from(frame, where="t.csv", name="t", title="T")
    import dataclasses

    release = dataclasses.replace(release, study=study)
    import_release(lab, release, kind="ratings", source="t.csv", fingerprint="1")


@pytest.fixture
def analysis(sqlite_lab: Lab, tmp_path: Path) -> RatingsAnalysis:
    rated(sqlite_lab, tmp_path, good={"human": 0.3, "gpt": 0.7})
    return analyse_ratings(sqlite_lab)


def test_the_counts_are_those_of_the_file(analysis: RatingsAnalysis, tmp_path: Path) -> None:
    rows = read_table(tmp_path / "r.csv").to_dicts()
    good = sum(row["rating_gpt"] == "3" for row in rows)
    (test,) = [one for one in analysis.comparison.tests if one.kind == "all"]
    assert (test.arm, test.reference, test.n, test.good) == ("gpt", "human", 180, good)


def test_the_document_keeps_the_contract_and_holds_no_nan(analysis: RatingsAnalysis) -> None:
    found = json.loads(json.dumps(ratings_document(analysis), allow_nan=False))
    assert {"arm", "n", "counts", "percent"} <= set(found["arms"][0])
    assert {
        *("arm", "reference", "subset", "n", "good", "good_reference", "relative_gain_percent"),
        *("risk_difference", "chi2", "df", "p", "p_holm", "p_bh", "correction"),
    } <= set(found["tests"][0])
    assert [one["subset"] for one in found["tests"]][:3] == ["all", "negative", "positive"]
    assert found["tests"][3]["subset"] == "emotion:afraid"
    assert found["mixed_model"]["coefficients"]["armgpt"]["estimate"] > 0
    assert set(found["mixed_model"]["thresholds"]) == {"1|2", "2|3"}
    assert set(found["mixed_model"]["random_effects"]) == {"rater", "situation"}
    assert found["raters"]["n"] == 60


def test_the_arms_raters_are_compared_by_what_is_known(analysis: RatingsAnalysis) -> None:
    compared = analysis.rater_comparison
    assert compared is not None
    assert {one.variable for one in compared.numeric} == {
        "teq",
        "age",
        "seconds",
        "inconsistencies",
    }
    assert {one.variable for one in compared.categorical} == {"sex", "country_of_residence"}


def test_the_mixed_model_is_ordinal_and_comes_with_valence(analysis: RatingsAnalysis) -> None:
    assert [(one.kind, one.by_valence) for one in analysis.models] == [
        ("clmm", False),
        ("clmm", True),
    ]
    assert all(isinstance(one.model, Clmm) for one in analysis.models)


def test_paragraphs_hold_the_numbers(analysis: RatingsAnalysis) -> None:
    (test,) = [one for one in analysis.comparison.tests if one.kind == "all"]
    said = " ".join(paragraphs(analysis))
    assert f"in {test.good} of 180 ratings" in said
    assert "gpt against human (arm)" in said
    assert "cumulative link mixed model" in said


def test_another_reference_turns_the_comparison_round(sqlite_lab: Lab, tmp_path: Path) -> None:
    rated(sqlite_lab, tmp_path, good={"human": 0.3, "gpt": 0.7})
    turned = analyse_ratings(sqlite_lab, reference="gpt")
    (test,) = [one for one in turned.comparison.tests if one.kind == "all"]
    assert (test.arm, test.reference) == ("human", "gpt")
    with pytest.raises(UserError, match="Did you mean 'gpt'"):
        analyse_ratings(sqlite_lab, reference="gtp")


def test_exclusions_are_counted_and_results_given_with_and_without(
    sqlite_lab: Lab, tmp_path: Path
) -> None:
    rated(sqlite_lab, tmp_path)
    rules = [TooFast(seconds=400), StraightLining(), Inconsistent(most=6)]
    found = analyse_ratings(sqlite_lab, rules=rules)
    assert found.exclusions is not None
    # People 0 to 4 of each arm took 300 to 380 seconds.
    fast = [one for one in found.exclusions.exclusions.counts if "400 seconds" in one.rule]
    assert {one.arm: one.excluded for one in fast} == {"human": 5, "gpt": 5}
    whole = next(one for one in found.comparison.counts if one.kind == "all")
    kept = next(one for one in found.exclusions.kept.counts if one.kind == "all")
    assert kept.n < whole.n
    assert ratings_document(found)["exclusions"]["kept"]["human"] <= 25


def test_ratings_within_subjects_are_paired(sqlite_lab: Lab) -> None:
    rows = "".join(
        f"s{s},{who},r{r},{1 + (s + r + k) % 5},reply {s} {who},story {s},sad\n"
        for s in range(8)
        for k, who in enumerate(("human", "gpt"))
        for r in range(4)
    )
    table(sqlite_lab, "situation,respondent,rater,rating,text,situation_text,emotion\n" + rows)
    found = analyse_ratings(sqlite_lab)
    assert found.study.design == "within"
    assert found.paired is not None
    assert found.rater_comparison is None
    assert json.dumps(ratings_document(found), allow_nan=False)


def test_a_scale_of_degrees_needs_a_threshold_and_gets_a_linear_model(sqlite_lab: Lab) -> None:
    rows = "".join(
        f"s{s},{who},r{r},{(s * 13 + r * 7 + k * 20) % 100},reply {s} {who},story {s},sad\n"
        for s in range(8)
        for k, who in enumerate(("human", "gpt"))
        for r in range(4)
    )
    table(sqlite_lab, "situation,respondent,rater,rating,text,situation_text,emotion\n" + rows)
    with pytest.raises(InputError, match="--good-from 75"):
        analyse_ratings(sqlite_lab)
    found = analyse_ratings(sqlite_lab, good_from=60)
    assert isinstance(found.models[0].model, Lmm)


@pytest.mark.parametrize(
    "ratings",
    [
        [("s1", "human", "r1", 1)],  # one rating
        [(f"s{k}", "human", f"r{k}", 1 + k % 3) for k in range(9)],  # one arm
        [(f"s{k}", ("human", "gpt")[k % 2], "r1", 1 + k % 3) for k in range(9)],  # one rater
        [(f"s{k}", ("human", "gpt")[k % 2], f"r{k % 3}", 2 + (k == 0)) for k in range(9)],
    ],
)
def test_small_studies_give_a_result_or_a_sentence(
    sqlite_lab: Lab, ratings: list[tuple[str, str, str, int]]
) -> None:
    rows = "".join(f"{s},{a},{r},{v},reply {s} {a},story {s},sad\n" for s, a, r, v in ratings)
    table(sqlite_lab, "situation,respondent,rater,rating,text,situation_text,emotion\n" + rows)
    try:
        found = analyse_ratings(sqlite_lab)
    except InputError as error:
        assert str(error)  # noqa: PT017 - either is right
    else:
        assert json.dumps(ratings_document(found), allow_nan=False)
    assert write_report(sqlite_lab).is_file()


@pytest.mark.shared_data
def test_the_published_table_is_reproduced_to_the_last_digit(
    sqlite_lab: Lab, shared_data: Path
) -> None:
    """Welivita & Pu 2024: counts, Yates chi-squares, gain, and significant emotions."""
    released = read_table(shared_data / "welivita" / "dataset_and_ratings.csv")
    release = read_release(released, where="released")
    import_release(sqlite_lab, release, kind="welivita", source="r", fingerprint="1")
    found = ratings_document(analyse_ratings(sqlite_lab))
    counts = {one["arm"]: tuple(one["counts"].values()) for one in found["arms"]}
    assert counts == {"human": (342, 672, 986), "chatgpt_empathy": (142, 563, 1295)}
    tests = {one["subset"]: one for one in found["tests"]}
    chi = {name: round(tests[name]["chi2"], 2) for name in ("all", "positive", "negative")}
    assert chi == {"all": 96.77, "positive": 64.10, "negative": 36.78}
    assert round(tests["all"]["relative_gain_percent"], 1) == 31.3
    emotions = [one for name, one in tests.items() if name.startswith("emotion:")]
    assert len(emotions) == 32
    significant = [sum(one[p] < 0.05 for one in emotions) for p in ("p", "p_bh", "p_holm")]
    assert significant == [12, 10, 3]
    # R's ordinal::clmm on the same ratings (reference/r_mixed_models.json).
    model = found["mixed_model"]
    assert model["coefficients"]["armchatgpt_empathy"]["estimate"] == pytest.approx(
        0.74736732, abs=1e-3
    )
    assert model["log_likelihood"] == pytest.approx(-3663.82361656, abs=1e-2)
    assert model["boundary"] == ["situation"]
