"""The order of respondents, which claims no more than is known."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import polars as pl
import pytest

from empathylab.judging.against import measured_by_people
from empathylab.judging.against_frames import Ground, study_ground
from empathylab.judging.leaderboard import Entry, ranked
from empathylab.store import Lab
from tests.judging.measured import STUDY, released_lab


def entries(ground: Ground) -> list[Entry]:
    return [
        Entry(name, measured_by_people(ground, name, parts=False), 48, None, None, None, None)
        for name in ground.respondents
    ]


def ground_of(lab: Lab, folder: Path, **good: float) -> Ground:
    released_lab(lab, folder, arms=tuple(good), good=good, raters=12)
    return study_ground(lab, STUDY)


def test_the_order_is_by_estimate_and_clear_differences_part_ranks(
    sqlite_lab: Lab, tmp_path: Path
) -> None:
    ground = ground_of(sqlite_lab, tmp_path, low=0.05, high=0.95, middle=0.5)
    found = ranked(ground, entries(ground))
    assert [one.respondent for one in found] == ["high", "middle", "low"]
    assert [(one.rank_low, one.rank_high) for one in found] == [(1, 1), (2, 2), (3, 3)]


def test_who_is_not_shown_to_differ_shares_ranks(sqlite_lab: Lab, tmp_path: Path) -> None:
    ground = ground_of(sqlite_lab, tmp_path, one=0.5, two=0.5, worst=0.02)
    found = ranked(ground, entries(ground))
    assert [(one.rank_low, one.rank_high) for one in found] == [(1, 2), (1, 2), (3, 3)]
    assert [one.place for one in found] == [1, 2, 3]


def test_who_has_no_interval_can_have_any_rank(sqlite_lab: Lab, tmp_path: Path) -> None:
    ground = ground_of(sqlite_lab, tmp_path, good=0.9, bad=0.1)
    known = entries(ground)
    head = known[0].found.headline
    vague = dataclasses.replace(head, basis="judge", half_width=lambda _confidence: float("nan"))
    found = dataclasses.replace(known[0].found, estimates=(vague,), respondent="new")
    new = dataclasses.replace(known[0], respondent="new", found=found)
    by_name = {one.respondent: one for one in ranked(ground, [*known, new])}
    assert (by_name["new"].rank_low, by_name["new"].rank_high) == (1, 3)
    assert (by_name["good"].rank_low, by_name["good"].rank_high) == (1, 2)
    assert (by_name["bad"].rank_low, by_name["bad"].rank_high) == (2, 3)


@pytest.mark.slow
def test_equals_are_seldom_parted() -> None:
    """Over 40 studies of four equal respondents, 95% or more should claim no difference at all."""
    import numpy as np

    from empathylab.situations.released import Dimension
    from empathylab.store.judged_replies import JudgedStudy

    rng = np.random.default_rng(3)
    claims = 0
    for _ in range(40):
        size = 80
        rows = [
            pl.DataFrame(
                {
                    "response": np.arange(size) + 1000 * number,
                    "respondent": f"r{number}",
                    "emotion": None,
                    "valence": None,
                    "text": "",
                    "rater": [f"{number}-{one // 8}" for one in range(size)],
                    "situation": [f"s{one}" for one in range(size)],
                    "rating": rng.choice([1.0, 2.0, 3.0], size),
                }
            )
            for number in range(4)
        ]
        people = pl.concat(rows).with_columns(top=(pl.col("rating") == 3).cast(pl.Float64))
        dimension = Dimension("empathy", (1.0, 2.0, 3.0), ("Bad", "Okay", "Good"))
        ground = Ground(JudgedStudy(1, "s", 1, {}), dimension, "between", people)
        claims += any(one.rank_high - one.rank_low < 3 for one in ranked(ground, entries(ground)))
    assert claims <= 5
