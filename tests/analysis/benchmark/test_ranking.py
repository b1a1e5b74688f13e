"""The order of respondents, which claims no more than is known."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest
from scipy import stats

from empathylab.analysis.benchmark.estimates import measured_by_people
from empathylab.analysis.benchmark.frames import ReferenceRatings, reference_ratings
from empathylab.analysis.benchmark.measurements import Estimate
from empathylab.analysis.benchmark.ranking import Entry, _Comparing, compared, ranked
from empathylab.situations.sources.released import Dimension
from empathylab.store import Lab
from empathylab.store.judged_responses import JudgedStudy
from tests.judging.measured import STUDY, released_lab


class FixedEnds(NamedTuple):
    """A judge's calibration that gives the same interval at any confidence."""

    ends: tuple[float, float]

    def ends_on(self, _limits: tuple[float, float], _confidence: float) -> tuple[float, float]:
        return self.ends


def by_judge(estimate: Estimate, low: float, high: float) -> Estimate:
    """The estimate as a judge's alone, with that interval."""
    calibration: Any = FixedEnds((low, high))
    return dataclasses.replace(estimate, basis="judge", rows=None, transferred=calibration)


def entries(reference: ReferenceRatings) -> list[Entry]:
    return [
        Entry(name, measured_by_people(reference, name, parts=False), 48, None, None, None, None)
        for name in reference.respondents
    ]


def ground_of(lab: Lab, folder: Path, **good: float) -> ReferenceRatings:
    released_lab(lab, folder, arms=tuple(good), good=good, raters=12)
    return reference_ratings(lab, STUDY)


def test_the_order_is_by_estimate_and_clear_differences_part_ranks(
    sqlite_lab: Lab, tmp_path: Path
) -> None:
    reference = ground_of(sqlite_lab, tmp_path, low=0.05, high=0.95, middle=0.5)
    found = ranked(entries(reference)).entries
    assert [item.respondent for item in found] == ["high", "middle", "low"]
    assert [(item.rank_low, item.rank_high) for item in found] == [(1, 1), (2, 2), (3, 3)]


def test_who_is_not_shown_to_differ_shares_ranks(sqlite_lab: Lab, tmp_path: Path) -> None:
    reference = ground_of(sqlite_lab, tmp_path, one=0.5, two=0.5, worst=0.02)
    found = ranked(entries(reference)).entries
    assert [(item.rank_low, item.rank_high) for item in found] == [(1, 2), (1, 2), (3, 3)]
    assert [item.place for item in found] == [1, 2, 3]


def test_who_has_no_interval_can_have_any_rank(sqlite_lab: Lab, tmp_path: Path) -> None:
    reference = ground_of(sqlite_lab, tmp_path, good=0.9, bad=0.1)
    known = entries(reference)
    head = known[0].measurement.headline
    vague = by_judge(head, math.nan, math.nan)
    unclear = dataclasses.replace(known[0].measurement, estimates=(vague,), respondent="new")
    new = dataclasses.replace(known[0], respondent="new", measurement=unclear)
    by_name = {entry.respondent: entry for entry in ranked([*known, new]).entries}
    assert (by_name["new"].rank_low, by_name["new"].rank_high) == (1, 3)
    assert (by_name["good"].rank_low, by_name["good"].rank_high) == (1, 2)
    assert (by_name["bad"].rank_low, by_name["bad"].rank_high) == (2, 3)


def rated(name: str, ratings: list[float], situations: list[str]) -> Entry:
    """A respondent with one rating for each reply, all by different people."""
    rows = pl.DataFrame(
        {
            "response": [hash((name, situation)) for situation in situations],
            "respondent": name,
            "situation": situations,
            "emotion": None,
            "valence": None,
            "text": "",
            "rater": [f"{name}-{situation}" for situation in situations],
            "rating": ratings,
        }
    ).with_columns(top=(pl.col("rating") == 3).cast(pl.Float64))
    dimension = Dimension("empathy", (1.0, 2.0, 3.0), ("Bad", "Okay", "Good"))
    reference = ReferenceRatings(JudgedStudy(1, "s", 1, {}), dimension, "between", rows)
    found = measured_by_people(reference, name, parts=False)
    mean = tuple(estimate for estimate in found.estimates if estimate.outcome.kind == "mean")
    own = dataclasses.replace(found, estimates=mean)
    return Entry(name, own, len(situations), None, None, None, None)


EASY = [1.0, 1.0, 2.0, 2.0, 2.0, 3.0, 1.0, 2.0, 1.0, 2.0, 2.0, 1.0]
BETTER = [2.0, 1.0, 3.0, 3.0, 2.0, 3.0, 2.0, 3.0, 1.0, 2.0, 3.0, 2.0]
NAMES = [f"s{number}" for number in range(12)]


