"""The change from baseline where item orders are known."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from empathylab.stats.questionnaires.appraisal import ScaleChange, change_interval, scale_changes
from tests.stats.appraisal_frames import evoked, frame, rest


def overall(rows: list[dict[str, Any]]) -> ScaleChange:
    return scale_changes(frame(rows))[0]


def crossed(baseline: dict[int, float], after: dict[str, dict[int, float]]) -> list[dict[str, Any]]:
    rows = [row for order, score in baseline.items() for row in rest(score, order_index=order)]
    return rows + [
        row
        for situation, scores in after.items()
        for order, score in scores.items()
        for row in evoked(score, situation=situation, order_index=order)
    ]


FOUR = crossed({0: 10.0, 1: 14.0}, {"a": {0: 12.0, 1: 15.0}, "b": {0: 16.0, 1: 17.0}})


def test_shared_orders_are_compared_with_each_other_by_hand() -> None:
    found = overall(FOUR)
    # Differences a: 2, 1; b: 6, 3; mean 3. Situations' sums of residuals −3 and 3: 2·18/16.
    # Orders' sums 2 and −2: 2·8/16. Two orders: at most 2 degrees of freedom.
    assert (found.baseline_orders, found.shared_orders, found.clusters) == (2, 2, 2)
    assert found.cluster_delta == pytest.approx(3)
    assert found.cluster_se**2 == pytest.approx(2.25 + 1.0)
    assert found.cluster_df == pytest.approx(3.25**2 / (2.25**2 + 1.0**2))
    expected = 2 * stats.t.sf(3 / math.sqrt(3.25), found.cluster_df)
    assert found.cluster_p == pytest.approx(expected)


def test_two_orders_give_two_degrees_of_freedom_at_most() -> None:
    situations = {str(k): {0: 12.0 + 9 * k, 1: 15.0 + 9 * k} for k in range(30)}
    assert overall(crossed({0: 10.0, 1: 14.0}, situations)).cluster_df == pytest.approx(2)


def test_identical_repeats_change_nothing_in_the_clustered_test() -> None:
    once, often = overall(FOUR), overall(FOUR * 5)
    for name in ("cluster_delta", "cluster_se", "cluster_df", "cluster_p"):
        assert getattr(often, name) == pytest.approx(getattr(once, name))
    assert often.p < once.p


def test_orders_of_one_occasion_only_leave_the_clustered_estimate() -> None:
    more = FOUR + rest(50, 90, order_index=2)
    assert overall(more).cluster_delta == pytest.approx(3)
    assert overall(more).delta != pytest.approx(3)


def test_one_shared_order_counts_the_variance_between_orders() -> None:
    rows = crossed({0: 10.0, 1: 14.0, 2: 12.0, 3: 8.0}, {"a": {0: 12.0}, "b": {0: 16.0}})
    found = overall(rows)
    # Orders vary by 20/3; one of four orders against their mean: 1 + 1/4 − 2/4.
    assert found.cluster_delta == pytest.approx(found.delta) == pytest.approx(3)
    assert found.cluster_se**2 == pytest.approx(2 * 8 / 4 + 20 / 3 * 0.75)


def test_one_baseline_order_with_equal_answers_is_not_tested() -> None:
    situations = {str(k): {0: 12.0 + k % 3} for k in range(12)}
    found = overall(crossed({0: 10.0}, situations) * 5)
    assert (found.baseline_orders, found.p < 0.001) == (1, True)
    assert math.isnan(found.cluster_p)
    assert change_interval(found) is None


def test_one_order_with_varying_repeats_is_welchs_test_over_situations() -> None:
    generator = np.random.default_rng(3)
    before, after = generator.normal(10, 1, 8), generator.normal(11, 2, 9)
    rows = rest(*before, order_index=0)
    for number, score in enumerate(after):
        rows += evoked(score, situation=str(number), order_index=0)
    expected = stats.ttest_ind(after, before, equal_var=False)
    assert overall(rows).cluster_p == pytest.approx(expected.pvalue)


def test_another_order_after_situations_than_at_baseline_is_not_tested() -> None:
    rows = rest(10, 11, 12, order_index=0)
    rows += evoked(15, situation="a", order_index=1) + evoked(16, situation="b", order_index=1)
    assert math.isnan(overall(rows).cluster_p)


def test_clustered_p_values_are_corrected_within_their_family() -> None:
    rows = FOUR + [{**row, "emotion": "guilt"} for row in FOUR if row["phase"] == "evoked"]
    emotions = [change for change in scale_changes(frame(rows)) if change.level == "emotion"]
    assert [emotion.cluster_p_holm for emotion in emotions] == pytest.approx(
        [min(1.0, 2 * emotion.cluster_p) for emotion in emotions]
    )
    assert [emotion.cluster_p_bh for emotion in emotions] == pytest.approx(
        [emotion.cluster_p for emotion in emotions]
    )


def test_the_clustered_interval_of_the_effect_is_wider_than_the_plain_one() -> None:
    found = overall(FOUR * 5)
    assert found.cluster_effect_high - found.cluster_effect_low > (
        found.effect_high - found.effect_low
    )


def test_a_model_that_nothing_moves_is_seldom_found_to_change() -> None:
    generator = np.random.default_rng(11)
    frames = []
    for number in range(200):
        common = generator.normal(0, 1, 4)
        base = common + generator.normal(0, 1, 4)
        after = common + generator.normal(0, 1, (20, 1)) + generator.normal(0, 1, (20, 4))
        rows = crossed(
            dict(enumerate(base)),
            {str(k): dict(enumerate(scores)) for k, scores in enumerate(after)},
        )
        frames += [{**row, "respondent": str(number)} for row in rows * 3]
    changes = [change for change in scale_changes(frame(frames)) if change.level == "overall"]
    now = np.mean([change.cluster_p < 0.05 for change in changes])
    unknown = frame(frames).with_columns(order_index=pl.lit(None, dtype=pl.Int64))
    before = np.mean([c.cluster_p < 0.05 for c in scale_changes(unknown) if c.level == "overall"])
    assert now < 0.1 < before
