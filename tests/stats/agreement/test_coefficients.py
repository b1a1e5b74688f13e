"""Krippendorff's alpha, Fleiss' kappa, Gwet's AC and percent agreement of many raters."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from empathylab.stats.agreement import agreement, fleiss_kappa, gwet_ac, krippendorff_alpha
from empathylab.stats.notes import note
from tests.stats.agreement.examples import KRIPPENDORFF, long

# Fleiss' worked kind of table: ten subjects, fourteen raters, five categories; kappa is 0.210
# (P = 0.378, P_e = 0.213 in Wikipedia, "Fleiss' kappa").
FOURTEEN = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]


def fourteen() -> pl.DataFrame:
    by_unit = [np.repeat([1, 2, 3, 4, 5], counts).tolist() for counts in FOURTEEN]
    return long([list(values) for values in zip(*by_unit, strict=True)])


def alpha_from_coincidences(frame: pl.DataFrame, level: str) -> float:
    """Alpha by the book: the coincidence matrix and each level's metric, pair by pair."""
    units = [item["rating"].drop_nulls().to_list() for item in frame.partition_by("situation")]
    units = [unit for unit in units if len(unit) >= 2]
    values = sorted({value for unit in units for value in unit})
    matrix = np.zeros((len(values), len(values)))
    for unit in units:
        for i, a in enumerate(unit):
            for j, b in enumerate(unit):
                if i != j:
                    matrix[values.index(a), values.index(b)] += 1 / (len(unit) - 1)
    counts = matrix.sum(axis=0)
    metric = np.zeros_like(matrix)
    for c in range(len(values)):
        for k in range(len(values)):
            low, high = min(c, k), max(c, k)
            between = counts[low : high + 1].sum() - (counts[c] + counts[k]) / 2
            metric[c, k] = {
                "nominal": float(c != k),
                "ordinal": between**2 if c != k else 0.0,
                "interval": (values[c] - values[k]) ** 2,
            }[level]
    n = counts.sum()
    return float(1 - (n - 1) * (matrix * metric).sum() / (np.outer(counts, counts) * metric).sum())


@pytest.mark.parametrize(
    ("level", "alpha"),
    # Krippendorff (2011) prints .743, .815 and .849; digits from krippendorff 0.9.0
    # (tests/reference/agreement_packages.py).
    [("nominal", 0.743421052632), ("ordinal", 0.815387503755), ("interval", 0.849107142857)],
)
def test_alpha_is_krippendorffs_own(level: str, alpha: float) -> None:
    found = krippendorff_alpha(long(KRIPPENDORFF), level=level, resamples=0)  # type: ignore[arg-type]
    assert found.estimate == pytest.approx(alpha, abs=1e-10)
    # Unit 12 has one rating.
    assert (found.n, found.dropped) == (11, 1)


