"""Mean scores with their intervals, comparisons with a baseline, and gates."""

from __future__ import annotations

import math
from dataclasses import replace

import polars as pl
import pytest

from empathylab.analysis.results import AnalysisResult
from empathylab.analysis.scores import ScoresResult, from_table
from empathylab.analysis.scores.analysis import _comparisons, reply_profiles
from empathylab.analysis.scores.gates import Conditions, Measured, check_gates
from empathylab.errors import InputError
from empathylab.judging.rubric import ScoredReply, judge_acceptance, planted_replies, rubric

NEW = [3.0, 4.0, 5.0, 4.0, 3.0, 4.0]
OLD = [3.0, 4.0, 4.0, 4.0, 4.0, 4.0]


def table(values: list[float], respondent: str = "a/b", safe: float = 5.0) -> pl.DataFrame:
    return pl.DataFrame(
        [
            {
                "respondent": respondent,
                "situation": f"s{number}",
                "response": number,
                "dimension": name,
                "value": safe if name == "safe" else value,
            }
            for number, value in enumerate(values)
            for name in rubric().names
        ]
    )


def fit(result: ScoresResult) -> ScoresResult:
    """With a judge that gives the planted replies the expected scores."""
    scored = [
        ScoredReply(reply.situation, reply.kind, 0, reply.expected)
        for reply in planted_replies().replies
    ]
    return replace(result, acceptance=judge_acceptance(scored), tried=72)


def test_the_result_is_an_analysis_result() -> None:
    assert isinstance(from_table(table(NEW)), AnalysisResult)


def test_the_interval_is_that_of_a_t_test_over_situations() -> None:
    [found] = from_table(table(NEW)).respondents
    score = found.score("empathy")
    assert score is not None
    # scipy.stats.t.interval(0.95, 5, mean, sem) of the same six numbers
    assert score.mean == pytest.approx(23 / 6)
    assert (score.low, score.high) == pytest.approx((3.0433468828, 4.6233197838), abs=1e-9)


def test_two_replies_to_a_situation_do_not_narrow_the_interval() -> None:
    once = table(NEW)
    twice = pl.concat([once, once.with_columns(pl.col("response") + 100)])
    first, second = (from_table(frame).respondents[0] for frame in (once, twice))
    assert (second.n, second.situations) == (12, 6)
    assert second.scores[0].low == pytest.approx(first.scores[0].low)


def test_a_reply_without_every_dimension_is_not_scored() -> None:
    frame = table(NEW).filter(~((pl.col("response") == 0) & (pl.col("dimension") == "care")))
    assert from_table(frame).respondents[0].n == 5


def test_unsafe_replies_are_capped_and_counted() -> None:
    [found] = from_table(table([5.0, 5.0], safe=1.0)).respondents
    assert found.capped == 2
    assert found.scores[0].mean == 2


def test_an_interval_stays_on_the_scale() -> None:
    [found] = from_table(table([5.0, 5.0, 1.0])).respondents
    assert (found.scores[0].low, found.scores[0].high) == (1, 5)


def test_a_table_without_scores_says_what_is_missing() -> None:
    with pytest.raises(InputError, match="Add dimension"):
        from_table(table(NEW).drop("dimension"))


def compared(new: list[float], old: list[float], margin: float) -> ScoresResult:
    both = pl.concat([table(new, "new"), table(old, "old").with_columns(pl.col("response") + 50)])
    frame = both.with_columns(
        run=pl.when(pl.col("respondent") == "new").then(2).otherwise(1), set=pl.lit("d")
    )
    found = fit(from_table(both))
    return replace(
        found,
        respondents=tuple(
            replace(respondent, run=2 if respondent.respondent == "new" else 1)
            for respondent in found.respondents
        ),
        comparisons=_comparisons(reply_profiles(frame), [2], 1, margin),
    )


def test_non_inferiority_is_the_one_sided_paired_t_test() -> None:
    [found] = compared(NEW, OLD, 0.5).comparisons
    # scipy.stats.ttest_1samp(new - old, -0.5, alternative="greater") gives p = 0.0552833454; the
    # lower end is mean - scipy.stats.t.ppf(0.95, 5) * sem
    assert found.difference == pytest.approx(0)
    assert found.low == pytest.approx(-0.5202832528, abs=1e-9)
    assert found.p == pytest.approx(0.0552833454, abs=1e-9)
    assert not found.passed


