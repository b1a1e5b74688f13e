"""Two runs compared on the same units."""

from __future__ import annotations

import math
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import ttest_ind, ttest_rel

from empathylab.errors import InputError, UnknownName
from empathylab.stats.clusters import PairedDifference, paired_difference

SHARED = Path(os.environ.get("EMPATHYLAB_SHARED_DATA", "/nowhere")) / "paired" / "gpqa_scores.csv"


def compared(frame: pl.DataFrame, **more: str) -> PairedDifference:
    return paired_difference(frame, "b", "a", unit="item", label="run", value="score", **more)


def runs(n: int = 30, seed: int = 1) -> pl.DataFrame:
    generator = np.random.default_rng(seed)
    easy = generator.normal(size=n)
    return pl.concat(
        pl.DataFrame({"item": range(n), "run": name, "score": easy + shift + noise})
        for name, shift, noise in (
            ("a", 0.0, 0.5 * generator.normal(size=n)),
            ("b", 0.3, 0.5 * generator.normal(size=n)),
        )
    )


@pytest.mark.skipif(not SHARED.is_file(), reason="needs the published scores")
def test_published_comparison_of_two_models_on_gpqa() -> None:
    # Published with the scores: 5.86 points, paired [0.4, 11.3], p = .036, unpaired [−2.1, 13.8].
    frame = pl.read_csv(SHARED)
    one, two = frame["model_id"].unique(maintain_order=True).to_list()
    found = paired_difference(frame, one, two, unit="item_id", label="model_id", value="score")
    sign = math.copysign(1, found.paired.estimate)
    ends = sorted(100 * sign * end for end in (found.paired.low, found.paired.high))
    apart = sorted(100 * sign * end for end in (found.unpaired.low, found.unpaired.high))
    assert found.n_pairs == 198
    assert 100 * abs(found.paired.estimate) == pytest.approx(5.86, abs=0.005)
    assert ends == pytest.approx([0.4, 11.3], abs=0.05)
    assert found.paired.p == pytest.approx(0.036, abs=0.0005)
    assert apart == pytest.approx([-2.1, 13.8], abs=0.05)


def test_independent_units_give_the_paired_and_welchs_t_test() -> None:
    frame = runs()
    one, two = (frame.filter(run=name)["score"].to_numpy() for name in ("b", "a"))
    found = compared(frame)
    assert found.paired.p == pytest.approx(float(ttest_rel(one, two).pvalue))
    assert found.paired.df == pytest.approx(29)
    assert found.unpaired.p == pytest.approx(float(ttest_ind(one, two, equal_var=False).pvalue))
    assert found.correlation == pytest.approx(float(np.corrcoef(one, two)[0, 1]))


def test_repeated_draws_of_a_unit_are_averaged() -> None:
    twice = pl.concat([runs(), runs().with_columns(pl.col("score") + 1)])
    assert compared(twice).paired.se == pytest.approx(compared(runs()).paired.se)


def test_clusters_of_units_widen_the_interval() -> None:
    frame = runs(40).with_columns(topic=pl.col("item") // 8)
    shared = np.random.default_rng(3).normal(size=5)
    shift = pl.Series(shared)[frame["topic"]] * (frame["run"] == "b").cast(pl.Float64)
    found = compared(frame.with_columns(score=pl.col("score") + shift), cluster="topic")
    assert found.clusters == 5
    assert found.paired.df == pytest.approx(4)


def test_units_of_one_run_only_are_counted() -> None:
    frame = runs().filter(~((pl.col("run") == "a") & (pl.col("item") < 3)))
    found = compared(frame)
    assert (found.n_pairs, found.dropped_first, found.dropped_second) == (27, 3, 0)


def test_a_value_that_is_nan_counts_as_missing() -> None:
    frame = runs().with_columns(
        score=pl.when((pl.col("run") != "a") | (pl.col("item") >= 3))
        .then("score")
        .otherwise(math.nan)
    )
    assert compared(frame) == compared(frame.drop_nans("score"))
    assert compared(frame).n_pairs == 27


def test_equal_runs_have_no_test() -> None:
    same = pl.concat([runs().filter(run="a"), runs().filter(run="a").with_columns(run=pl.lit("b"))])
    assert math.isnan(compared(same).paired.p)


def test_what_cannot_be_compared_is_refused() -> None:
    frame = runs()
    with pytest.raises(UnknownName, match="score2"):
        paired_difference(frame, "a", "b", unit="item", label="run", value="score2")
    with pytest.raises(UnknownName, match="'c'"):
        paired_difference(frame, "a", "c", unit="item", label="run", value="score")
    with pytest.raises(InputError, match="with itself"):
        paired_difference(frame, "a", "a", unit="item", label="run", value="score")
    with pytest.raises(InputError, match=r"share 1 unit\(s\)"):
        compared(frame.filter((pl.col("item") == 0) | (pl.col("run") == "a")))
