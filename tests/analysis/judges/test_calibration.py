"""Judges' cards: agreement, the test, biases, and what they say."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from empathylab.analysis.judges.analysis import analyse_judged
from empathylab.analysis.judges.calibration import CalibrationPlan, calibrate
from empathylab.analysis.judges.cards import JudgeCard
from empathylab.analysis.judges.families import family, own_respondents
from empathylab.analysis.judges.frames import judged_from_table
from empathylab.analysis.judges.prose import good_for, limits, not_for, reasons, verdict
from empathylab.errors import InputError, UnknownName
from empathylab.stats.estimates import Estimate
from tests.judging.judged_examples import JUDGE, Replies, panel_of_experts, table

QUICK = CalibrationPlan(resamples=0)
EXPERTS = CalibrationPlan(people_are="experts", resamples=0)


def one_card(frame: pl.DataFrame, plan: CalibrationPlan = QUICK) -> JudgeCard:
    [card] = calibrate(judged_from_table(frame, where="made up"), plan)
    return card


def found(card: JudgeCard) -> set[str]:
    return {value.name for value in (*card.biases, *card.emotions) if value.found}


def person_like(quality: np.ndarray) -> np.ndarray:
    return np.asarray(quality + np.random.default_rng(9).normal(0, 0.3, len(quality)))


def test_a_judge_like_the_people_may_stand_in_for_them() -> None:
    card = one_card(panel_of_experts(1, person_like), EXPERTS)
    assert verdict(card) == "can replace human raters here at ε = 0.2"
    assert card.alt_test is not None
    assert card.alt_test.passes
    assert good_for(card)[0].startswith("rating, for replies like these (60 responses")
    assert not any("replacing human raters" in item for item in not_for(card))


def test_what_an_interval_does_not_show_keeps_a_judge_from_replacing_people() -> None:
    card = one_card(panel_of_experts(1, person_like), EXPERTS)
    assert card.decision == "may"
    unsure = replace(card, spearman=replace(card.spearman, low=-0.01))
    assert (unsure.shortfall, unsure.decision) == ("association", "not")
    near = replace(card, constant_passes=True, over_constant=Estimate(0.3, -0.01, 0.6))
    assert (near.shortfall, near.decision) == ("constant", "not")


def test_a_judge_that_goes_by_nothing_may_not() -> None:
    noise = np.random.default_rng(4).uniform(1, 5, 60)
    card = one_card(panel_of_experts(1, lambda _: noise), EXPERTS)
    assert card.decision == "not"
    assert verdict(card) == "not shown: it fails the alternative annotator test at ε = 0.2"
    assert any("replacing human raters" in item for item in not_for(card))
    assert "It would pass at ε" in reasons(card)[0]


def test_a_judge_that_always_says_the_same_may_not_even_where_it_passes_the_test() -> None:
    # People scatter around 3, so that 3 is nearer to the others than any one of them.
    rng = np.random.default_rng(2)
    rows = [
        {"situation": f"s{number}", "rater": rater, "rater_kind": kind, "rating": float(value)}
        for number in range(60)
        for rater, kind, value in (
            *((f"p{k}", "person", rng.choice([2, 3, 4])) for k in range(3)),
            ("judge", "model", 3),
        )
    ]
    card = one_card(pl.DataFrame(rows), EXPERTS)
    assert card.alt_test is not None
    assert card.alt_test.passes
    assert card.constant_passes
    assert card.decision == "not"
    assert "not shown to rise with people's" in verdict(card)
    assert "passing alone says little" in reasons(card)[0]


def scattered(judge: Callable[[float, str], float], **levels: float) -> pl.DataFrame:
    """Four people who scatter widely around replies of so good respondents, and a judge."""
    rng = np.random.default_rng(1)
    rows = []
    for number in range(120):
        for respondent, level in levels.items():
            quality = level + rng.normal(0, 0.5)
            said = {f"p{k}": quality + rng.normal(0, 1) for k in range(4)}
            said["judge"] = judge(quality, respondent)
            rows += [
                {
                    "situation": f"s{number}",
                    "respondent": respondent,
                    "rater": rater,
                    "rater_kind": "model" if rater == "judge" else "person",
                    "rating": float(np.clip(np.rint(value), 1, 5)),
                }
                for rater, value in said.items()
            ]
    return pl.DataFrame(rows)


def test_a_judge_that_says_nearly_always_the_same_may_not_though_it_follows_people() -> None:
    card = one_card(scattered(lambda quality, _: 4 if quality > 4.2 else 3, one=3.3))
    assert card.alt_test is not None
    assert card.alt_test.passes
    assert card.constant_passes
    assert card.follows_people
    assert card.decision == "not"
    assert "not shown to predict" in verdict(card)
    assert not good_for(card)


def test_a_judge_that_knows_something_must_be_nearer_to_people_than_a_constant() -> None:
    # It follows people, but on a level of its own, where the constant is nearer to them.
    card = one_card(scattered(lambda quality, _: quality - 0.8, one=3.0))
    assert card.constant_passes
    assert card.predicts
    assert card.over_constant is not None
    assert card.over_constant.low <= 0
    passing = replace(card, alt_test=replace(card.alt_test, passes=True))  # type: ignore[type-var]
    assert passing.decision == "not"
    assert "always gives their most common rating" in verdict(passing)


def test_a_judge_that_only_knows_who_wrote_is_not_for_replies_of_one_respondent() -> None:
    limit = "comparing replies of one respondent"
    tells_who = one_card(scattered(lambda _, who: 4 if who == "one" else 3, one=4.0, two=2.6))
    assert verdict(tells_who) == f"can replace human raters here at ε = 0.1, but not for {limit}"
    assert limit in not_for(tells_who)
    knows = one_card(scattered(lambda quality, _: quality, one=4.0, two=2.6))
    assert verdict(knows) == "can replace human raters here at ε = 0.1"
    assert 0 < knows.spearman_within_low < knows.spearman_within


def test_epsilon_goes_by_who_the_people_are_unless_it_is_given() -> None:
    frame = panel_of_experts(1, person_like)
    by = {who: CalibrationPlan(people_are=who).chosen_epsilon for who in ("experts", "crowd")}
    assert by == {"experts": 0.2, "crowd": 0.1}
    assert CalibrationPlan(people_are="skilled").chosen_epsilon == 0.15
    assert one_card(frame, CalibrationPlan(epsilon=0.33, resamples=0)).epsilon == 0.33
    with pytest.raises(InputError, match="between 0 and 1"):
        one_card(frame, CalibrationPlan(epsilon=1.5))


def test_with_few_shared_responses_it_cannot_tell() -> None:
    card = one_card(panel_of_experts(1, person_like, replies=20), EXPERTS)
    assert verdict(card) == (
        "cannot tell: n too small: nobody shares 30 responses with the judge and another person"
    )


def test_with_one_person_for_each_response_it_cannot_tell() -> None:
    replies = Replies(1)
    card = one_card(table(replies.people(per_reply=1), replies.judge()))
    assert card.alt_test is None
    assert verdict(card).startswith("cannot tell: only one person rated each response")


def test_agreement_is_with_the_median_of_people() -> None:
    rows = [
        (f"s{number}", rater, "person" if rater[0] == "p" else "model", value)
        for number, values in enumerate([(1, 2, 5, 2), (4, 4, 1, 4), (3, 5, 5, 5), (1, 1, 2, 1)])
        for rater, value in zip(("p1", "p2", "p3", "judge"), values, strict=True)
    ]
    frame = pl.DataFrame(rows, schema=["situation", "rater", "rater_kind", "rating"], orient="row")
    card = one_card(frame)
    assert card.weighted_kappa.estimate == 1
    assert card.spearman.estimate == 1
    assert (card.n, card.n_ratings, card.n_people, card.n_situations) == (4, 12, 3, 4)


def test_repeats_count_once_and_show_how_steady_the_judge_is() -> None:
    frame = panel_of_experts(1, person_like)
    judge = frame.filter(rater="judge")
    shaken = judge.with_columns(rating=pl.col("rating") % 5 + 1)
    steady = one_card(table(frame, judge, judge), EXPERTS)
    once = one_card(frame, EXPERTS)
    assert once.stability is None
    assert steady.stability is not None
    assert (steady.stability.same, steady.stability.sd, steady.stability.repeats) == (1, 0, 3)
    assert steady.weighted_kappa == once.weighted_kappa
    wild = one_card(table(frame, shaken), EXPERTS).stability
    assert wild is not None
    assert wild.same == 0
    assert wild.alpha.estimate < 0.3


def test_a_judge_that_favours_long_replies_is_caught() -> None:
    replies = Replies(11)
    card = one_card(table(replies.people(), replies.judge(length=0.7), replies.pairs()))
    assert found(card) == {"length"}
    bias = card.bias("length")
    assert bias is not None
    # Its family writes at length, which is no second bias.
    kin = card.bias("self_preference")
    assert kin is not None
    assert kin.note == "adjusted for its preference for length"
    assert bias.low < 0.7 < bias.high + 0.2  # the scale's ends take some of it
    assert "comparing replies of different length" in limits(card)
    assert any("It favours long replies" in reason for reason in reasons(card))


def test_a_judge_that_favours_its_own_family_is_caught() -> None:
    replies = Replies(12)
    card = one_card(table(replies.people(), replies.judge(own=0.9), replies.pairs()))
    assert found(card) == {"self_preference"}
    bias = card.bias("self_preference")
    assert bias is not None
    assert bias.about == "kin/writer"
    assert bias.estimate == pytest.approx(0.9, abs=0.3)


def test_a_judge_that_answers_by_position_is_caught() -> None:
    replies = Replies(13)
    card = one_card(table(replies.people(), replies.judge(), replies.pairs(first=2.0)))
    assert found(card) == {"position"}
    assert card.same_over_orders < 0.7
    always = replies.pairs().with_columns(outcome=pl.lit("first"))
    always_first = one_card(table(replies.people(), replies.judge(), always))
    assert always_first.same_over_orders == 0
    bias = always_first.bias("position")
    assert bias is not None
    assert bias.estimate == 0.5


def test_a_judge_that_leans_to_the_end_of_the_scale_shown_first_is_caught() -> None:
    replies = Replies(14)
    judge = replies.judge()
    up = judge.with_columns(turned=pl.lit(1), rating=(pl.col("rating") + 1).clip(1, 5))
    down = judge.with_columns(turned=pl.lit(0), rating=(pl.col("rating") - 1).clip(1, 5))
    assert found(one_card(table(replies.people(), up, down))) == {"scale_order"}


def test_a_judge_that_rates_sad_situations_down_is_caught() -> None:
    replies = Replies(15, situations=100)
    harsh = replies.judge().with_columns(
        rating=pl.col("rating") - (pl.col("emotion") == "sad").cast(pl.Float64)
    )
    card = one_card(table(replies.people(), harsh))
    [odd] = [emotion for emotion in card.emotions if emotion.about == "sad"]
    assert odd.found
    assert odd.estimate == pytest.approx(-1, abs=0.4)


@pytest.mark.slow
def test_a_judge_without_bias_is_rarely_accused() -> None:
    # Four tests on each judge, corrected so that 5% of judges should be accused of anything; over
    # 400 seeds, these among them, it was 7%.
    alarms = 0
    for seed in range(60):
        replies = Replies(seed)
        card = one_card(table(replies.people(), replies.judge(), replies.pairs()))
        alarms += any(bias.found for bias in card.biases)
    assert alarms <= 7


@pytest.mark.slow
@pytest.mark.parametrize(("per_reply", "scale"), [(2, 0.5), (2, 1.0), (2, 1.4), (1, 0.5), (1, 1.0)])
def test_a_judge_that_only_narrows_or_widens_the_scale_is_rarely_accused(
    per_reply: int, scale: float
) -> None:
    # Its own family is better, as people find too.
    alarms = 0
    for seed in range(30):
        replies = Replies(seed, better=0.8)
        judge = replies.judge(scale=scale, scatter=0.4)
        card = one_card(table(replies.people(per_reply=per_reply), judge))
        alarms += any(bias.found for bias in card.biases)
    assert alarms <= 4


def test_what_could_not_be_looked_at_is_said() -> None:
    card = one_card(panel_of_experts(1, person_like))
    assert all(math.isnan(bias.p) and bias.note and not bias.found for bias in card.biases)
    [said] = [reason for reason in reasons(card) if reason.startswith("Not tested")]
    assert "who wrote the replies is not known" in said


def test_a_panel_is_all_judges_together() -> None:
    replies = Replies(3)
    frame = table(replies.people(), replies.judge("one"), replies.judge("two"))
    analysis = analyse_judged(judged_from_table(frame, where="made up"), panel=True, style=False)
    one, two, panel = analysis.cards
    assert panel.judge == "panel"
    # Two that scatter apart are nearer to people together.
    assert panel.spearman.estimate > max(one.spearman.estimate, two.spearman.estimate)
    alone = judged_from_table(frame.filter(pl.col("rater") != "two"), where="made up")
    with pytest.raises(InputError, match="two judges"):
        analyse_judged(alone, panel=True)


def test_a_panel_with_a_judge_of_a_respondents_family_says_so() -> None:
    replies = Replies(4)
    frame = table(replies.people(), replies.judge(own=1.5), replies.judge("other/judge", own=1.5))
    analysis = analyse_judged(
        judged_from_table(frame, where="t.csv"), plan=QUICK, style=False, panel=True
    )
    card = next(card for card in analysis.cards if card.judge == "panel")
    assert card.members == (JUDGE, "other/judge")
    assert card.own_families == ((JUDGE, ("kin/writer",)),)
    assert any(
        "kin/judge is kin/writer itself or of the same family" in reason for reason in reasons(card)
    )
    bias = card.bias("self_preference")
    assert bias is not None
    assert (bias.about, bias.found) == ("kin/writer", True)
    assert "comparing its own family with others" in limits(card)
    assert analysis.to_dict()["judges"][-1]["panel"] == {
        "members": [JUDGE, "other/judge"],
        "own_family": {JUDGE: ["kin/writer"]},
    }


def test_choices_are_held_against_what_people_rated_higher() -> None:
    # Of two situations people rate the rival's reply higher, of one the human's.
    rated = {"s1": (5.0, 2.0), "s2": (4.0, 3.0), "s3": (1.0, 4.0)}
    rows = [
        {"situation": key, "respondent": who, "rater": "ann", "rater_kind": "person", "rating": one}
        for key, both in rated.items()
        for who, one in zip(("rival", "human"), both, strict=True)
    ]
    chosen = [
        {"situation": key, "rater": JUDGE, "rater_kind": "model"}
        | {"first": first, "second": second, "outcome": outcome}
        for key, first, second, outcome in (
            ("s1", "rival", "human", "first"),
            ("s1", "human", "rival", "second"),
            ("s2", "rival", "human", "first"),
            ("s2", "human", "rival", "first"),
            ("s3", "rival", "human", "tie"),
            ("s3", "human", "rival", "first"),
        )
    ]
    frame = pl.DataFrame([*rows, *chosen], infer_schema_length=None)
    analysis = analyse_judged(judged_from_table(frame, where="t.csv"), plan=QUICK, style=False)
    found = analysis.cards[0].preferences
    assert found is not None
    # By hand: right, right, right, wrong, a tie, right.
    assert (found.choices.share, found.choices.n, found.ties) == (pytest.approx(4 / 5), 5, 1)
    # Of s3 only one reply was ever preferred: a tie is no change of mind.
    assert (found.consistent.share, found.consistent.n, found.inconsistent) == (1.0, 1, 1)
    told = analysis.to_dict()["judges"][0]["preferences"]
    assert told["choices"]["agree"] == pytest.approx(4 / 5)
    assert (told["choices"]["n"], told["consistent"]["n"], told["ties"]) == (5, 1, 1)
    assert any(
        "it prefers the one they rate higher in 80%" in reason
        for reason in reasons(analysis.cards[0])
    )


def test_a_judge_that_chose_nothing_has_no_agreement_of_choices() -> None:
    replies = Replies(4)
    card = one_card(table(replies.people(), replies.judge()))
    assert card.preferences is None


def test_degrees_have_no_confusion_table_but_a_curve() -> None:
    frame = panel_of_experts(1, person_like)
    rng = np.random.default_rng(0)
    degrees = frame.with_columns(rating=pl.col("rating") * 20 - rng.uniform(0, 9, len(frame)))
    card = one_card(degrees, EXPERTS)
    assert card.confusion is None
    assert card.curve is not None
    assert len(card.curve.points) == 10


def test_a_judge_that_only_compared_has_a_card_that_says_so() -> None:
    replies = Replies(5)
    card = one_card(table(replies.people(), replies.pairs(first=2.0)))
    assert card.n == 0
    assert verdict(card) == "cannot tell: it compared replies, and rated none that people rated"
    assert found(card) == {"position"}


def test_a_judge_and_people_who_rated_different_responses_cannot_be_compared() -> None:
    frame = panel_of_experts(1, person_like)
    apart = frame.with_columns(
        situation=pl.when(pl.col("rater") == "judge")
        .then(pl.col("situation") + "x")
        .otherwise("situation")
    )
    with pytest.raises(InputError, match="no response was rated by both"):
        one_card(apart)


def test_only_the_named_people_count() -> None:
    judged = judged_from_table(panel_of_experts(1, person_like), where="made up")
    [card] = calibrate(judged.by(["expert1", "expert2"]), EXPERTS)
    assert card.n_people == 2
    with pytest.raises(UnknownName, match="expert3"):
        judged.by(["expert9"])


@pytest.mark.parametrize(
    ("name", "kin"),
    [
        ("openai/gpt-4o-mini", "gpt"),
        ("chatgpt_empathy", "gpt"),
        ("openrouter/anthropic/claude-3", "claude"),
        ("groq/llama-3-70b", "llama"),
        ("Mixtral-8x7B-Instruct", "mistral"),
        ("local/smollm2", "smollm"),
        ("acme/one", "acme"),
        ("scripted/judge", ""),
        ("scripted/models_here:warm", ""),
        ("local/my-tuned-one", ""),
        ("openrouter/acme/one", "acme"),
        ("model-a", ""),
    ],
)
def test_a_family_is_told_by_the_name(name: str, kin: str) -> None:
    assert family(name) == kin


def test_a_judge_is_its_own_kin_and_people_are_nobodys() -> None:
    names = ["human", "model-a", "model-b", "openai/gpt-4"]
    assert own_respondents("model-a", names) == ("model-a",)
    assert own_respondents("openai/gpt-4o", names) == ("openai/gpt-4",)
    assert own_respondents("human-judge", names) == ()


def test_unknown_models_behind_one_host_are_no_kin_but_the_same_model_is() -> None:
    names = ["ollama/my-first", "ollama/my-second", "vllm/my-judge"]
    assert own_respondents("ollama/my-judge", names) == ("vllm/my-judge",)


def test_a_family_of_the_users_own_takes_its_place() -> None:
    replies = Replies(6)
    frame = table(replies.people(), replies.judge())
    plan = CalibrationPlan(resamples=0, families={JUDGE: ["rival/writer"]})
    bias = one_card(frame, plan).bias("self_preference")
    assert bias is not None
    assert bias.about == "rival/writer"
