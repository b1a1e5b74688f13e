"""Replies and ratings on two occasions, compared on the same situations."""

from __future__ import annotations

import dataclasses
import json
import math

import polars as pl

from empathylab.analysis.drift.occasions import Occasion, occasion_of_tables
from empathylab.analysis.drift.replies import feature_shifts, usable_shifts

TEXTS = ["I am so sorry.", "That is hard!", "Oh no, and then?", "I see how you feel.", "Well done!"]


def occasion(situations: range, title: str, template: str | None = None) -> Occasion:
    frame = pl.DataFrame(
        {
            "respondent": "model",
            "situation": [f"s{number}" for number in situations],
            "text": [TEXTS[number % 5] for number in situations],
        }
    )
    made = occasion_of_tables(frame, title)
    if template is None:
        return made
    runs = pl.DataFrame(
        [("model", "respond", json.dumps({"template": template}), "", "")],
        schema=made.runs.schema,
        orient="row",
    )
    return dataclasses.replace(made, runs=runs)


def test_only_situations_of_both_occasions_are_compared() -> None:
    [found], problems = usable_shifts(
        occasion(range(12), "one"), occasion(range(4, 15), "two"), confidence=0.95
    )
    assert (found.n_before, found.n_after) == (8, 8)
    assert problems == [("model, replies", "7 situations were replied to on one occasion only")]


def test_the_same_replies_to_shared_situations_show_no_change_of_style() -> None:
    shifts = feature_shifts(
        occasion(range(12), "one"), occasion(range(4, 15), "two"), confidence=0.95
    )
    assert shifts
    known = [shift.difference for shift in shifts]
    assert {value for value in known if not math.isnan(value)} == {0.0}


def test_without_shared_situations_nothing_is_compared() -> None:
    found, problems = usable_shifts(
        occasion(range(5), "one"), occasion(range(5, 9), "two"), confidence=0.95
    )
    assert found == []
    assert problems == [("model, replies", "no situation was replied to on both occasions")]


def test_another_template_is_not_compared() -> None:
    sides = occasion(range(9), "one", "a"), occasion(range(9), "two", "b")
    found, problems = usable_shifts(*sides, confidence=0.95)
    assert (found, feature_shifts(*sides, confidence=0.95)) == ([], [])
    assert problems == [("model, replies", "they were asked for with another template")]
    same = occasion(range(9), "one", "a"), occasion(range(9), "two", "a")
    assert len(usable_shifts(*same, confidence=0.95)[0]) == 1
