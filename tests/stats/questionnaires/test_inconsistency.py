from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from empathylab.errors import InputError
from empathylab.stats.questionnaires.inconsistency import TEQ_REVERSED, inconsistencies

STEADY = [4 if item not in TEQ_REVERSED else 0 for item in range(1, 17)]


def test_a_steady_rater_contradicts_nothing() -> None:
    assert inconsistencies([STEADY]).counts.tolist() == [0]


def test_an_unempathic_rater_can_be_as_steady() -> None:
    assert inconsistencies([[4 - answer for answer in STEADY]]).counts.tolist() == [0]


def test_who_agrees_with_everything_contradicts_as_much_as_can_be() -> None:
    result = inconsistencies([[4] * 16])
    assert (result.counts.tolist(), result.most_possible) == ([8], 8)
    assert result.share_over_half == 1


def test_one_reversed_answer_on_the_wrong_side_counts_once() -> None:
    answers = list(STEADY)
    answers[1] = 3  # item 2 is reversed
    assert inconsistencies([answers]).counts.tolist() == [1]


def test_the_middle_contradicts_nothing() -> None:
    answers = [2 if item in TEQ_REVERSED else 4 for item in range(1, 17)]
    assert inconsistencies([answers]).counts.tolist() == [0]


def test_shares_by_hand() -> None:
    five_wrong = list(STEADY)
    for item in TEQ_REVERSED[:5]:
        five_wrong[item - 1] = 4
    result = inconsistencies([STEADY, five_wrong, STEADY, [math.nan] * 16])
    assert result.counts.tolist() == [0, 5, 0, -1]
    assert (result.n, result.dropped) == (3, 1)
    assert result.share_without == pytest.approx(2 / 3)
    assert result.share_over_half == pytest.approx(1 / 3)


def test_a_frame_with_gaps_is_taken() -> None:
    frame = pl.DataFrame([STEADY, [None, *STEADY[1:]]], orient="row")
    assert inconsistencies(frame).counts.tolist() == [0, 0]


def test_nobody_has_no_shares() -> None:
    result = inconsistencies(np.empty((0, 16)))
    assert result.n == 0
    assert math.isnan(result.share_without)


def test_an_answer_outside_its_range_is_refused() -> None:
    with pytest.raises(InputError, match="between 0 and 4; got 5"):
        inconsistencies([[5] * 16])


def test_an_item_that_does_not_exist_is_refused() -> None:
    with pytest.raises(InputError, match="between 1 and 16"):
        inconsistencies([STEADY], reversed_items=[17])


def test_a_single_row_without_columns_is_refused() -> None:
    with pytest.raises(InputError, match="a row per rater"):
        inconsistencies(STEADY)


@pytest.mark.shared_data
def test_the_contradictions_of_the_released_raters_stay_what_they_were(shared_data: Path) -> None:
    # Guards this rule's own figures. It was picked among many for lying near the published 60% and
    # 2.3% (of five arms, by a rule unknown here), so it does not confirm those.
    released = pl.read_csv(shared_data / "welivita" / "dataset_and_ratings.csv")
    answers = [
        [2 + value for value in json.loads(row)]
        for arm in ("human", "chatgpt_empathy")
        for row in released.unique(f"annotator_{arm}", maintain_order=True)[f"empathy_arr_{arm}"]
    ]
    result = inconsistencies(answers)
    assert result.n == 400
    assert result.share_without == pytest.approx(0.6025)
    assert result.share_over_half == pytest.approx(0.025)
