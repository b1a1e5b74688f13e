"""A judge alone whose line leads off the scale, and other intervals that rule nothing out."""

from __future__ import annotations

import math

import polars as pl
import pytest

from empathylab.analysis.benchmark.estimates import measure_respondent
from empathylab.analysis.benchmark.frames import REPLIES, ReferenceRatings
from empathylab.analysis.benchmark.measurements import Measurement
from empathylab.analysis.benchmark.prose import rests_on
from empathylab.analysis.benchmark.ranking import Entry, compared
from empathylab.analysis.benchmark.result import measurement_dict
from empathylab.report.benchmark.section import _line
from empathylab.situations.sources.released import Dimension
from empathylab.store.judged_responses import JudgedStudy

NEW = "new/model"
SITUATIONS = 50
GOOD = (15, 18, 21, 25, 28, 31)
"""Of fifty replies of each of six others: 30% to 62%."""
LEANS = (0.002, -0.002, 0.001, -0.001, 0.002, -0.002)


def ground_of(good: tuple[int, ...]) -> ReferenceRatings:
    rows = [
        {
            "response": 1000 * who + number,
            "respondent": f"r{who}",
            "situation": f"s{number}",
            "emotion": None,
            "valence": None,
            "text": "",
            "rater": f"{who}-{number // 5}",
            # Spread over the raters, so that nobody stands out.
            "rating": 3.0 if (number * 7) % SITUATIONS < count else 1.0,
        }
        for who, count in enumerate(good)
        for number in range(SITUATIONS)
    ]
    people = pl.DataFrame(rows, infer_schema_length=None).cast(
        {"emotion": pl.String, "valence": pl.String}
    )
    people = people.with_columns(top=(pl.col("rating") == 3).cast(pl.Float64))
    dimension = Dimension("empathy", (1.0, 2.0, 3.0), ("Bad", "Okay", "Good"))
    return ReferenceRatings(JudgedStudy(1, "s", 1, {}), dimension, "between", people)


def measured(
    level: float,
    good: tuple[int, ...] = GOOD,
    leans: tuple[float, ...] = LEANS,
    slope: float = 0.2,
) -> Measurement:
    """By a judge whose share of Good rises by `slope` with people's, and is `level` for the new."""
    reference = ground_of(good)
    replies = pl.DataFrame(
        {
            "response": [90_000 + number for number in range(SITUATIONS)],
            "respondent": NEW,
            "situation": [f"s{number}" for number in range(SITUATIONS)],
            "emotion": None,
            "valence": None,
            "text": "",
        },
        REPLIES,
    )
    says = {
        f"r{who}": 0.3 + slope * count / SITUATIONS + lean
        for who, (count, lean) in enumerate(zip(good, leans, strict=False))
    } | {NEW: level}
    rows = pl.concat(
        [value.select("response", "respondent") for value in (reference.people, replies)]
    )
    value = pl.col("respondent").replace_strict(says, return_dtype=pl.Float64)
    predicted = rows.select("response", predicted=1 + 2 * value, predicted_top=value)
    return measure_respondent(reference, NEW, replies, predicted, judge="a/judge")


def entry(found: Measurement) -> Entry:
    return Entry(NEW, found, SITUATIONS, None, None, None, None)


def test_where_no_level_of_the_scale_fits_the_whole_scale_is_left() -> None:
    found = measured(0.3 + 0.2 * 1.6)
    head = found.headline
    assert head.transferred is not None
    assert 1 < head.transferred.low < head.transferred.high < math.inf
    assert (head.estimate, head.low, head.high) == (1.0, 0.0, 1.0)
    assert not head.fits
    assert not head.rules_out
    assert "no_consistent_level" in {note.code for note in head.notes}
    said = " ".join(rests_on(found))
    assert "No point of the scale is consistent with the judge's ratings of new/model" in said
    assert "would be beyond the end of the scale" in said
    assert "100% to 100%" not in said
    assert _line(entry(found)).interval == "0.0% to 100.0%"
    assert measurement_dict(found)["estimates"][0]["if_like_the_others"] is None


def test_its_differences_hold_the_difference_of_the_estimates() -> None:
    found = measured(0.3 + 0.2 * 1.6)
    for difference in found.differences:
        assert difference.low <= difference.difference <= difference.high
        assert difference.same_error_low <= difference.difference <= difference.same_error_high
    first = next(difference for difference in found.differences if difference.other == "r0")
    assert first.difference == pytest.approx(1 - 0.3)
    assert first.low < 0


def test_two_whose_line_leads_off_the_scale_are_not_parted_on_a_leaderboard() -> None:
    found = measured(0.3 + 0.2 * 1.6)
    low, high = found.headline.ends(0.9999)
    assert (low, high) == (-math.inf, math.inf)
    pair = compared(entry(found), entry(measured(0.3 + 0.2 * 0.45)), 0.95)
    assert pair.low <= pair.difference <= pair.high
    assert not pair.differs


def test_an_interval_that_only_reaches_over_the_end_keeps_its_other_end() -> None:
    head = measured(0.3 + 0.2 * 0.95).headline
    assert head.fits
    assert 0.6 < head.low < head.estimate < head.high == 1.0


def test_what_holds_is_said_of_an_interval_that_leaves_something_out() -> None:
    said = rests_on(measured(0.3 + 0.2 * 0.45))
    assert any("valid even if new/model is far better or worse" in item for item in said)


def test_two_others_are_not_said_to_lie_below_one_between_them() -> None:
    good, leans = (20, 26), (0.0, 0.0)
    between = measured(0.3 + 0.2 * 0.46, good, leans)
    assert not between.headline.rules_out
    assert not between.headline.beyond
    assert not any("outside their range" in statement for statement in rests_on(between))
    assert any(
        "by this much, and covers the whole scale" in statement for statement in rests_on(between)
    )
    beyond = measured(0.3 + 0.2 * 0.9, good, leans)
    assert any("With two other respondents" in statement for statement in rests_on(beyond))


def test_a_finite_interval_wider_than_the_scale_is_said_to_be_so() -> None:
    leans = (0.026, -0.026, 0.026, -0.026, 0.026, -0.026)
    found = measured(0.3 + 0.4 * 0.47, leans=leans, slope=0.4)
    head = found.headline
    assert head.transferred is not None
    assert head.transferred.rules_out
    assert not head.rules_out
    said = rests_on(found)
    assert any("by this much, and covers the whole scale" in item for item in said)
    assert not any("do not clearly rise" in item for item in said)
