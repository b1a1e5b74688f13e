"""A rated study from the lab to the numbers that a reader sees."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, select

from empathylab.analysis import ratings as rated_replies
from empathylab.analysis.ratings import RatingsResult
from empathylab.analysis.ratings.rows import comparison_table, count_table
from empathylab.errors import InputError, UserError
from empathylab.report import collect, write_report
from empathylab.situations.sources.rating_tables import ratings_from
from empathylab.situations.sources.reply_tables import replies_from
from empathylab.situations.sources.welivita import read_release
from empathylab.stats.mixed import Clmm, Lmm
from empathylab.stats.raters.exclusions import (
    FailedAttention,
    Inconsistent,
    StraightLining,
    TooFast,
)
from empathylab.store import Lab
from empathylab.store.imports.releases import import_release
from empathylab.store.schema import raters, ratings, respondents, responses
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
def analysis(sqlite_lab: Lab, tmp_path: Path) -> RatingsResult:
    rated(sqlite_lab, tmp_path, good={"human": 0.3, "gpt": 0.7})
    return rated_replies.from_lab(sqlite_lab)


def test_the_counts_are_those_of_the_file(analysis: RatingsResult, tmp_path: Path) -> None:
    rows = read_table(tmp_path / "r.csv").to_dicts()
    good = sum(row["rating_gpt"] == "3" for row in rows)
    (test,) = [test for test in analysis.comparison.tests if test.kind == "all"]
    assert (test.arm, test.reference, test.n, test.good) == ("gpt", "human", 180, good)


def test_the_document_keeps_the_contract_and_holds_no_nan(analysis: RatingsResult) -> None:
    found = json.loads(json.dumps(analysis.to_dict(), allow_nan=False))
    assert {"arm", "n", "counts", "percent"} <= set(found["arms"][0])
    assert {
        *("arm", "reference", "subset", "n", "good", "good_reference", "relative_gain_percent"),
        *("risk_difference", "chi2", "df", "p", "p_holm", "p_bh", "correction"),
    } <= set(found["tests"][0])
    assert [test["subset"] for test in found["tests"]][:3] == ["all", "negative", "positive"]
    assert found["tests"][3]["subset"] == "emotion:afraid"
    assert found["mixed_model"]["coefficients"]["armgpt"]["estimate"] > 0
    assert set(found["mixed_model"]["thresholds"]) == {"1|2", "2|3"}
    assert set(found["mixed_model"]["random_effects"]) == {"rater", "situation"}
    assert found["raters"]["n"] == 60


def test_the_arms_raters_are_compared_by_what_is_known(analysis: RatingsResult) -> None:
    compared = analysis.rater_comparison
    assert compared is not None
    assert {item.variable for item in compared.numeric} == {
        "teq",
        "age",
        "seconds",
        "inconsistencies",
    }
    assert {item.variable for item in compared.categorical} == {"sex", "country_of_residence"}


def test_the_mixed_model_is_ordinal_and_comes_with_valence(analysis: RatingsResult) -> None:
    assert [(model.kind, model.by_valence) for model in analysis.models] == [
        ("clmm", False),
        ("clmm", True),
    ]
    assert all(isinstance(model.model, Clmm) for model in analysis.models)


def test_paragraphs_hold_the_numbers(analysis: RatingsResult) -> None:
    (test,) = [test for test in analysis.comparison.tests if test.kind == "all"]
    said = " ".join(analysis.paragraphs())
    assert f"in {test.good} of 180 ratings" in said
    assert "from people on empathy, b = " in said or "than people on empathy, b = " in said
    assert "cumulative link mixed model" in said


def test_another_reference_turns_the_comparison_round(sqlite_lab: Lab, tmp_path: Path) -> None:
    rated(sqlite_lab, tmp_path, good={"human": 0.3, "gpt": 0.7})
    turned = rated_replies.from_lab(sqlite_lab, reference="gpt")
    (test,) = [test for test in turned.comparison.tests if test.kind == "all"]
    assert (test.arm, test.reference) == ("human", "gpt")
    with pytest.raises(UserError, match="Did you mean 'gpt'"):
        rated_replies.from_lab(sqlite_lab, reference="gtp")


def test_exclusions_are_counted_and_results_given_with_and_without(
    sqlite_lab: Lab, tmp_path: Path
) -> None:
    rated(sqlite_lab, tmp_path)
    rules = [TooFast(seconds=400), StraightLining(), Inconsistent(most=6)]
    found = rated_replies.from_lab(sqlite_lab, rules=rules)
    assert found.exclusions is not None
    # People 0 to 4 of each arm took 300 to 380 seconds.
    fast = [
        count for count in found.exclusions.exclusions.counts if count.rule == TooFast(seconds=400)
    ]
    assert {item.arm: item.excluded for item in fast} == {"human": 5, "gpt": 5}
    whole = next(count for count in found.comparison.counts if count.kind == "all")
    kept = next(count for count in found.exclusions.kept.counts if count.kind == "all")
    assert kept.n < whole.n
    assert found.to_dict()["exclusions"]["kept"]["human"] <= 25


def test_ratings_within_subjects_are_paired(sqlite_lab: Lab) -> None:
    rows = "".join(
        f"s{s},{who},r{r},{1 + (s + r + k) % 5},reply {s} {who},story {s},sad\n"
        for s in range(8)
        for k, who in enumerate(("human", "gpt"))
        for r in range(4)
    )
    table(sqlite_lab, "situation,respondent,rater,rating,text,situation_text,emotion\n" + rows)
    found = rated_replies.from_lab(sqlite_lab)
    assert found.study.design == "within"
    assert found.paired is not None
    assert found.paired.unit == "rater and situation"
    assert "pairs by rater" not in " ".join(found.paragraphs())
    three_points = rated_replies.from_lab(sqlite_lab, good_from=4)
    assert "32 pairs by rater and situation" in " ".join(three_points.paragraphs())
    assert found.rater_comparison is None
    assert json.dumps(found.to_dict(), allow_nan=False)


HEAD = "situation,respondent,rater,rating,text,situation_text,emotion\n"


def degrees(step: int = 20) -> str:
    """Ratings of two arms in degrees, by raters who each rated both."""
    return HEAD + "".join(
        f"s{s},{who},r{r},{(s * 13 + r * 7 + k * step) % 100},reply {s} {who},story {s},sad\n"
        for s in range(8)
        for k, who in enumerate(("human", "gpt"))
        for r in range(4)
    )


def two_dimensions(second: str = "help") -> str:
    """Three points of warmth, and degrees or five points of another dimension."""
    return (
        "dimension,"
        + HEAD
        + "".join(
            f"{name},s{s},{who},{who}{r},{value},reply {s} {who},story {s},sad\n"
            for s in range(8)
            for k, who in enumerate(("human", "gpt"))
            for r in range(6)
            for name, value in (
                ("warmth", 1 + (s + r + k) % 3),
                (
                    second,
                    (s * 13 + r * 7 + k * 9) % 100 if second == "degree" else 1 + (s * r + k) % 5,
                ),
            )
        )
    )


def test_degrees_are_compared_by_means_without_a_threshold(sqlite_lab: Lab) -> None:
    table(sqlite_lab, degrees())
    found = rated_replies.from_lab(sqlite_lab)
    assert not found.comparison.scales
    assert [mean.dimension for mean in found.means] == ["empathy"]
    assert isinstance(found.models[0].model, Lmm)
    values = [(s * 13 + r * 7) % 100 for s in range(8) for r in range(4)]
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    arm = next(arm for arm in document["arms"] if arm["arm"] == "human")
    assert arm["mean"] == pytest.approx(sum(values) / 32)
    assert (arm["n"], arm["counts"]) == (32, {})
    said = " ".join(found.paragraphs())
    assert "Empathy was rated on a continuous scale" in said
    assert "Hedges' g = " in said


def test_the_report_shows_a_study_of_degrees(sqlite_lab: Lab) -> None:
    table(sqlite_lab, degrees())
    page = write_report(collect(sqlite_lab), sqlite_lab.reports).read_text(encoding="utf-8")
    assert "Means of ratings" in page
    assert "Mean rating, from" in page


def test_a_threshold_makes_degrees_good_or_not(sqlite_lab: Lab) -> None:
    table(sqlite_lab, degrees())
    found = rated_replies.from_lab(sqlite_lab, good_from=60)
    good = sum((s * 13 + r * 7 + 20) % 100 >= 60 for s in range(8) for r in range(4))
    assert found.comparison.tests[0].good == good
    assert found.means
    # Nobody gave as much: no rating is good, which is a result and not an error.
    assert rated_replies.from_lab(sqlite_lab, good_from=1000).comparison.tests[0].good == 0


def test_thresholds_are_given_by_dimension(sqlite_lab: Lab) -> None:
    table(sqlite_lab, two_dimensions("degree"))
    found = rated_replies.from_lab(sqlite_lab, good_from={"degree": 50})
    assert {name: one.threshold for name, one in found.comparison.scales.items()} == {
        "warmth": 3,
        "degree": 50,
    }
    # One number holds for degrees; points keep their top.
    same = rated_replies.from_lab(sqlite_lab, good_from=50)
    assert same.comparison.scales == found.comparison.scales
    with pytest.raises(UserError, match="Did you mean 'degree'"):
        rated_replies.from_lab(sqlite_lab, good_from={"degre": 50})


def test_several_dimensions_are_named_everywhere(sqlite_lab: Lab) -> None:
    table(sqlite_lab, two_dimensions())
    found = rated_replies.from_lab(sqlite_lab)
    counts = count_table(found.comparison)
    assert [row["dimension"] for row in counts] == ["warmth", "warmth", "help", "help"]
    assert len({tuple(row) for row in counts}) == 1
    assert counts[0]["5"] == ""
    assert {row["dimension"] for row in comparison_table(found.comparison)} == {"warmth", "help"}
    said = " ".join(found.paragraphs())
    for name in ("warmth", "help"):
        assert f"Ratings of {name} (" in said
        assert f"from people on {name}, b = " in said
    assert "proportions of good ratings of warmth were compared" in said
    assert "means of help were compared" in said
    assert " on warmth in " in said
    assert "The mean of help was " in said
    page = write_report(collect(sqlite_lab), sqlite_lab.reports).read_text(encoding="utf-8")
    assert "Mixed model of help" in page


def test_points_beside_degrees_are_named_too(sqlite_lab: Lab) -> None:
    table(sqlite_lab, two_dimensions("degree"))
    found = rated_replies.from_lab(sqlite_lab)
    assert list(found.comparison.scales) == ["warmth"]
    assert "ratings of warmth and degree of 16 replies" in found.paragraphs()[0]
    assert write_report(collect(sqlite_lab), sqlite_lab.reports).is_file()


def test_arms_may_be_called_like_columns(sqlite_lab: Lab) -> None:
    names = ("p", "good", "variable", "arm", "n")
    rows = "".join(
        f"s{s},{who},{who}{r},{1 + (s + r + k) % 3},reply {s} {who},story {s},sad\n"
        for s in range(4)
        for k, who in enumerate(names)
        for r in range(4)
    )
    table(sqlite_lab, HEAD + rows)
    found = rated_replies.from_lab(sqlite_lab)
    row = comparison_table(found.comparison)[1]
    # By hand: of 16 sums of two numbers from 0 to 3, six divide by 3 and five leave 2.
    assert (row["arm"], row["good"], row["good (reference)"]) == ("variable", "6/16", "5/16")
    said = found.paragraphs()[0]
    assert "No rated arm shows replies by people, so the first arm, p, is the reference" in said


def test_every_rating_the_same_is_said_as_it_is(sqlite_lab: Lab) -> None:
    rows = "".join(
        f"s{k},{('human', 'gpt')[k % 2]},r{k},2,reply {k},story {k},sad\n" for k in range(8)
    )
    table(sqlite_lab, HEAD + rows)
    found = rated_replies.from_lab(sqlite_lab)
    said = found.paragraphs()
    assert "means were compared" not in " ".join(said)
    assert any(
        text.startswith("Every rating of empathy is 2 (8 ratings), so this dimension")
        for text in said
    )
    assert "formula" not in " ".join(said)
    assert "Every rating of empathy is 2" in write_report(
        collect(sqlite_lab), sqlite_lab.reports
    ).read_text(encoding="utf-8")


def test_one_arm_is_described_and_not_compared(sqlite_lab: Lab) -> None:
    rows = "".join(f"s{k},gpt,r{k % 4},{1 + k % 3},reply {k},story {k},sad\n" for k in range(9))
    table(sqlite_lab, HEAD + rows)
    found = rated_replies.from_lab(sqlite_lab)
    said = " ".join(found.paragraphs())
    assert "With a single rated arm, no test is possible." in said
    assert "Each arm was compared" not in said
    assert "gpt was rated 3 in 3 of 9 ratings (33.3%), 95% CI [" in said
    assert "gpt is the only rated arm; replies by people were not rated." in said


def test_replies_that_nobody_rated_are_named(sqlite_lab: Lab) -> None:
    lines = [
        f"s{k},{who},r{k},{1 + k % 3},reply {k} {who},story {k},sad\n"
        for k in range(6)
        for who in ("human", "gpt")
    ]
    table(sqlite_lab, HEAD + "".join(lines))
    with sqlite_lab.writing() as connection:
        human = select(respondents.c.id).where(respondents.c.name == "human").scalar_subquery()
        rated = select(responses.c.id).where(responses.c.respondent_id == human)
        connection.execute(delete(ratings).where(ratings.c.response_id.in_(rated)))
    found = rated_replies.from_lab(sqlite_lab)
    assert found.unrated == ("human",)
    assert (
        "human replied to these situations, but the study has no ratings" in found.paragraphs()[0]
    )


def test_a_rater_without_ratings_leaves_the_others_compared(
    sqlite_lab: Lab, tmp_path: Path
) -> None:
    rated(sqlite_lab, tmp_path)
    whole = rated_replies.from_lab(sqlite_lab)
    with sqlite_lab.writing() as connection:
        first = select(raters.c.id).order_by(raters.c.id).limit(1).scalar_subquery()
        connection.execute(delete(ratings).where(ratings.c.rater_id == first))
    found = rated_replies.from_lab(sqlite_lab)
    assert whole.rater_comparison is not None
    assert found.rater_comparison is not None
    assert sum(whole.rater_comparison.raters) == 60
    assert sum(found.rater_comparison.raters) == 59
    assert found.raters_without_ratings == 1
    assert found.to_dict()["raters"]["without_ratings"] == 1
    assert "1 rater without ratings was excluded." in found.paragraphs()[0]


def test_models_are_refitted_without_the_raters_left_out(sqlite_lab: Lab, tmp_path: Path) -> None:
    rated(sqlite_lab, tmp_path, good={"human": 0.3, "gpt": 0.7})
    found = rated_replies.from_lab(sqlite_lab, rules=[TooFast(seconds=400)])
    (fit, _), (kept, _) = found.models, found.kept_models
    assert fit.model is not None
    assert kept.model is not None
    # Five of thirty raters of each arm took less than 400 seconds.
    assert (fit.model.n, kept.model.n) == (360, 300)
    (row, _) = found.to_dict()["exclusions"]["mixed_models"]
    assert row["n"] == 300
    said = found.paragraphs()[-1]
    assert said.startswith("In the mixed model, gpt against people (arm) is b = ")
    assert " without the excluded raters and b = " in said


def test_rules_that_find_nothing_say_nothing_of_robustness(sqlite_lab: Lab, tmp_path: Path) -> None:
    rated(sqlite_lab, tmp_path)
    found = rated_replies.from_lab(sqlite_lab, rules=[TooFast(seconds=1)])
    assert found.paragraphs()[-1].startswith("Raters who took less than 1 second were excluded.")


def test_rules_need_what_they_judge_by(sqlite_lab: Lab) -> None:
    table(sqlite_lab, degrees())
    with pytest.raises(InputError, match="no rater answered a questionnaire with reversed items"):
        rated_replies.from_lab(sqlite_lab, rules=[Inconsistent()])
    with pytest.raises(UserError, match="no column about raters 'failed'"):
        rated_replies.from_lab(sqlite_lab, rules=[FailedAttention(column="failed")])


def test_rules_that_leave_no_reference_say_so(sqlite_lab: Lab) -> None:
    rows = "".join(
        f"s{k},{who},{who}{k % 2},{2 if who == 'human' else 1 + k % 3},reply {k},story {k},sad\n"
        for k in range(12)
        for who in ("human", "gpt")
    )
    table(sqlite_lab, HEAD + rows)
    with pytest.raises(InputError, match="no rating of empathy in the reference arm 'human'"):
        rated_replies.from_lab(sqlite_lab, rules=[StraightLining()])


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
        found = rated_replies.from_lab(sqlite_lab)
    except InputError as error:
        assert str(error)  # noqa: PT017 - either is right
    else:
        assert json.dumps(found.to_dict(), allow_nan=False)
    assert write_report(collect(sqlite_lab), sqlite_lab.reports).is_file()


@pytest.mark.shared_data
def test_the_published_table_is_reproduced_to_the_last_digit(
    sqlite_lab: Lab, shared_data: Path
) -> None:
    """Welivita & Pu 2024: counts, Yates chi-squares, gain, and significant emotions."""
    released = read_table(shared_data / "welivita" / "dataset_and_ratings.csv")
    release = read_release(released, where="released")
    import_release(sqlite_lab, release, kind="welivita", source="r", fingerprint="1")
    found = rated_replies.from_lab(sqlite_lab).to_dict()
    counts = {arm["arm"]: tuple(arm["counts"].values()) for arm in found["arms"]}
    assert counts == {"human": (342, 672, 986), "chatgpt_empathy": (142, 563, 1295)}
    tests = {test["subset"]: test for test in found["tests"]}
    chi = {name: round(tests[name]["chi2"], 2) for name in ("all", "positive", "negative")}
    assert chi == {"all": 96.77, "positive": 64.10, "negative": 36.78}
    assert round(tests["all"]["relative_gain_percent"], 1) == 31.3
    emotions = [one for name, one in tests.items() if name.startswith("emotion:")]
    assert len(emotions) == 32
    significant = [sum(emotion[p] < 0.05 for emotion in emotions) for p in ("p", "p_bh", "p_holm")]
    assert significant == [12, 10, 3]
    # R's ordinal::clmm on the same ratings (reference/r_mixed_models.json).
    model = found["mixed_model"]
    assert model["coefficients"]["armchatgpt_empathy"]["estimate"] == pytest.approx(
        0.74736732, abs=1e-3
    )
    assert model["log_likelihood"] == pytest.approx(-3663.82361656, abs=1e-2)
    assert model["boundary"] == ["situation"]
