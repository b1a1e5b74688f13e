"""Whether situations of one factor move a respondent alike."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from empathylab.stats.questionnaires.coherence import FactorCoherence, factor_coherence
from tests.stats.appraisal_frames import evoked, frame, person


def situations(table: dict[tuple[str, str], tuple[float, ...]]) -> list[dict[str, Any]]:
    return [
        row
        for (factor, situation), scores in table.items()
        for row in evoked(*scores, factor=factor, situation=situation)
    ]


def coherence(table: dict[tuple[str, str], tuple[float, ...]]) -> FactorCoherence:
    (found,) = factor_coherence(frame(situations(table)))
    return found


def test_variance_components_are_those_of_the_nested_analysis() -> None:
    found = coherence(
        {("f", "a"): (1, 3), ("f", "b"): (5, 7), ("g", "c"): (11, 13), ("g", "d"): (15, 17)}
    )
    # Mean squares 200, 16 and 2: (16 − 2)/2 = 7 and (200 − 16)/4 = 46.
    assert found.residual_variance == pytest.approx(2)
    assert found.situation_variance == pytest.approx(7)
    assert found.factor_variance == pytest.approx(46)
    assert found.coherence == pytest.approx(46 / 53)
    assert (found.factors, found.situations, found.n) == (2, 4, 8)


def test_situations_of_a_factor_that_agree_wholly_give_1() -> None:
    table = {("f", "a"): (1.0,), ("f", "b"): (1.0,), ("g", "c"): (5.0,), ("g", "d"): (5.0,)}
    assert coherence(table).coherence == 1


def test_situations_that_differ_within_factors_only_give_0() -> None:
    table = {("f", "a"): (1.0,), ("f", "b"): (5.0,), ("g", "c"): (1.0,), ("g", "d"): (5.0,)}
    assert coherence(table).coherence == 0


def test_known_components_are_found_again_with_unequal_counts() -> None:
    random = np.random.default_rng(11)
    table: dict[tuple[str, str], tuple[float, ...]] = {}
    for factor in range(150):
        level = random.normal(0, 2)
        for situation in range(random.integers(2, 7)):
            mean = level + random.normal(0, 1)
            scores = mean + random.normal(0, 3, random.integers(3, 12))
            table[str(factor), f"{factor}-{situation}"] = tuple(scores.tolist())
    found = coherence(table)
    assert found.factor_variance == pytest.approx(4, rel=0.25)
    assert found.situation_variance == pytest.approx(1, rel=0.25)
    assert found.residual_variance == pytest.approx(9, rel=0.1)
    assert found.low < 0.8 < found.high


def test_people_count_by_their_change() -> None:
    rows = person("a", 10, 11, factor="f", situation="1") + person("b", 20, 21, factor="f")
    rows += person("c", 10, 15, factor="g", situation="3")
    rows += person("d", 30, 35, factor="g", situation="4")
    (found,) = factor_coherence(frame(rows))
    assert found.coherence == 1


@pytest.mark.parametrize(
    "table",
    [
        {("f", "a"): (1.0, 2.0)},
        {("f", "a"): (1.0,), ("g", "b"): (2.0,)},
        {("f", "a"): (1.0,), ("f", "b"): (1.0,), ("g", "c"): (1.0,), ("g", "d"): (1.0,)},
    ],
    ids=["one factor", "one situation each", "nothing differs"],
)
def test_where_nothing_can_be_said_it_is_nan(
    table: dict[tuple[str, str], tuple[float, ...]],
) -> None:
    assert math.isnan(coherence(table).coherence)


def test_no_scores_give_no_rows() -> None:
    assert factor_coherence(frame([])) == []
