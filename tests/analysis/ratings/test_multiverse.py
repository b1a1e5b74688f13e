"""The comparison under every reasonable choice."""

from __future__ import annotations

import math

import polars as pl
import pytest

from empathylab.analysis import ratings
from empathylab.report.ratings.specification_chart import specification_chart
from empathylab.stats.mixed import clmm
from empathylab.stats.raters.exclusions import StraightLining
from tests.analysis.ratings.test_conclusions import likert, pooled_sd, several_per_reply, table
from tests.analysis.ratings.test_slopes import ZERO, few_within


def test_every_combination_of_choices_is_a_specification() -> None:
    found = ratings.from_table(
        table(shift=1), specifications=True, rules=[StraightLining()]
    ).multiverse
    assert found is not None
    # Of each sample: mean and two thresholds by rater, and two links.
    assert len(found.specifications) == 2 * (3 + 2)
    estimates = [specification.estimate for specification in found.specifications]
    assert estimates == sorted(estimates)
    (row,) = found.summaries()
    assert (row["specifications"], row["higher"], row["lower"]) == (10, 10, 0)
    assert "10 show a higher" in found.sentences()[0]


def test_replies_with_several_ratings_double_the_clustered_tests() -> None:
    found = ratings.from_table(several_per_reply(), specifications=True).multiverse
    assert found is not None
    ways = [
        specification.clustering
        for specification in found.specifications
        if specification.method == "clustered test"
    ]
    assert sorted(set(ways)) == ["rater", "rater and situation"]
    assert len(ways) == 6


def test_the_clustered_conclusion_is_the_one_by_rater_and_situation() -> None:
    result = ratings.from_table(several_per_reply(), specifications=True)
    assert result.multiverse is not None
    [concluded] = [
        conclusion.p
        for conclusion in result.conclusions
        if (conclusion.unit, conclusion.subset) == ("percentage points", "all")
    ]
    p_values: dict[str, list[float]] = {"rater": [], "rater and situation": []}
    for specification in result.multiverse.specifications:
        if specification.method == "clustered test":
            p_values[specification.clustering].append(specification.p)
    assert any(math.isclose(concluded, p) for p in p_values["rater and situation"])
    assert not any(math.isclose(concluded, p) for p in p_values["rater"])


def test_estimates_are_in_standard_deviations() -> None:
    frame = table(shift=1)
    found = ratings.from_table(frame, specifications=True).multiverse
    assert found is not None
    by_method = {
        (specification.method, specification.outcome): specification
        for specification in found.specifications
    }
    formula = "rating ~ arm + (1|rater) + (1|situation)"
    fit = clmm(frame, formula, reference={"arm": "human"}).coefficients["armgpt"]
    logit = by_method["mixed model, logit", "ordered categories"]
    assert logit.estimate == pytest.approx(fit.estimate * math.sqrt(3) / math.pi, rel=1e-4)
    means = dict(frame.group_by("arm").agg(pl.col("rating").mean()).iter_rows())
    mean = by_method["clustered test", "mean"]
    assert mean.estimate * pooled_sd(frame) == pytest.approx(means["gpt"] - means["human"])


def test_the_curve_shows_every_specification() -> None:
    found = ratings.from_table(table(points=5), study=likert(), specifications=True)
    assert found.multiverse is not None
    chart = specification_chart(found.multiverse)
    assert chart is not None
    assert str(chart).count("'SDs'") >= len(found.multiverse.specifications)
    assert found.to_dict()["multiverse"]["summaries"][0]["dimension"] == "warmth"


def test_the_first_conclusion_is_one_of_the_specifications() -> None:
    """Eight raters of both arms, whose preferences are estimated as 0."""
    result = ratings.from_table(few_within(8, *ZERO[8]), reference="human", specifications=True)
    assert result.multiverse is not None
    by_method = {found.method: found.p for found in result.multiverse.specifications}
    assert by_method["mixed model, logit"] == pytest.approx(result.conclusions[0].p)