def test_nominal_alpha_by_hand() -> None:
    # Units (1, 1), (2, 2), (1, 2): observed 2/6; by chance 3·3·2 of 6·5; 1 − (1/3)/(18/30) = 4/9.
    found = krippendorff_alpha(long([[1, 2, 1], [1, 2, 2]]), level="nominal", resamples=0)
    assert found.estimate == pytest.approx(4 / 9)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_alpha_equals_the_coincidence_matrix(level: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    ratings = rng.choice([1, 2, 3, 4, 7.5], size=(6, 30)) + rng.integers(0, 2, 30)
    cells = np.where(rng.random((6, 30)) < 0.4, None, ratings).tolist()
    frame = long(cells)
    found = krippendorff_alpha(frame, level=level, resamples=0)  # type: ignore[arg-type]
    assert found.estimate == pytest.approx(alpha_from_coincidences(frame, level), abs=1e-12)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_a_resample_is_as_good_as_a_frame_with_the_situation_twice(level: str) -> None:
    from empathylab.stats.agreement.krippendorff import alpha_statistic
    from empathylab.stats.agreement.table import rating_table

    frame = long(KRIPPENDORFF)
    again = frame.filter(pl.col("situation") == "s05").with_columns(situation=pl.lit("again"))
    weights = np.ones((1, 12))
    weights[0, 5] = 2
    statistic = alpha_statistic(rating_table(frame), level)  # type: ignore[arg-type]
    doubled = krippendorff_alpha(
        pl.concat([frame, again]),
        level=level,  # type: ignore[arg-type]
        resamples=0,
    )
    assert statistic(weights)[0] == pytest.approx(doubled.estimate)


@pytest.mark.parametrize(
    ("weights", "fleiss", "gwet"),
    # irrCAC 0.4.4 (tests/reference/agreement_packages.py); Gwet (2014) prints 0.76117 and 0.77544.
    [
        ("identity", 0.76116928, 0.77544407),
        ("linear", 0.81794477, 0.85873914),
        ("quadratic", 0.86493506, 0.91400072),
    ],
)
def test_fleiss_and_gwet_with_gaps_are_those_of_irrcac(
    weights: str, fleiss: float, gwet: float
) -> None:
    frame = long(KRIPPENDORFF)
    kappa = fleiss_kappa(frame, weights=weights, resamples=0)  # type: ignore[arg-type]
    ac = gwet_ac(frame, weights=weights, resamples=0)  # type: ignore[arg-type]
    assert kappa.estimate == pytest.approx(fleiss, abs=1e-8)
    assert ac.estimate == pytest.approx(gwet, abs=1e-8)


def test_ordinal_alpha_depends_on_the_order_of_values_only() -> None:
    frame = long(KRIPPENDORFF)
    stretched = frame.with_columns(pl.col("rating").exp())
    found, again = (krippendorff_alpha(value, resamples=0).estimate for value in (frame, stretched))
    assert again == pytest.approx(found)


def test_interval_alpha_and_quadratic_kappa_do_not_depend_on_the_unit() -> None:
    frame = long(KRIPPENDORFF)
    shifted = frame.with_columns(1000 + 7 * pl.col("rating"))
    for measure in (
        lambda item: krippendorff_alpha(item, level="interval", resamples=0),
        lambda item: fleiss_kappa(item, weights="quadratic", resamples=0),
        lambda item: fleiss_kappa(item, weights="linear", resamples=0),
        lambda item: gwet_ac(item, weights="linear", resamples=0),
    ):
        assert measure(shifted).estimate == pytest.approx(measure(frame).estimate)


def test_fleiss_kappa_of_ten_subjects_and_fourteen_raters() -> None:
    assert round(fleiss_kappa(fourteen(), resamples=0).estimate, 3) == 0.210


def test_gwets_ac1_by_hand() -> None:
    # Agree on 2 of 3; shares 1/2 and 1/2: chance 2·(1/2)(1/2) / 1 = 1/2; (2/3 − 1/2)/(1/2) = 1/3.
    found = gwet_ac(long([[1, 2, 1], [1, 2, 2]]), resamples=0)
    assert found.estimate == pytest.approx(1 / 3)


def test_gwets_ac1_needs_the_scale_where_a_category_is_unused() -> None:
    ratings: list[list[float | None]] = [[1, 2, 1], [1, 2, 2]]
    # With a third category chance is 1/4: (2/3 − 1/4)/(3/4) = 5/9.
    found = gwet_ac(long(ratings), levels=[1, 2, 3], resamples=0)
    assert found.estimate == pytest.approx(5 / 9)


def test_percent_agreement_averages_pairs_within_situations() -> None:
    # s00: one of three pairs agrees; s01: its only pair agrees; s02: a single rating.
    frame = long([[1, 1, 1], [1, 1, None], [2, None, None]])
    found = agreement(frame, dimension=None, resamples=0).dimensions[0].percent
    assert found.estimate == pytest.approx(100 * (1 / 3 + 1) / 2)
    assert (found.n, found.dropped) == (2, 1)


def test_intervals_repeat_with_their_seed_and_hold_the_estimate() -> None:
    found = krippendorff_alpha(fourteen(), resamples=300, seed=4)
    assert found == krippendorff_alpha(fourteen(), resamples=300, seed=4)
    assert found != krippendorff_alpha(fourteen(), resamples=300, seed=5)
    assert found.low < found.estimate < found.high
    assert found.interval == "bootstrap over situations"


def test_equal_ratings_have_no_alpha_and_say_why() -> None:
    found = krippendorff_alpha(long([[3, 3, 3], [3, 3, 3]]))
    assert math.isnan(found.estimate)
    assert found.note == note("equal_ratings")


def test_raters_without_a_common_situation_have_no_alpha_and_say_why() -> None:
    found = krippendorff_alpha(long([[1, 2, None], [None, None, 2]]))
    assert math.isnan(found.estimate)
    assert found.note == note("no_shared_ratings")


def test_perfect_agreement_is_one_for_every_coefficient() -> None:
    found = agreement(long([[1, 2, 3, 5]] * 3), dimension=None).dimensions[0]
    values = [
        found.krippendorff_alpha,
        found.krippendorff_alpha_nominal,
        found.krippendorff_alpha_interval,
        found.fleiss_kappa,
        found.fleiss_kappa_quadratic,
        found.gwet_ac1,
        found.gwet_ac2,
        found.icc,
    ]
    assert [value.estimate for value in values] == pytest.approx([1] * len(values))


@pytest.mark.slow
def test_the_bootstrap_interval_covers_alpha() -> None:
    rng = np.random.default_rng(11)

    def draw(n: int) -> pl.DataFrame:
        level = rng.normal(size=n)
        ratings = np.digitize(level + rng.normal(size=(4, n)), [-1.2, -0.4, 0.4, 1.2]) + 1
        return long(ratings.tolist())

    truth = krippendorff_alpha(draw(40_000), resamples=0).estimate
    held = 0
    for seed in range(150):
        found = krippendorff_alpha(draw(60), resamples=400, seed=seed)
        held += found.low <= truth <= found.high
    # 95% of 150 give or take three standard errors, less what the percentile method lacks at n=60.
    assert 0.87 <= held / 150 <= 0.99


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_very_small_and_very_large_values_give_the_same(unit: float) -> None:
    frame = long(KRIPPENDORFF)
    found = agreement(frame.with_columns(unit * pl.col("rating")), dimension=None, resamples=0)
    plain = agreement(frame, dimension=None, resamples=0)
    for name in ("krippendorff_alpha_interval", "fleiss_kappa_quadratic", "gwet_ac2", "icc"):
        ours, theirs = (getattr(value.dimensions[0], name).estimate for value in (found, plain))
        assert ours == pytest.approx(theirs)
    for ours, theirs in zip(found.pairs, plain.pairs, strict=True):
        assert ours.weighted_kappa.estimate == pytest.approx(theirs.weighted_kappa.estimate)
