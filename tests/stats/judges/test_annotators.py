"""The alternative annotator test."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from empathylab.errors import InputError, UnknownName
from empathylab.stats.corrections import benjamini_yekutieli
from empathylab.stats.judges.annotators import alternative_annotator_test
from empathylab.stats.notes import note


def rated() -> pl.DataFrame:
    """Five people with gaps and a judge with gaps, by arithmetic, on a scale of 0 to 4."""
    rows: list[tuple[int, str, float]] = []
    for i in range(80):
        base = (i * i * 7 + 3 * i) % 5
        for j in range(5):
            if (i + j) % 4:
                value = base + (i * (j + 2) + i // 3 + j) % 3 - 1
                rows.append((i, f"p{j}", min(max(value, 0), 4)))
        if i % 9 != 4:
            value = base + 2 * ((i * 5 + i // 7) % 4 == 0) - (i // 5 % 6 == 0)
            rows.append((i, "judge", min(max(value, 0), 4)))
    return pl.DataFrame(rows, schema=["situation", "rater", "rating"], orient="row")


# From a condensed copy of the function in the authors' notebook alt_test_example.ipynb (github
# nitaytech/AltTest, commit 13eada27), run on `rated()` with ε = 0.2.
AUTHORS = {
    "accuracy": (
        0.7341719077568134,
        [0.07084564774, 0.36685745122, 0.01278086826, 0.08321328910, 0.12562388217],
    ),
    "rmse": (
        0.7228511530398323,
        [0.05245387815, 0.29594355514, 0.05016280404, 0.09256489240, 0.12562388217],
    ),
}


def simulated(noise: float, seed: int, people: int = 6, n: int = 200) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    level = rng.normal(size=n)
    columns = {f"p{j}": level + rng.normal(size=n) for j in range(people)}
    columns["judge"] = level + noise * rng.normal(size=n)
    wide = pl.DataFrame({"situation": np.arange(n)} | columns)
    return wide.unpivot(index="situation", variable_name="rater", value_name="rating")


@pytest.mark.parametrize("score", ["accuracy", "rmse"])
def test_advantage_and_p_values_are_those_of_the_authors_code(score: str) -> None:
    found = alternative_annotator_test(rated(), "judge", score=score, epsilon=0.2)  # type: ignore[arg-type]
    advantage, p_values = AUTHORS[score]
    assert found.advantage == pytest.approx(advantage, abs=1e-12)
    assert [comparison.p for comparison in found.comparisons] == pytest.approx(p_values, abs=1e-10)
    assert found.winning_rate == 0
    assert not found.passes
    assert (found.n, found.dropped, found.left_out) == (71, 9, ())


def test_advantages_by_hand() -> None:
    # Against p0 the others say 2 and 2 throughout: the judge is nearer in s0, as near in s1, and
    # farther in s2.
    wide = pl.DataFrame(
        {
            "situation": ["s0", "s1", "s2"],
            "p0": [1, 2, 2],
            "p1": [2, 2, 2],
            "p2": [2, 2, 2],
            "judge": [2, 2, 5],
        }
    )
    frame = wide.unpivot(index="situation", variable_name="rater", value_name="rating")
    found = alternative_annotator_test(frame, "judge", min_situations=2)
    first = found.comparisons[0]
    assert (first.rater, first.n) == ("p0", 3)
    assert first.advantage == pytest.approx(2 / 3)
    assert first.person_advantage == pytest.approx(2 / 3)
    # Differences −1, 0, 1 against ε = 0.2: t = −0.2·√3; Student's t with 2 degrees of freedom.
    t = -0.2 * math.sqrt(3)
    assert first.p == pytest.approx(0.5 + t / (2 * math.sqrt(2 + t * t)))


def test_a_judge_better_than_people_passes_and_a_poor_one_does_not() -> None:
    good = alternative_annotator_test(simulated(0.3, 1), "judge", epsilon=0.1)
    poor = alternative_annotator_test(simulated(4.0, 1), "judge", epsilon=0.1)
    assert good.passes
    assert good.winning_rate == 1
    assert good.smallest_epsilon == 0
    assert not poor.passes
    assert poor.smallest_epsilon > 0.1


def test_winning_against_half_of_the_people_is_enough() -> None:
    # Scored by p0 the judge is nearer than p1; scored by p1, who scatters, no nearer than p0.
    rng = np.random.default_rng(1)
    level = rng.normal(size=60)
    wide = pl.DataFrame(
        {
            "situation": np.arange(60),
            "p0": level,
            "p1": level + rng.normal(0, 3, 60),
            "judge": level + rng.normal(0, 1, 60),
        }
    )
    frame = wide.unpivot(index="situation", variable_name="rater", value_name="rating")
    found = alternative_annotator_test(frame, "judge", epsilon=0.0)
    assert (found.winning_rate, found.passes) == (0.5, True)


def test_the_smallest_epsilon_is_where_the_verdict_turns() -> None:
    found = alternative_annotator_test(rated(), "judge")
    at = found.smallest_epsilon
    assert alternative_annotator_test(rated(), "judge", epsilon=at + 1e-5).passes
    assert not alternative_annotator_test(rated(), "judge", epsilon=at - 1e-5).passes


def test_the_interval_of_the_advantage_holds_it_and_repeats_with_its_seed() -> None:
    found = alternative_annotator_test(rated(), "judge", seed=3)
    assert found.advantage_low < found.advantage < found.advantage_high
    again = alternative_annotator_test(rated(), "judge", seed=3)
    assert (again.advantage_low, again.advantage_high) == (
        found.advantage_low,
        found.advantage_high,
    )


def test_a_judge_who_equals_everybody_wins_without_a_spread() -> None:
    wide = pl.DataFrame({"situation": range(40), **dict.fromkeys(["a", "b", "c", "j"], [1] * 40)})
    frame = wide.unpivot(index="situation", variable_name="rater", value_name="rating")
    found = alternative_annotator_test(frame, "j", epsilon=0.1)
    assert [comparison.p for comparison in found.comparisons] == [0, 0, 0]
    assert found.passes
    assert not alternative_annotator_test(frame, "j", epsilon=0).passes


def test_people_with_too_few_situations_are_named_and_not_tested() -> None:
    frame = rated().filter((pl.col("rater") != "p1") | (pl.col("situation") < 20))
    found = alternative_annotator_test(frame, "judge")
    assert found.left_out == ("p1",)
    assert len(found.comparisons) == 4


def test_without_anybody_to_test_there_is_no_verdict() -> None:
    found = alternative_annotator_test(rated(), "judge", min_situations=1000)
    assert math.isnan(found.winning_rate)
    assert not found.passes
    assert found.note == note("no_annotator_tested", situations=1000)


def test_two_people_are_tested_with_a_warning() -> None:
    found = alternative_annotator_test(rated(), "judge", people=["p0", "p1"])
    assert found.note == note("two_annotators")


def test_one_person_is_not_enough() -> None:
    with pytest.raises(InputError, match="at least 2 people"):
        alternative_annotator_test(rated(), "judge", people=["p0"])


def test_an_unknown_judge_gets_the_nearest() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'judge'"):
        alternative_annotator_test(rated(), "judgee")


def test_the_judge_is_not_one_of_the_people() -> None:
    with pytest.raises(InputError, match="cannot be among the people"):
        alternative_annotator_test(rated(), "judge", people=["judge", "p0", "p1"])


def test_epsilon_outside_its_range_is_refused() -> None:
    with pytest.raises(InputError, match="ε must be between 0 and 1"):
        alternative_annotator_test(rated(), "judge", epsilon=2)


def test_benjamini_and_yekutieli_are_those_of_r() -> None:
    # R: p.adjust(c(0.01, 0.02, 0.03, 0.5), "BY")
    found = benjamini_yekutieli([0.01, 0.02, 0.03, 0.5])
    assert found == pytest.approx([0.08333333333, 0.08333333333, 0.08333333333, 1.0])
    assert benjamini_yekutieli([]).size == 0


@pytest.mark.slow
def test_a_judge_exactly_as_good_as_people_seldom_passes_at_epsilon_zero() -> None:
    wins = 0
    for seed in range(200):
        found = alternative_annotator_test(
            simulated(1.0, seed, people=4, n=60), "judge", epsilon=0, resamples=0
        )
        wins += found.passes
    assert wins / 200 < 0.05
