"""The published agreement of experts, crowd and models on EmpatheticDialogues.

Kumar et al. (2025), arXiv 2506.10150. As in their published notebook, kappa has
quadratic weights over the values that occur in the pair, one step apart, whatever lies between
them; `experts` is the median of the three, `llm` is Gemini, the crowd's means of two ratings count
as categories of their own; the Spearman intervals are Fisher's.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from empathylab.stats.agreement import Agreement, agreement, cohen_kappa, spearman
from empathylab.stats.judges.annotators import alternative_annotator_test

pytestmark = pytest.mark.shared_data


@pytest.fixture(scope="module")
def ratings(shared_data: Path) -> pl.DataFrame:
    return pl.read_csv(shared_data / "kumar" / "empatheticdialogues_ratings.csv")


@pytest.fixture(scope="module")
def published(shared_data: Path) -> list[dict[str, Any]]:
    frame = pl.read_csv(shared_data / "kumar" / "empatheticdialogues_agreement_published.csv")
    return [row | {"pair": ast.literal_eval(row["Annotator Pair"])} for row in frame.to_dicts()]


@pytest.fixture(scope="module")
def found(ratings: pl.DataFrame) -> Agreement:
    return agreement(ratings, resamples=100)


def wide(ratings: pl.DataFrame, dimension: str) -> pl.DataFrame:
    table = ratings.filter(dimension=dimension).pivot("rater", index="situation", values="rating")
    experts = pl.concat_list("expert1", "expert2", "expert3").list.median()
    return table.with_columns(experts=experts, llm=pl.col("gemini"))


def test_all_expert_pairs_have_their_published_kappa_and_correlation(
    found: Agreement, published: list[dict[str, Any]]
) -> None:
    experts = [row for row in published if all("expert" in name[:6] for name in row["pair"])]
    experts = [
        row for row in experts if "experts" not in row["pair"] and "crowd" not in row["pair"]
    ]
    assert len(experts) == 9
    pairs = {(pair.dimension, pair.rater_a, pair.rater_b): pair for pair in found.pairs}
    for row in experts:
        a, b = sorted(row["pair"])
        ours = pairs[row["Dimension"], a, b]
        assert ours.n == 50
        assert ours.weighted_kappa.estimate == pytest.approx(
            row["Weighted Cohen's Kappa"], abs=0.0051
        )
        assert ours.spearman.estimate == pytest.approx(row["Spearman Correlation"], abs=0.0051)


def test_the_whole_published_table_is_reproduced(
    ratings: pl.DataFrame, published: list[dict[str, Any]]
) -> None:
    assert len(published) == 18
    for row in published:
        table = wide(ratings, row["Dimension"])
        a, b = (table[name] for name in row["pair"])
        kappa = cohen_kappa(a, b, weights="quadratic", spacing="ranks")
        correlation = spearman(a, b, method="fisher")
        z = kappa.estimate / ((kappa.high - kappa.low) / 2 / 1.959963984540054)
        assert kappa.estimate == pytest.approx(row["Weighted Cohen's Kappa"], abs=0.0051)
        assert z == pytest.approx(row["Kappa Z-statistic"], abs=0.00051)
        assert correlation.estimate == pytest.approx(row["Spearman Correlation"], abs=0.0051)
        assert correlation.low == pytest.approx(row["Fisher CI Lower"], abs=0.0051)
        assert correlation.high == pytest.approx(row["Fisher CI Upper"], abs=0.0051)


def test_spacing_by_values_changes_the_kappa_where_a_value_is_skipped(
    ratings: pl.DataFrame,
) -> None:
    # Nobody gave some value in between, so a step of ranks is more than a step of the scale.
    table = wide(ratings, "fluency")
    by_rank = cohen_kappa(table["experts"], table["llm"], weights="quadratic", spacing="ranks")
    by_value = cohen_kappa(table["experts"], table["llm"], weights="quadratic")
    assert (round(by_rank.estimate, 2), round(by_value.estimate, 2)) == (0.27, 0.22)


def test_the_alternative_annotator_test_gives_a_verdict_per_model_and_dimension(
    ratings: pl.DataFrame,
) -> None:
    # The same winning rates and advantages come from a condensed copy of the authors' function,
    # run outside this project.
    expected = {
        ("empathy", "gemini"): (0, 0.56),
        ("fluency", "gemini"): (1 / 3, 0.8533),
        ("relevance", "claude"): (0, 0.6067),
        ("relevance", "gpt"): (0, 0.2933),
    }
    for (dimension, judge), (rate, advantage) in expected.items():
        result = alternative_annotator_test(
            ratings.filter(dimension=dimension),
            judge,
            people=["expert1", "expert2", "expert3"],
            epsilon=0.2,
        )
        assert not result.passes
        assert result.n == 50
        assert result.winning_rate == pytest.approx(rate)
        assert result.advantage == pytest.approx(advantage, abs=5e-5)
