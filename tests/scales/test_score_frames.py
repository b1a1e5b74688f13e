"""Scoring many administrations at once agrees with scoring one."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from empathylab.scales import builtin_scales, score
from empathylab.scales.score_frames import score_frame

SCALES = builtin_scales()


def answers(values: dict[int, float]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "administration": [1] * len(values),
            "scale_row": [7] * len(values),
            "item": list(values),
            "value": [float(value) for value in values.values()],
        }
    )


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(sorted(SCALES)), st.data())
def test_a_frame_is_scored_like_a_single_administration(name: str, data: st.DataObject) -> None:
    scale = SCALES[name]
    value = st.floats(scale.minimum, scale.maximum)
    values = {item: data.draw(value) for item in range(1, scale.items + 1)}
    found = dict(score_frame(answers(values), {7: scale}).select("subscale", "score").iter_rows())
    expected = {item.subscale: item.value for item in score(scale, values)}
    assert found == pytest.approx(expected)


def test_a_subscale_that_lacks_an_answer_has_no_score() -> None:
    values = dict.fromkeys(range(2, 21), 3.0)  # item 1 of the PANAS is a positive one
    found = score_frame(answers(values), {7: SCALES["panas"]})
    assert found["subscale"].to_list() == ["negative"]


def test_no_answers_give_no_scores() -> None:
    empty = answers({}).cast({"administration": pl.Int64, "scale_row": pl.Int64, "item": pl.Int64})
    assert score_frame(empty, {7: SCALES["panas"]}).is_empty()
