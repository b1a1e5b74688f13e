"""The change from rest: the published procedure and what stands next to it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from empathylab.stats.questionnaires.appraisal import ScaleChange, scale_changes
from tests.stats.appraisal_frames import evoked, frame, person, rest


def overall(rows: list[dict[str, Any]], **options: float) -> ScaleChange:
    return next(
        change for change in scale_changes(frame(rows), **options) if change.level == "overall"
    )


def drawn(seed: int, mean: float, sd: float, n: int) -> list[float]:
    return np.random.default_rng(seed).normal(mean, sd, n).tolist()


def test_equal_variances_lead_to_students_test() -> None:
    found = overall(rest(10, 12, 14) + evoked(16, 18, 20))
    assert (found.test, found.delta, found.df) == ("student", 6, 4)
    assert found.statistic == pytest.approx(6 / math.sqrt(8 / 3))
    assert found.p == pytest.approx(0.0213, abs=1e-4)  # t table, 4 degrees of freedom


def test_unequal_variances_lead_to_welchs_test() -> None:
    before, after = drawn(1, 20, 1, 40), drawn(2, 22, 8, 60)
    found = overall(rest(*before) + evoked(*after))
    expected = stats.ttest_ind(after, before, equal_var=False)
    assert found.test == "welch"
    assert found.statistic == pytest.approx(expected.statistic)
    assert found.df == pytest.approx(expected.df)
    assert found.p == pytest.approx(expected.pvalue)


def test_the_f_test_is_two_sided_at_alpha() -> None:
    # Variances 4 and 36, n 5 each: F(4, 4) = 9, two-sided p = .056 (F table: 9.60 at .05).
    rows = rest(-2, -2, 0, 2, 2) + evoked(-6, -6, 0, 6, 6)
    assert overall(rows, alpha=0.05).test == "student"
    assert overall(rows, alpha=0.06).test == "welch"


@pytest.mark.parametrize(("alpha", "direction"), [(0.01, "none"), (0.05, "up")])
def test_the_direction_is_taken_at_alpha(alpha: float, direction: str) -> None:
    assert overall(rest(10, 12, 14) + evoked(16, 18, 20), alpha=alpha).direction == direction


def test_a_fall_is_down() -> None:
    assert overall(rest(10, 12, 14) + evoked(-16, -18, -20)).direction == "down"


def test_an_sd_of_0_is_nudged_so_that_a_constant_change_counts() -> None:
    found = overall(rest(5, 5, 5, 5) + evoked(6, 6, 6, 6, 6, 6))
    assert found.direction == "up"
    assert found.statistic == pytest.approx(1 / (1e-8 * math.sqrt(1 / 4 + 1 / 6)))
    assert math.isnan(found.effect_size)


def test_no_change_and_no_variation_is_no_direction() -> None:
    found = overall(rest(5, 5) + evoked(5, 5))
    assert (found.statistic, found.p, found.direction) == (0, 1, "none")


def test_people_are_paired() -> None:
    rows = person("a", 10, 11) + person("b", 10, 12) + person("c", 12, 15)
    found = overall(rows)
    assert (found.test, found.n, found.df, found.delta) == ("paired", 3, 2, 2)
    assert found.change_sd == pytest.approx(1)
    assert found.statistic == pytest.approx(2 * math.sqrt(3))


def test_people_are_compared_with_their_own_scores_at_rest() -> None:
    rows = person("a", 10, 11) + person("b", 10, 12)
    rows += person("c", 30, 33, emotion="guilt") + person("d", 32, 36, emotion="guilt")
    by_emotion = {
        change.emotion: change for change in scale_changes(frame(rows)) if change.level == "emotion"
    }
    assert by_emotion["anger"].default_mean == 10
    assert by_emotion["guilt"].default_mean == 31


def test_a_person_without_both_scores_is_dropped() -> None:
    rows = person("a", 10, 11) + person("b", 10, 12) + rest(50, subject="c", respondent="human")
    assert overall(rows).default_n == 2


def test_paired_agrees_with_scipy() -> None:
    before, after = drawn(3, 20, 5, 30), drawn(4, 23, 6, 30)
    rows = [row for k in range(30) for row in person(str(k), before[k], after[k])]
    expected = stats.ttest_rel(after, before)
    found = overall(rows)
    assert (found.statistic, found.p) == pytest.approx((expected.statistic, expected.pvalue))


def test_repeats_of_a_situation_count_as_one_cluster() -> None:
    rows = rest(0, 2) + evoked(1, 1, situation="one") + evoked(3, 3, situation="two")
    found = overall(rows)
    # Situations' means 1 and 3: variance of their mean 1; at rest 2/2 = 1.
    assert (found.clusters, found.delta) == (2, 1)
    assert found.cluster_se == pytest.approx(math.sqrt(2))
    assert found.cluster_df == pytest.approx(2)
    assert found.cluster_p == pytest.approx(2 * stats.t.sf(1 / math.sqrt(2), 2))


def test_one_administration_per_situation_makes_the_clustered_test_welchs() -> None:
    before, after = drawn(5, 20, 3, 12), drawn(6, 24, 5, 15)
    rows = rest(*before)
    rows += [row for k, score in enumerate(after) for row in evoked(score, situation=str(k))]
    expected = stats.ttest_ind(after, before, equal_var=False)
    found = overall(rows)
    assert (found.cluster_p, found.cluster_df) == pytest.approx((expected.pvalue, expected.df))


def test_one_situation_has_no_clustered_test() -> None:
    assert math.isnan(overall(rest(1, 2) + evoked(3, 4)).cluster_p)


def test_copies_of_answers_do_not_make_the_clustered_test_surer() -> None:
    rows = rest(*drawn(7, 0, 1, 10))
    once = [row for k in range(6) for row in evoked(float(k), situation=str(k))]
    assert overall(rows + once * 10).cluster_se == pytest.approx(overall(rows + once).cluster_se)


def test_there_is_a_row_for_every_emotion_and_factor() -> None:
    rows = rest(1, 2) + evoked(3, 4) + evoked(5, 6, factor="noise")
    rows += evoked(7, 8, emotion="guilt", factor="plants") + evoked(9, emotion="fear", factor=None)
    found = [
        (change.level, change.emotion, change.factor, change.n)
        for change in scale_changes(frame(rows))
    ]
    assert found == [
        ("overall", None, None, 7),
        ("emotion", "anger", None, 4),
        ("emotion", "guilt", None, 2),
        ("emotion", "fear", None, 1),
        ("factor", "anger", "queues", 2),
        ("factor", "anger", "noise", 2),
        ("factor", "guilt", "plants", 2),
    ]


def test_the_correction_counts_one_subscale_at_one_level() -> None:
    rows = rest(1, 2, 3) + evoked(3, 4, 6) + evoked(2, 3, 5, emotion="guilt")
    rows += [{**row, "subscale": "negative"} for row in rows]
    for change in scale_changes(frame(rows)):
        assert change.family == f"model / panas / {change.subscale} / {change.level}"
        tests = 2 if change.level != "overall" else 1
        assert change.p <= change.p_bh <= change.p_holm <= min(1, tests * change.p) + 1e-12


def test_without_scores_at_rest_there_is_no_test() -> None:
    found = overall(evoked(3, 4))
    assert (found.n, found.default_n, found.test, found.direction) == (2, 0, None, "none")
    assert math.isnan(found.p)
    assert math.isnan(found.p_holm)


def test_one_score_has_a_mean_but_no_test() -> None:
    found = overall(rest(1, 2, 3) + evoked(4))
    assert (found.mean, found.delta, found.test) == (4, 2, None)
    assert math.isnan(found.sd)


def test_missing_scores_are_dropped() -> None:
    rows = rest(1, 2, 3) + evoked(4, 5) + [{**evoked(0)[0], "score": None}, *evoked(math.nan)]
    assert overall(rows).n == 2


def test_no_scores_give_no_rows() -> None:
    assert scale_changes(frame([])) == []


def test_models_and_people_go_together() -> None:
    rows = rest(1, 2) + evoked(3, 4) + person("a", 1, 2) + person("b", 1, 4)
    tests = {change.respondent: change.test for change in scale_changes(frame(rows))}
    assert tests == {"model": "student", "human": "paired"}
