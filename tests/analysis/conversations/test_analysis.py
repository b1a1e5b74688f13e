"""Means, comparisons, simulators' influence and cards, on invented conversations."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from empathylab.analysis import overview
from empathylab.analysis.conversations import from_lab, from_table
from empathylab.analysis.conversations.prose import comparison_conclusions
from empathylab.analysis.conversations.simulator_cards import simulator_cards
from empathylab.analysis.overview.first_screen import first_screen
from empathylab.analysis.overview.headlines import conversation_headlines
from empathylab.analysis.results import AnalysisResult
from empathylab.errors import InputError
from empathylab.models import ScriptedModel
from empathylab.protocols.converse.controls import ATTENTIVE, COLD, control_listeners
from empathylab.protocols.converse.plan import SIMULATOR, Conversing, plan_conversing
from empathylab.runs import Job, run
from empathylab.stats.conversations import clustered_mean, persona_difference, rank_agreement
from empathylab.store import Lab
from tests.helpers.conversing import KIND, listener, persona, rule_based_person


def invented(simulator_effect: float = 0.0, personas: int = 40) -> pl.DataFrame:
    """Three respondents of different skill with two simulators."""
    random = np.random.default_rng(7)
    hard = random.normal(0, 8, personas)
    rows = [
        {
            "respondent": f"model {skill}",
            "simulator": f"simulator {simulator}",
            "persona": f"p{number}",
            "final": 50 + 10 * skill + simulator_effect * simulator + hard[number] + noise,
        }
        for skill in range(3)
        for simulator in range(2)
        for number in range(personas)
        for noise in [random.normal(0, 5)]
    ]
    return pl.DataFrame(rows)


def test_the_result_has_the_shape_of_every_analysis() -> None:
    assert isinstance(from_table(invented()), AnalysisResult)


def test_its_chart_can_be_plotted_in_python() -> None:
    assert from_table(invented()).plot("final").to_dict()["title"]


def test_a_mean_with_one_value_per_cluster_has_the_usual_interval() -> None:
    # scipy.stats.ttest_1samp([1, 4, 2, 8, 5], 0).confidence_interval()
    found = clustered_mean([1, 4, 2, 8, 5], list("abcde"))
    assert (found.estimate, found.n) == (4, 5)
    assert (found.low, found.high) == pytest.approx((0.5995631, 7.4004369), abs=1e-6)


def test_repeats_of_one_persona_are_no_new_evidence() -> None:
    once = clustered_mean([1, 4, 2, 8, 5], list("abcde"))
    twice = clustered_mean([1, 4, 2, 8, 5] * 2, list("abcde") * 2)
    assert (twice.low, twice.high) == pytest.approx((once.low, once.high))
    assert math.isnan(clustered_mean([1, 2], ["a", "a"]).low)
    assert math.isnan(clustered_mean([2, 2, 2], list("abc")).low)


def test_shared_personas_are_paired_and_others_are_not() -> None:
    # scipy.stats.ttest_rel([5, 7, 9], [4, 5, 6]) and its confidence_interval()
    first = dict(zip("abc", (5.0, 7.0, 9.0), strict=True))
    paired = persona_difference(first, dict(zip("abc", (4.0, 5.0, 6.0), strict=True)))
    assert (paired.estimate, paired.paired, paired.df) == (2, True, 2)
    assert (paired.low, paired.high) == pytest.approx((-0.4841377, 4.4841377), abs=1e-6)
    assert paired.p == pytest.approx(0.0741799, abs=1e-6)
    # scipy.stats.ttest_ind([5, 7, 9], [4, 5, 6], equal_var=False)
    welch = persona_difference(first, dict(zip("xyz", (4.0, 5.0, 6.0), strict=True)))
    assert (welch.paired, welch.df) == (False, pytest.approx(2.9411765))


def test_simulators_that_agree_rank_alike() -> None:
    found = rank_agreement(invented())
    assert (found.correlation, found.pairs, found.respondents) == (pytest.approx(1.0), 1, 3)
    turned = invented().with_columns(
        final=pl.when(pl.col("simulator") == "simulator 1")
        .then(100 - pl.col("final"))
        .otherwise("final")
    )
    assert rank_agreement(turned).correlation == pytest.approx(-1.0)


def test_the_variance_share_grows_with_the_simulators_influence() -> None:
    none = from_table(invented()).simulators.variance_share
    large = from_table(invented(simulator_effect=20)).simulators.variance_share
    assert none < 0.05
    assert large > 0.5


def test_the_mixed_model_covers_personas_and_simulators() -> None:
    result = from_table(invented(simulator_effect=10))
    assert result.mixed is not None
    assert result.mixed.formula == "final ~ respondent + (1|persona) + (1|simulator)"
    estimates = [contrast.estimate for contrast in result.mixed.contrasts]
    assert estimates == pytest.approx([-10, -20, -10], abs=2)


def test_one_simulator_is_never_enough() -> None:
    result = from_table(invented().filter(pl.col("simulator") == "simulator 0"))
    assert any("one simulator" in caveat for caveat in result.caveats)
    assert result.to_dict()["simulators"]["rank_correlation"] is None
    assert all("simulator 0" in str(conclusion) for conclusion in result.conclusions)


def test_without_shared_respondents_nothing_is_pooled() -> None:
    frame = invented().filter(
        (pl.col("simulator") == "simulator 0") == (pl.col("respondent") != "model 2")
    )
    result = from_table(frame)
    assert result.mixed is None
    assert math.isnan(result.simulators.variance_share)
    assert any("cannot be separated" in caveat for caveat in result.caveats)


def test_an_empty_lab_says_what_to_do(sqlite_lab: Lab) -> None:
    with pytest.raises(InputError, match="empathylab converse"):
        from_lab(sqlite_lab)


def check(lab: Lab, simulator: object, name: str) -> None:
    person = ScriptedModel(simulator, name=name)  # type: ignore[arg-type]
    personas = tuple(persona(number) for number in range(4))
    models = [ScriptedModel(listener(KIND), name="scripted/kind"), *control_listeners("en")]
    jobs = [
        Job(
            model,
            [plan_conversing(lab, model.name, Conversing(personas, name, exchanges=3))],
            partners={SIMULATOR: person},
        )
        for model in models
    ]
    run(lab, jobs)


def test_of_two_runs_with_one_simulator_the_last_used_counts(sqlite_lab: Lab) -> None:
    model = ScriptedModel(listener(KIND), name="scripted/kind")
    person = ScriptedModel(rule_based_person, name="scripted/reacts")
    for personas, exchanges in ((3, 2), (2, 3)):
        talk = Conversing(tuple(map(persona, range(personas))), person.name, exchanges=exchanges)
        plan = plan_conversing(sqlite_lab, model.name, talk)
        run(sqlite_lab, [Job(model, [plan], partners={SIMULATOR: person})])
    assert from_lab(sqlite_lab).design["conversations"] == 2


def test_a_simulator_that_tells_listeners_apart_is_said_to_react(sqlite_lab: Lab) -> None:
    check(sqlite_lab, rule_based_person, "scripted/reacts")
    result = from_lab(sqlite_lab)
    [card] = result.cards
    assert (card.verdict, card.usable) == ("reacts to replies", 12)
    assert [respondent.respondent for respondent in result.respondents] == ["scripted/kind"]


def test_a_simulator_that_feels_the_same_with_everybody_gets_the_honest_verdict(
    sqlite_lab: Lab,
) -> None:
    def random(messages: object, parameters: object) -> str:
        schema = parameters.schema  # type: ignore[attr-defined]
        if schema is None:
            return rule_based_person(messages, parameters)  # type: ignore[arg-type]
        size = len(messages[-1].content)  # type: ignore[index]
        return (
            f'{{"noticed": "{size}", "feeling": {30 + size % 3}, "heard": 1, "trust": 1, '
            '"need_met": "no"}'
        )

    check(sqlite_lab, random, "scripted/numb")
    result = from_lab(sqlite_lab)
    [card] = result.cards
    assert card.verdict == "cannot simulate a person"
    assert "cannot simulate a person" in result.caveats[0]
    # No score of it leads the report.
    shown = first_screen(overview.from_lab(sqlite_lab))
    said = [str(headline) for headline in shown.headlines if headline.section == "conversations"]
    assert said == [card.sentence]
    assert shown.chart is None


def test_the_first_conclusions_say_how_much_the_simulator_decides() -> None:
    result = from_table(invented(simulator_effect=20))
    first, moved, second, ranks, share = map(str, conversation_headlines(result))
    assert "simulator 0" in first + second
    assert "20." in moved or "19." in moved
    assert "than with simulator 1" in moved
    assert "rankings under simulator 0 and simulator 1 correlate" in ranks
    assert "of the variance" in share


def test_success_and_failure_are_given_with_their_thresholds() -> None:
    rows = invented().with_columns(final=pl.Series([10.0, 100.0, 9.9, 99.9] * 60))
    result = from_table(rows.filter(respondent="model 0", simulator="simulator 0"))
    [row] = result.to_dict()["respondents"]
    counts = (row["success"], row["failure"], row["success_at"], row["failure_below"])
    assert counts == (10, 10, 100, 10)
    assert "10 succeeded (100 or more) and 10 failed (below 10)" in str(result.conclusions[0])


@pytest.mark.parametrize(
    ("faulty", "controls", "verdict"),
    [
        (5, 0, "not checked"),
        (6, 0, "cannot simulate a person"),
        (3, 4, "reacts to replies"),
        (4, 4, "cannot simulate a person"),
        (0, 3, "not checked"),
    ],
)
def test_a_simulator_needs_its_role_and_both_listeners(
    faulty: int, controls: int, verdict: str
) -> None:
    """Ten conversations with a model, some faulty, and both listeners with each persona."""
    rows: list[tuple[str, str, str, float | None]] = [
        ("m", f"p{number}", "loop" if number < faulty else "completed", 50.0)
        for number in range(10)
    ]
    for number in range(controls):
        rows.append((ATTENTIVE, f"p{number}", "completed", 80.0 + number))
        rows.append((COLD, f"p{number}", "completed", 20.0 - number))
    frame = pl.DataFrame(rows, ["respondent", "persona", "outcome", "final"], orient="row")
    frame = frame.with_columns(
        simulator=pl.lit("s"), run=pl.lit(1), scored=pl.col("outcome") == "completed"
    )
    [card] = simulator_cards(frame, confidence=0.95)
    assert card.verdict == verdict


def rated(noise: float) -> tuple[pl.DataFrame, pl.DataFrame]:
    talks = invented()
    random = np.random.default_rng(3)
    ratings = [
        {
            "conversation": str(number),
            "rater": f"r{rater}",
            "rating": float(np.clip(1 + final / 25 + random.normal(0, noise), 1, 5)),
        }
        for number, final in enumerate(talks["final"])
        for rater in range(3)
    ]
    return talks, pl.DataFrame(ratings)


def test_a_simulator_that_follows_people_agrees_with_them() -> None:
    talks, ratings = rated(noise=0.2)
    cards = from_table(talks).with_ratings(ratings, scale=(1, 5)).people
    assert [card.simulator for card in cards] == ["simulator 0", "simulator 1"]
    for card in cards:
        assert (card.verdict, card.raters, card.units) == ("agrees with people", 3, 120)
        assert card.low < card.correlation < card.high
        assert abs(card.bias.estimate) < 3


def test_a_simulator_that_does_not_follow_people_is_said_not_to() -> None:
    talks, ratings = rated(noise=0.2)
    shuffled = ratings.with_columns(rating=pl.col("rating").shuffle(seed=1))
    cards = from_table(talks).with_ratings(shuffled, scale=(1, 5)).people
    assert {card.verdict for card in cards} == {"does not agree with people"}


@pytest.mark.parametrize(
    ("ratings", "problem"),
    [
        (pl.DataFrame({"conversation": ["0"], "rating": [9.0]}), "outside the scale"),
        (pl.DataFrame({"conversation": ["none"], "rating": [3.0]}), "not among"),
        (pl.DataFrame({"conversation": ["0"]}), "'rating' is missing"),
    ],
)
def test_ratings_that_do_not_fit_are_refused(ratings: pl.DataFrame, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        from_table(invented()).with_ratings(ratings, scale=(1, 5))


def test_a_difference_counts_by_its_corrected_p() -> None:
    comparison = next(
        item for item in from_table(invented()).comparisons if item.difference.p < 0.05
    )
    kinds = [comparison_conclusions([replace(comparison, p_holm=p)])[0].kind for p in (0.04, 0.06)]
    assert kinds[0] in ("better", "worse")
    assert kinds[1] == "inconclusive"
