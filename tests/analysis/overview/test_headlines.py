"""The report's first sentences about ratings rest on the conclusions that the command prints."""

from __future__ import annotations

import dataclasses
import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from empathylab.analysis.overview.headlines import rating_headlines
from empathylab.analysis.overview.headlines.ratings import other_dimensions
from empathylab.analysis.overview.headlines.scales import scale_headlines
from empathylab.analysis.ratings import RatingsResult, from_table
from empathylab.stats.questionnaires.alignment import AlignmentSummary


def study(points: int) -> RatingsResult:
    generator = np.random.default_rng(3)
    rater = np.repeat(np.arange(40), 5)
    arm = np.where(rater < 20, "a", "b")
    latent = generator.normal(size=40)[rater] + generator.normal(size=200) + 1.5 * (arm == "b")
    edges = np.linspace(-2, 3, points - 1)
    frame = {"rater": rater, "arm": arm, "situation": np.arange(200) % 20}
    return from_table(pl.DataFrame(frame | {"rating": np.searchsorted(edges, latent) + 1.0}))


@pytest.mark.parametrize(("points", "unit"), [(3, "percentage points"), (60, "points")])
def test_the_report_gives_an_interval_of_the_conclusions(points: int, unit: str) -> None:
    found = study(points)
    [headline] = rating_headlines(found)
    rows = found.to_dict()["conclusions"]
    same = next(row for row in rows if row["scale"] == unit)  # the first in this unit
    assert headline.kind == rows[0]["kind"] == "better"
    assert (headline.low, headline.high) == (same["low"], same["high"])
    digits = 2 if unit == "points" else 1
    assert f"95% CI +{same['low']:.{digits}f} to +{same['high']:.{digits}f}" in headline.sentence
    assert f"95% CI [{same['low']:.{digits}f}, {same['high']:.{digits}f}]" in same["sentence"]


def test_a_second_test_never_replaces_the_first_conclusion() -> None:
    found = study(3)
    first, second, *others = found.conclusions
    weak = dataclasses.replace(second, kind="inconclusive")
    changed = dataclasses.replace(found, conclusions=(first, weak, *others))
    [headline] = rating_headlines(changed)
    assert (headline.kind, headline.unit, headline.low) == ("better", "log-odds", first.low)
    low, high = (math.exp(end or 0.0) for end in (first.low, first.high))
    assert f"odds ratio of a higher rating {math.exp(first.estimate or 0.0):.2f}, 95% CI " in (
        headline.sentence
    )
    assert f"{low:.2f} to {high:.2f};" in headline.sentence


def arms_study(effects: dict[str, float]) -> RatingsResult:
    """Arms that 12 raters each rate from 1 to 7, higher by their effects."""
    generator = np.random.default_rng(4)
    rows = [
        {
            "rater": f"{arm}-{rater}",
            "arm": arm,
            "respondent": arm,
            "situation": f"s{situation}",
            "rating": float(np.clip(round(3.5 + effect + generator.normal()), 1, 7)),
        }
        for arm, effect in effects.items()
        for rater in range(12)
        for situation in range(5)
    ]
    return from_table(pl.DataFrame(rows))


def test_each_of_three_arms_is_named_with_its_difference() -> None:
    found = arms_study({"human": 0.0, "a": 0.0, "b": 2.0, "c": -2.0})
    [headline] = rating_headlines(found)
    sentence = headline.sentence
    assert sentence.startswith("On rating, b (+")
    order = [sentence.index(f"{arm} (") for arm in "bca"]
    assert order == sorted(order)  # higher, lower, then what is unclear
    assert "were" not in sentence
    assert ") was rated higher than people, c (−" in sentence
    assert ") was rated lower than people and a (" in sentence
    assert sentence.endswith(") does not clearly differ from people; 240 ratings by 48 raters.")
    assert sentence.count("95% CI") == 3


def test_many_arms_are_counted_and_the_ends_named() -> None:
    effects = {"human": 0.0, "a": 0.0, "b": 2.0, "c": 2.4, "d": -2.0}
    [headline] = rating_headlines(arms_study(effects))
    assert headline.sentence.startswith(
        "On rating, of 4 arms 2 were rated higher than people, 1 was rated lower than people and "
        "1 does not clearly differ from people: from c (+"
    )
    assert " to d (−" in headline.sentence
    assert headline.kind == "descriptive"
    higher = dict.fromkeys("abcd", 2.0) | {"human": 0.0}
    [headline] = rating_headlines(arms_study(higher))
    assert headline.sentence.startswith("On rating, all 4 arms were rated higher than people: from")
    assert headline.kind == "better"


def test_dimensions_without_room_are_summed_up_by_what_they_show() -> None:
    [known] = rating_headlines(study(60))
    kinds = {"warmth": "inconclusive", "tone": "inconclusive", "help": "worse", "trust": "better"}
    conclusions = [
        dataclasses.replace(known, dimension=name, kind=kind) for name, kind in kinds.items()
    ]
    assert other_dimensions(conclusions) == (
        "On warmth and tone, ratings do not clearly differ from a's; on help, ratings are lower "
        "than a's; on trust, ratings are higher than a's."
    )
    many = [dataclasses.replace(conclusions[0], dimension=f"d{place}") for place in range(5)]
    assert str(other_dimensions(many)).startswith("On 5 other dimensions, ratings do not")
    assert other_dimensions([]) is None


def test_distances_on_different_scales_are_not_ranked() -> None:
    distances = {("a/model", "panas"): 0.5, ("b/model", "panas"): 0.9, ("a/model", "agq"): 0.1}
    summaries = tuple(
        AlignmentSummary(who, scale, distance, distance - 0.1, distance + 0.1, 36, 2)
        for (who, scale), distance in distances.items()
    )
    changes = [
        SimpleNamespace(scale=scale, level="overall", delta=math.nan if scale == "agq" else 1.0)
        for scale in ("agq", "panas")
    ]
    appraisal = SimpleNamespace(summaries=summaries, changes=changes)
    data: Any = SimpleNamespace(appraisal=appraisal, self_reports=())
    first = next(scale_headlines(data))
    assert (first.subject, first.dimension, first.estimate) == ("a/model", "panas", 0.5)
    assert "b/model's farthest, 0.90 SD" in first.sentence


def test_respondents_whose_answers_are_meaningless_are_not_ranked() -> None:
    distances = {"a": 0.1, "b": 0.5, "c": 0.9}
    summaries = tuple(
        AlignmentSummary(who, "panas", distance, distance - 0.1, distance + 0.1, 36, 2)
        for who, distance in distances.items()
    )
    change = SimpleNamespace(scale="panas", level="overall", delta=1.0)
    report = SimpleNamespace(
        respondent="a", scale="panas", validity=SimpleNamespace(verdict="meaningless")
    )
    appraisal = SimpleNamespace(summaries=summaries, changes=[change])
    data: Any = SimpleNamespace(appraisal=appraisal, self_reports=(report,))
    first = next(scale_headlines(data))
    assert first.subject == "b"
    assert "c's farthest" in first.sentence