def test_two_rated_in_the_same_situations_are_compared_pair_by_pair() -> None:
    found = compared(rated("new", BETTER, NAMES), rated("old", EASY, NAMES), 0.95)
    apart = np.array(BETTER) - np.array(EASY)
    assert (found.paired, found.shared) == (True, 12)
    assert found.difference == pytest.approx(apart.mean())
    # By hand: the ends of both means (Wilson, t with 11 degrees of freedom), and the correlation
    # that turns their standard errors into that of the paired difference.
    both = [np.array(BETTER), np.array(EASY)]
    errors = [np.std(item, ddof=1) / math.sqrt(12) for item in both]
    paired = np.std(apart, ddof=1) / math.sqrt(12)
    shared = (errors[0] ** 2 + errors[1] ** 2 - paired**2) / (2 * errors[0] * errors[1])
    assert shared == pytest.approx(np.corrcoef(*both)[0, 1])
    (mean, low, _), (other, _, high) = (wilson(item) for item in both)
    down, up = mean - low, high - other
    expected = mean - other - math.sqrt(down**2 + up**2 - 2 * shared * down * up)
    assert found.low == pytest.approx(expected)


def wilson(ratings: np.ndarray) -> tuple[float, float, float]:
    """A mean on a scale from 1 to 3 with its ends, as worth so many ratings of 0 or 1."""
    share, t = (ratings.mean() - 1) / 2, stats.t.ppf(0.975, 11)
    worth = share * (1 - share) / (np.var(ratings / 2, ddof=1) / 12)
    pull = t**2 / worth
    half = math.sqrt(pull * (share * (1 - share) + pull / 4)) / (1 + pull)
    centre = (share + pull / 2) / (1 + pull)
    return float(ratings.mean()), 1 + 2 * (centre - half), 1 + 2 * (centre + half)


def test_three_pairs_are_compared_at_a_third_of_five_percent() -> None:
    order = [rated(name, BETTER, NAMES) for name in ("a", "b")] + [rated("c", EASY, NAMES)]
    single, joint = (_Comparing.of(order, level).pair(0, 2) for level in (0.95, 1 - 0.05 / 3))
    assert ranked(order).pairs[1] == joint
    assert joint.low < single.low


def test_pairs_tell_apart_what_single_means_do_not() -> None:
    same = compared(rated("new", BETTER, NAMES), rated("old", EASY, NAMES), 0.95)
    others = [f"t{number}" for number in range(12)]
    apart = compared(rated("new", BETTER, NAMES), rated("old", EASY, others), 0.95)
    assert (same.differs, apart.differs) == (True, False)
    assert (apart.paired, apart.shared) == (False, 0)


def test_whom_a_judge_stands_in_for_is_taken_as_independent() -> None:
    upper, lower = rated("new", BETTER, NAMES), rated("old", EASY, NAMES)
    alone = by_judge(upper.estimate, 1.6, 2.9)
    judged = dataclasses.replace(
        upper, measurement=dataclasses.replace(upper.measurement, estimates=(alone,))
    )
    found = compared(judged, lower, 0.95)
    mean, low, high = wilson(np.array(EASY))
    assert (found.paired, found.shared) == (False, 0)
    difference = alone.estimate - mean
    assert found.low == pytest.approx(difference - math.hypot(alone.estimate - 1.6, high - mean))
    assert found.high == pytest.approx(difference + math.hypot(2.9 - alone.estimate, mean - low))


def test_where_the_judge_rules_nothing_out_the_scale_is_the_limit() -> None:
    upper, lower = rated("new", BETTER, NAMES), rated("old", EASY, NAMES)
    alone = by_judge(upper.estimate, -math.inf, math.inf)
    judged = dataclasses.replace(
        upper, measurement=dataclasses.replace(upper.measurement, estimates=(alone,))
    )
    found = compared(judged, lower, 0.95)
    _, low, high = wilson(np.array(EASY))
    assert (found.low, found.high) == pytest.approx((1 - high, 3 - low))


@pytest.mark.slow
def test_equals_are_seldom_parted() -> None:
    """Over 40 studies of four equal respondents, 95% or more should claim no difference at all."""
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
                    "rater": [f"{number}-{index // 8}" for index in range(size)],
                    "situation": [f"s{index}" for index in range(size)],
                    "rating": rng.choice([1.0, 2.0, 3.0], size),
                }
            )
            for number in range(4)
        ]
        people = pl.concat(rows).with_columns(top=(pl.col("rating") == 3).cast(pl.Float64))
        dimension = Dimension("empathy", (1.0, 2.0, 3.0), ("Bad", "Okay", "Good"))
        reference = ReferenceRatings(JudgedStudy(1, "s", 1, {}), dimension, "between", people)
        claims += any(
            entry.rank_high - entry.rank_low < 3 for entry in ranked(entries(reference)).entries
        )
    assert claims <= 5