def test_a_wider_margin_passes() -> None:
    [found] = compared(NEW, OLD, 0.6).comparisons
    assert found.p == pytest.approx(0.0338665089, abs=1e-9)  # the same with -0.6
    assert found.passed


def test_equal_scores_in_every_situation_are_not_worse() -> None:
    [found] = compared(OLD, OLD, 0.1).comparisons
    assert found.passed
    assert math.isnan(found.p)


def test_a_comparison_has_each_dimension_and_the_situations_that_lost_most() -> None:
    [found] = compared(NEW, OLD, 0.5).comparisons
    assert [change.dimension for change in found.dimensions] == ["empathy", *rubric().names]
    care, safe = (
        next(change for change in found.dimensions if change.dimension == name)
        for name in ("care", "safe")
    )
    assert (care.baseline, care.mean, care.difference) == pytest.approx((23 / 6, 23 / 6, 0))
    # scipy.stats.t.interval(0.95, 5, 0, sem) of the six differences 0, 0, 1, 0, -1, 0
    assert (care.low, care.high) == pytest.approx((-0.6637213760, 0.6637213760), abs=1e-9)
    assert (safe.difference, math.isnan(safe.low)) == (0, True)
    [lost] = found.losses
    assert (lost.situation, lost.baseline, lost.score) == ("s4", 4, 3)


def test_only_a_comparison_that_fails_says_what_was_lost() -> None:
    result = compared([1.0, 2.0, 3.0], [3.0, 5.0, 3.0], 0.5)
    [gate] = check_gates(Conditions({}, None, 1, "release", 0.5), MEASURED, {"new": result})
    # the differences are -2, -3 and 0
    assert gate.details.startswith("Run 2 minus run 1, by dimension: feeling −1.67, cause −1.67,")
    assert gate.details.endswith("Largest losses: s1 (5.00 to 2.00), s0 (3.00 to 1.00).")
    [gate] = check_gates(Conditions({}, None, 1, None, 4), MEASURED, {"new": compared(OLD, OLD, 4)})
    assert (gate.passed, gate.details) == (True, "")


MEASURED = [Measured("new", (2,), 40, 38)]


def gates(conditions: Conditions, result: ScoresResult | None) -> list[tuple[bool, float | None]]:
    scores = {} if result is None else {"new": result}
    return [(gate.passed, gate.value) for gate in check_gates(conditions, MEASURED, scores)]


def test_a_mean_passes_at_its_threshold_and_fails_above_it() -> None:
    result = compared([3.0, 4.0], [3.0, 4.0], 0.2)
    assert gates(Conditions({"replies.empathy": 3.5}), result) == [(True, 3.5)]
    assert gates(Conditions({"replies.empathy": 3.51}), result) == [(False, 3.5)]
    assert gates(Conditions({"replies.safe": 5}), result) == [(True, 5)]


def test_replies_that_were_not_scored_fail() -> None:
    conditions = Conditions({"replies.empathy": 1}, baseline=1, no_worse_than=4)
    assert gates(conditions, None) == [(False, None), (False, None)]


def test_scores_of_an_unfit_judge_fail_whatever_they_are() -> None:
    conditions = Conditions({"replies.empathy": 1}, baseline=1, no_worse_than=2)
    for tried in (20, None):  # it failed on the planted replies, or was never asked about them
        result = replace(compared(NEW, OLD, 2), acceptance=None, tried=tried)
        assert [passed for passed, _ in gates(conditions, result)] == [False, False]


def test_unusable_answers_are_a_proportion_of_the_requests() -> None:
    assert gates(Conditions({}, max_unusable=0.05), None) == [(True, pytest.approx(0.05))]
    assert gates(Conditions({}, max_unusable=0.04), None) == [(False, pytest.approx(0.05))]


def test_nothing_usable_fails_without_any_condition() -> None:
    [gate] = check_gates(Conditions({}), [Measured("new", (2,), 40, 0)], {})
    assert not gate.passed
    assert "none of 40 requests" in str(gate)
