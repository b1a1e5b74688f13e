"""Whatever small table comes: a card that can be told and drawn, or one clear refusal."""

from __future__ import annotations

import json

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from empathylab.analysis.judges.analysis import analyse_judged
from empathylab.analysis.judges.calibration import CalibrationPlan
from empathylab.analysis.judges.frames import judged_from_table
from empathylab.errors import UserError
from empathylab.report.judges.section import judges_section

_NAMES = st.sampled_from(["a", "b", "c"])
_VALUES = st.one_of(
    st.integers(1, 5).map(float), st.integers(1, 5).map(float), st.floats(-1e9, 1e9), st.none()
)
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "situation": st.sampled_from(["s1", "s2", "s3"]),
            "respondent": st.sampled_from(["gpt/one", "human", None]),
            "rater": st.sampled_from(["p1", "p2", "p3", "gpt/judge", "gpt/judge"]),
            "dimension": st.sampled_from(["warmth", "warmth", "clarity", None]),
            "rating": _VALUES,
            "words": st.one_of(st.none(), st.integers(0, 300).map(float)),
            "emotion": st.sampled_from(["sad", "proud", None]),
            "valence": st.sampled_from(["positive", "negative", None]),
            "turned": st.sampled_from([True, False, None]),
            "first": _NAMES,
            "second": _NAMES,
            "outcome": st.sampled_from([*[None] * 5, "first", "second", "tie"]),
        }
    ),
    min_size=4,
    max_size=40,
)


@pytest.mark.slow
@settings(max_examples=40)
@given(rows=ROWS)
def test_any_table_gives_cards_or_one_refusal(rows: list[dict[str, object]]) -> None:
    for row in rows:
        row["rater_kind"] = "model" if row["rater"] == "gpt/judge" else "person"
    frame = pl.DataFrame(rows, infer_schema_length=None).with_columns(
        pl.col("rating", "words").cast(pl.Float64), pl.col("turned").cast(pl.Boolean)
    )
    # A person who rates a response twice is refused, which would leave few tables.
    once = frame.filter(rater_kind="person").unique(
        ["situation", "respondent", "rater", "dimension"], maintain_order=True
    )
    frame = pl.concat([once, frame.filter(rater_kind="model")])
    try:
        judged = judged_from_table(frame, where="made up")
        analysis = analyse_judged(judged, plan=CalibrationPlan(resamples=20))
    except UserError:
        return
    assert analysis.cards
    json.dumps(analysis.to_dict(), allow_nan=False)
    drawn = [figure.spec for figure in judges_section([analysis], ()).figures()]
    json.dumps(drawn, allow_nan=False)
