"""Recipients by author and label; lmerTest and emmeans gave the numbers of recipients.json."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import ttest_rel

from empathylab.analysis import recipients
from empathylab.analysis.recipients.prose import headlines, kind_of
from empathylab.analysis.recipients.result import RecipientsResult
from empathylab.errors import InputError, UnknownName

R: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "reference" / "recipients.json").read_text(encoding="utf-8")
)


def made_up() -> pl.DataFrame:
    """The data of recipients.R."""
    i = np.arange(120)
    ai, labelled, turn = i % 2 == 0, (i // 2) % 3 == 0, (i // 2) % 7
    before = (i * 13) % 7
    shift = np.where(ai, 0, np.array([2, -2, 1, 0, -1, 3, -3])[turn])
    y = (
        ((i * 37) % 23) / 4
        + 0.8 * ai
        - 0.5 * labelled
        + shift
        + 0.3 * before
        + (i % 60 * 7) % 11 / 2
    )
    return pl.DataFrame(
        {
            "person": [f"p{k % 60}" for k in i],
            "response": np.where(ai, "ai", "human"),
            "label": np.where(labelled, "ai", "human"),
            "replier": np.where(ai, "model", [f"h{k}" for k in turn]),
            "heard_before": before,
            "heard": y,
        }
    )


def effect(result: RecipientsResult, term: str, outcome: int = 0) -> Any:
    return next(
        item for item in result.outcomes[outcome].effects if (item.term, item.by) == (term, None)
    )


@pytest.mark.shared_data
def test_published_recipients_have_their_cell_means_and_f_values(shared_data: Path) -> None:
    # Type II analysis of variance by car::Anova.
    published = pl.read_csv(shared_data / "recipients" / "recipients.csv")
    found = recipients.from_table(published, margin=0.6).to_dict()
    cells = {(cell["outcome"], cell["response"], cell["label"]): cell for cell in found["cells"]}
    assert [
        round(cells["feelheard", *at]["mean"], 3)
        for at in (("ai", "ai"), ("ai", "human"), ("human", "ai"), ("human", "human"))
    ] == [5.407, 6.118, 4.820, 5.511]
    tests = {(test["outcome"], test["term"]): test for test in found["tests"]}
    assert len(tests) == len(found["tests"]) == 9
    assert {test["df_residual"] for test in found["tests"]} == {451}
    for outcome, expected in {
        "feelheard": (22.00, 30.31, 0.006),
        "understoodme": (29.89, 28.65, 0.069),
        "connection": (19.30, 38.88, 0.091),
    }.items():
        terms = ("response", "label", "response:label")
        assert [tests[outcome, term]["F"] for term in terms] == pytest.approx(expected, abs=0.005)
    third = {(item["outcome"], item["term"]): item for item in found["tests_type3"]}
    assert third["feelheard", "label"]["F"] == pytest.approx(30.2692463098)
    kinds = [conclusion["kind"] for conclusion in found["conclusions"]]
    assert kinds == ["better"] * 3 + ["worse"] * 3 + ["equivalent"] * 3


@pytest.mark.parametrize(
    ("columns", "name", "terms"),
    [
        ({}, "repliers", "y ~ response * label + (0 + several_replier|replier)"),
        ({"participant": "person"}, "persons", "y ~ before + response * label + (1|participant)"),
    ],
)
def test_mixed_models_have_the_tests_of_lmertest(
    columns: dict[str, str], name: str, terms: str
) -> None:
    frame = made_up()
    frame = frame.drop("heard_before", "person") if name == "repliers" else frame.drop("replier")
    result = recipients.from_table(frame, roles=columns)
    assert result.model is not None
    assert result.model.formula == terms
    for test, expected in zip(result.outcomes[0].tests, R[name]["tests"], strict=True):
        assert (test.term, test.type, test.df) == (expected["term"], "III", expected["df"])
        assert test.f == pytest.approx(expected["F"], rel=1e-4)
        assert test.df_residual == pytest.approx(expected["df_residual"], rel=1e-3)
        assert test.p == pytest.approx(expected["p"], rel=2e-3)
    author = effect(result, "response")
    for part in ("estimate", "low", "high"):
        assert getattr(author, part) == pytest.approx(R[name]["author"][part], rel=1e-3)


def test_effects_are_corrected_by_holms_method_over_the_outcomes() -> None:
    noise, ai = np.random.default_rng(3), np.arange(60) % 2 == 0
    frame = pl.DataFrame(
        {
            "response": np.where(ai, "ai", "human"),
            "warm": noise.normal(size=60) + 0.7 * ai,
            "near": noise.normal(size=60) + 0.5 * ai,
        }
    )
    result = recipients.from_table(frame)
    smaller, larger = sorted((effect(result, "response", n) for n in (0, 1)), key=lambda e: e.p)
    assert 2 * smaller.p < 1
    assert smaller.p_adjusted == pytest.approx(2 * smaller.p)
    assert larger.p_adjusted == pytest.approx(max(2 * smaller.p, larger.p))
    kinds = [kind_of(replace(smaller, p=0.01, p_adjusted=p)) for p in (0.04, 0.06)]
    assert kinds == ["better", "inconclusive"]


def test_pairs_of_several_authors_are_corrected_together() -> None:
    """p values of R 4: pairwise.t.test(heard, response, p.adjust.method = "holm")."""
    i = np.arange(60)
    frame = pl.DataFrame(
        {
            "response": [f"m{k}" for k in i % 4],
            "heard": (i * 37) % 11 + 1.0 * (i % 4) + 0.7 * (i % 4 == 3),
        }
    )
    result = recipients.from_table(frame)
    found = {
        (pair.level, pair.reference): pair.p_adjusted
        for pair in result.outcomes[0].effects
        if pair.by is None
    }
    assert found["m0", "m1"] == pytest.approx(0.8025966898)
    assert found["m0", "m3"] == pytest.approx(0.0526614287)
    assert "after Holm's correction over 6 comparisons" in result.conclusions[0].sentence


def test_an_author_with_one_source_is_named_as_a_limit() -> None:
    result = recipients.from_table(made_up(), roles={"participant": "person"})
    assert any("replies by AI come from one source" in caveat for caveat in result.caveats)
    assert result.outcomes[0].groups == ("participant", "replier")


def test_authors_with_one_source_each_give_the_analysis_of_variance() -> None:
    frame = made_up().drop("heard_before", "person")
    alone = recipients.from_table(frame.with_columns(replier=pl.col("response")))
    assert alone.model is not None
    assert alone.model.formula == "y ~ response * label"
    plain = recipients.from_table(frame.drop("replier"))
    assert alone.outcomes[0].tests == plain.outcomes[0].tests
    assert sum("come from one source" in caveat for caveat in alone.caveats) == 2


def test_participants_with_all_conditions_give_the_paired_t_test() -> None:
    # In a balanced design, F of a factor is the squared t of the participants' mean differences.
    random = np.random.default_rng(3)
    people, rows = 24, []
    for person in range(people):
        level, taste = random.normal(0, 1), random.normal(0, 1)
        for author in ("ai", "human"):
            for label in ("ai", "human"):
                shift = (0.5 + taste) * (author == "ai") + level
                rows.append((f"p{person}", author, label, shift + random.normal(0, 0.6)))
    frame = pl.DataFrame(rows, schema=["participant", "response", "label", "heard"], orient="row")
    result = recipients.from_table(frame)
    means = frame.group_by("participant", "response", maintain_order=True).agg(
        pl.col("heard").mean()
    )
    ai, human = (means.filter(response=name)["heard"].to_numpy() for name in ("ai", "human"))
    expected = ttest_rel(ai, human)
    test = result.outcomes[0].tests[0]
    assert test.f == pytest.approx(expected.statistic**2, rel=1e-4)
    assert test.df_residual == pytest.approx(people - 1, rel=1e-3)
    assert "(1|participant:response)" in str(result.outcomes[0].formula)


def test_change_has_the_students_interval_over_participants() -> None:
    # By hand: changes 1, 2, 3, 2 have mean 2 and SD 0.8165; t(3) at 97.5% is 3.182446.
    frame = pl.DataFrame(
        {
            "author": ["ai", "human"] * 2,
            "mood_before": [1, 2, 1, 3],
            "mood_after": [2, 4, 4, 5],
        }
    )
    result = recipients.from_table(frame)
    change = result.outcomes[0].changes[0]
    assert (change.outcome, change.mean, change.n) == ("mood", 2, 4)
    assert change.high == pytest.approx(2 + 3.182446 * math.sqrt(2 / 3) / 2, abs=1e-5)
    assert [(change.response, change.mean) for change in result.outcomes[0].changes[1:]] == [
        ("ai", 2),
        ("human", 2),
    ]


def null_study(seed: int) -> pl.DataFrame:
    """No effects; eight people, some better than others, and a model wrote the replies."""
    random = np.random.default_rng(seed)
    ai = random.random(96) < 0.5
    replier = np.where(ai, 8, random.integers(8, size=96))
    level = np.append(random.normal(0, 1, 8), 0)[replier]
    return pl.DataFrame(
        {
            "response": np.where(ai, "ai", "human"),
            "label": random.choice(["ai", "human"], 96),
            "replier": replier.astype(str),
            "heard": level + random.normal(0, 1, 96),
        }
    )


def test_the_headline_is_wrong_no_more_often_than_it_says() -> None:
    """At 5%, of 60 studies 9 or more false headlines have a probability below 1%."""
    wrong = {"replier": 0, "unknown": 0}
    for seed in range(60):
        study = null_study(seed)
        for name, frame in {"replier": study, "unknown": study.drop("replier")}.items():
            headline = next(headlines(recipients.from_table(frame).conclusions))
            wrong[name] += headline.kind != "inconclusive"
    assert wrong["replier"] < 9
    assert wrong["unknown"] > wrong["replier"]  # who wrote what matters


def test_a_false_margin_is_refused_and_a_wide_one_shows_equivalence() -> None:
    frame = null_study(1).drop("replier").with_columns(calm=pl.col("heard") * 0.1)
    result = recipients.from_table(frame, margin={"calm": 2.0})
    author = effect(result, "response", 1)
    assert author.equivalence.equivalent
    assert effect(result, "response").equivalence is None
    assert "about the same, within ±2 points" in str(result.conclusions[1])
    with pytest.raises(InputError, match="above 0 points"):
        recipients.from_table(frame, margin=-1.0)
    with pytest.raises(UnknownName, match="calmm"):
        recipients.from_table(frame, margin={"calmm": 1.0})


def test_columns_are_recognised_and_can_be_named() -> None:
    frame = pl.DataFrame(
        {
            "PID": list("abcdef"),
            "True_Author": ["ai", "person"] * 3,
            "shown": ["none", "none", "ai", "ai", "person", "person"],
            "age": ["31", "32", "33", "34", "35", "36"],
            "country": list("uvwxyz"),
            "pre.heard": ["1", "2", "NA", "2", "3", "1"],
            "post.heard": ["4", "5", "3", "6", "5", "7"],
        }
    )
    result = recipients.from_table(frame, roles={"label": "shown"})
    table = result.table
    assert table.columns == {"participant": "PID", "response": "True_Author", "label": "shown"}
    assert (table.outcomes, table.before) == (("heard",), {"heard": "pre.heard"})
    assert table.ignored == ("age", "country")
    assert "none" in table.levels("label")  # a label of its own, not a missing value
    assert result.outcomes[0].dropped == 1
    with pytest.raises(InputError, match="neither who wrote"):
        recipients.from_table(frame.select("PID", "country", "post.heard"))
    with pytest.raises(InputError, match="no outcome"):
        recipients.from_table(frame.select("PID", "True_Author", "country"))


def test_a_label_that_always_tells_the_author_is_not_tested_apart() -> None:
    frame = pl.DataFrame(
        {
            "response": ["ai", "human"] * 4,
            "label": ["ai", "human"] * 4,
            "heard": [5, 3, 6, 4, 5, 5, 7, 2],
        }
    )
    result = recipients.from_table(frame)
    assert [test.term for test in result.outcomes[0].tests] == ["response"]
    assert result.caveats[0].startswith("Author and label always go together")


def test_outcomes_that_do_not_vary_within_conditions_are_said_to_be_untested() -> None:
    frame = pl.DataFrame({"response": ["ai", "human"] * 4, "heard": [5, 3] * 4, "sad": range(8)})
    result = recipients.from_table(frame)
    assert result.outcomes[0].problem is not None
    assert "heard is not tested" in result.caveats[0]
    assert [conclusion.dimension for conclusion in result.conclusions] == ["sad"]


def test_onlookers_and_judges_are_compared_on_the_same_replies() -> None:
    random = np.random.default_rng(5)
    felt = random.normal(0, 1, 40)
    own = pl.DataFrame(
        {
            "participant": [f"p{i // 2}" for i in range(40)],
            "response": ["ai", "human"] * 20,
            "reply": [f"t{i}" for i in range(40)],
            "heard": felt,
        }
    )
    rows = [
        (f"t{i}", f"o{k}", "person", 0.3 * felt[i] + random.normal(0, 1))
        for i in range(40)
        for k in range(3)
    ]
    rows += [(f"t{i}", "judge-a", "model", felt[i]) for i in range(40)]
    ratings = pl.DataFrame(rows, schema=["reply", "rater", "rater_kind", "rating"], orient="row")
    result = recipients.from_table(own, ratings=ratings)
    onlookers, judge, both = result.agreement
    assert (onlookers.second, judge.second, both.first) == ("onlookers", "judge-a", "onlookers")
    means = [np.mean([row[3] for row in rows[3 * i : 3 * i + 3]]) for i in range(40)]
    assert onlookers.correlation == pytest.approx(float(np.corrcoef(felt, means)[0, 1]))
    assert (onlookers.n, onlookers.participants, onlookers.raters) == (40, 20, 3)
    assert [judge.correlation, judge.low] == pytest.approx([1, 1])
    assert onlookers.low < onlookers.correlation < onlookers.high < 1
    assert "the judge judge-a's rating correlates with recipients' heard" in result.summary()
    assert "(40 replies to 20 recipients)" in result.summary()
    with pytest.raises(InputError, match="no rated reply"):
        recipients.from_table(own, ratings=ratings.with_columns(reply=pl.lit("other")))


def test_few_sources_of_an_author_are_named_as_a_limit() -> None:
    result = recipients.from_table(made_up(), roles={"participant": "person"})
    assert (
        "All replies by people come from 7 sources: how much sources vary is uncertain"
        in " ".join(result.caveats)
    )


def test_an_outcome_that_never_varies_is_named_by_its_own_name() -> None:
    frame = made_up().select("response", heard=pl.lit(4.0))
    [caveat, *_] = recipients.from_table(frame, outcomes=["heard"]).caveats
    assert caveat == "heard is not tested: every 'heard' is the same, so nothing can be estimated."
    with pytest.raises(InputError, match="no other column has numbers that differ"):
        recipients.from_table(frame)


def test_a_combination_that_never_occurs_leaves_the_interaction_untested() -> None:
    conditions = [("ai", "ai"), ("ai", "human"), ("human", "human")]
    rows = [
        (*condition, float(k % 5 + place))
        for k in range(12)
        for place, condition in enumerate(conditions)
    ]
    frame = pl.DataFrame(rows, schema=["response", "label", "heard"], orient="row")
    result = recipients.from_table(frame)
    assert result.caveats[0].startswith("Not every combination of author and label occurs")
