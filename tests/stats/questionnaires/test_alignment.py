"""Distance from people, rank agreement and the summary."""

from __future__ import annotations

import math
from typing import Any

import pytest
from scipy import stats

from empathylab.stats.questionnaires.alignment import (
    Distance,
    alignment_summaries,
    distances,
    rank_agreements,
)
from empathylab.stats.questionnaires.appraisal import scale_changes
from tests.stats.appraisal_frames import evoked, frame, person, rest


def people_and_model(model_scores: tuple[float, float]) -> list[dict[str, Any]]:
    rows = person("a", 10, 11, situation="one") + person("b", 10, 13, situation="two")
    low, high = model_scores
    return rows + rest(0, 2) + evoked(low, situation="one") + evoked(high, situation="two")


def distance(name: str, own: float, others: float, *, se: float = 0.0) -> Distance:
    return Distance(
        *("model", "panas", "positive", "factor", "anger", name),
        delta=own,
        people_delta=others,
        distance=own - others,
        low=math.nan,
        high=math.nan,
        se=se,
    )


def test_a_distance_is_in_units_of_peoples_own_spread() -> None:
    found = distances(scale_changes(frame(people_and_model((5, 7)))))[0]
    # The model rises by 5, people by 2; their changes 1 and 3 have an SD of √2.
    assert (found.delta, found.people_delta) == (5, 2)
    assert found.distance == pytest.approx(3 / math.sqrt(2))


def test_the_interval_takes_in_the_errors_of_both_sides() -> None:
    found = distances(scale_changes(frame(people_and_model((5, 7)))))[0]
    # Model: situations 2/2, rest 2/2, so variance 2 with 2 df; people: variance 1 with 1 df.
    se, df = math.sqrt(3), 9 / (4 / 2 + 1 / 1)
    margin = stats.t.ppf(0.975, df) * se / math.sqrt(2)
    assert found.se == pytest.approx(se / math.sqrt(2))
    assert (found.low, found.high) == pytest.approx(
        (found.distance - margin, found.distance + margin)
    )


def test_a_model_that_changes_as_people_do_has_distance_0() -> None:
    assert distances(scale_changes(frame(people_and_model((2, 4)))))[0].distance == 0


def test_without_people_there_is_no_distance() -> None:
    assert distances(scale_changes(frame(rest(1, 2) + evoked(3, 4)))) == []


def test_people_who_all_change_alike_give_no_unit() -> None:
    rows = person("a", 10, 11) + person("b", 10, 11) + rest(1, 2) + evoked(3, 4)
    assert distances(scale_changes(frame(rows))) == []


def test_rank_agreement_is_spearmans() -> None:
    own, others = [1, 3, 2, 5, 4, 4], [10, 20, 40, 50, 30, 60]
    pairs = zip(range(6), own, others, strict=True)
    (found,) = rank_agreements([distance(str(k), a, b) for k, a, b in pairs])
    assert found.rho == pytest.approx(stats.spearmanr(own, others).statistic)
    assert (found.factors, found.low < found.rho < found.high) == (6, True)


def test_the_interval_of_a_rank_correlation_of_0_is_by_hand() -> None:
    others = [1, 2, 3, 4]
    own = [2, 4, 1, 3]
    (found,) = rank_agreements(
        [distance(str(k), a, b) for k, (a, b) in enumerate(zip(own, others, strict=True))]
    )
    assert found.rho == pytest.approx(0)
    assert found.high == pytest.approx(math.tanh(1.959964), abs=1e-5)  # k − 3 = 1


def test_a_constant_side_has_no_rank_agreement() -> None:
    (found,) = rank_agreements([distance(str(k), 1, k) for k in range(5)])
    assert math.isnan(found.rho)


def test_a_change_that_is_not_known_leaves_no_rank_agreement() -> None:
    own = [1, 2, math.nan, 4, 5]
    (found,) = rank_agreements([distance(str(k), own[k], k) for k in range(5)])
    assert math.isnan(found.rho)


def test_three_factors_have_no_interval() -> None:
    (found,) = rank_agreements([distance(str(k), k, k) for k in range(3)])
    assert found.rho == pytest.approx(1)
    assert math.isnan(found.low)


def test_the_summary_is_the_root_mean_square_distance_less_noise() -> None:
    found = alignment_summaries(
        [distance("a", 3, 0, se=1), distance("b", 0, 4, se=2), distance("c", 0, 0, se=0)]
    )
    # (9 − 1 + 16 − 4 + 0) / 3
    assert found[0].distance == pytest.approx(math.sqrt(20 / 3))
    assert found[0].factors == 3


def test_noise_alone_is_no_distance() -> None:
    (found,) = alignment_summaries([distance(str(k), 0.1, 0, se=1) for k in range(4)])
    assert found.distance == 0


def test_two_factors_have_a_summary_without_interval() -> None:
    (found,) = alignment_summaries([distance("a", 1, 0), distance("b", 1, 0)])
    assert found.distance == 1
    assert math.isnan(found.low)


def test_no_distances_give_no_summary() -> None:
    assert alignment_summaries([]) == []
    assert rank_agreements([]) == []
