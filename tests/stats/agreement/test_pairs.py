"""All pairs of raters at once give what each pair gives by itself."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from empathylab.stats.agreement import (
    Coefficient,
    cohen_kappa,
    pair_agreements,
    rating_table,
    spearman,
)
from empathylab.stats.agreement import pairs as pairs_module
from empathylab.stats.notes import note
from tests.stats.agreement.examples import long


def gapped(seed: int) -> list[list[float | None]]:
    rng = np.random.default_rng(seed)
    level = rng.normal(size=40)
    values = np.digitize(level + rng.normal(size=(5, 40)), [-1, -0.3, 0.3, 1]) * 1.5
    cells: list[list[float | None]] = np.where(rng.random((5, 40)) < 0.3, None, values).tolist()
    return cells


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize(("seed", "each"), [(1, 1), (2, 1), (2, 4)])
def test_every_pair_has_the_figures_of_the_single_functions(
    seed: int, each: int, dense: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not dense:
        monkeypatch.setattr(pairs_module, "_DENSE", 0)
        monkeypatch.setattr(pairs_module, "_BLOCK", 7)
    cells = gapped(seed)
    wide = pl.DataFrame({f"r{i}": row for i, row in enumerate(cells)}, strict=False)
    units = [f"s{number:02}" for number in range(40)]
    cluster = dict(zip(units, np.arange(40) // each, strict=True))
    frame = long(cells).with_columns(cluster=pl.col("situation").replace_strict(cluster))
    clusters = None if each == 1 else np.arange(40) // each
    found = pair_agreements(rating_table(frame, cluster="cluster"), dimension="warmth")
    assert len(found) == 10
    for item in found:
        a, b = wide[item.rater_a], wide[item.rater_b]
        same = (a == b).drop_nulls()
        assert item.dimension == "warmth"
        assert item.n == len(same)
        assert item.percent.estimate == pytest.approx(100 * same.sum() / len(same))
        for coefficient, single in (
            (item.kappa, cohen_kappa(a, b, clusters=clusters)),
            (item.weighted_kappa, cohen_kappa(a, b, weights="quadratic", clusters=clusters)),
            (
                item.weighted_kappa_ranks,
                cohen_kappa(a, b, weights="quadratic", spacing="ranks", clusters=clusters),
            ),
            (item.spearman, spearman(a, b, clusters=clusters)),
        ):
            assert coefficient.estimate == pytest.approx(single.estimate, abs=1e-12)
            assert coefficient.low == pytest.approx(single.low, abs=1e-9)
            assert coefficient.high == pytest.approx(single.high, abs=1e-9)
            assert (coefficient.n, coefficient.interval) == (single.n, single.interval)


def test_dropped_counts_the_situations_that_only_one_of_the_two_rated() -> None:
    frame = long([[1, 2, 3, 4, None], [None, 2, 2, 4, 5]])
    (one,) = pair_agreements(rating_table(frame))
    assert (one.n, one.kappa.dropped) == (3, 2)


def test_wilsons_interval_by_hand() -> None:
    # 2 of 4: centre 1/2, half width z / (1 + z²/4) · sqrt(1/16 + z²/64).
    (one,) = pair_agreements(rating_table(long([[1, 1, 2, 2], [1, 2, 1, 2]])))
    z = 1.959963984540054
    half = z / (1 + z**2 / 4) * math.sqrt(1 / 16 + z**2 / 64)
    assert one.percent.low == pytest.approx(100 * (0.5 - half))
    assert one.percent.high == pytest.approx(100 * (0.5 + half))


def test_pairs_with_too_few_common_situations_are_not_listed() -> None:
    frame = long([[1, 2, None], [1, None, 2], [2, 2, 1]])
    listed = {
        (agreement.rater_a, agreement.rater_b) for agreement in pair_agreements(rating_table(frame))
    }
    assert listed == {("r0", "r2"), ("r1", "r2")}
    assert len(pair_agreements(rating_table(frame), min_shared=1)) == 3


def test_a_constant_rater_has_no_spearman_but_a_kappa() -> None:
    (one,) = pair_agreements(rating_table(long([[1, 1, 1, 1], [1, 2, 1, 2]])))
    assert math.isnan(one.spearman.estimate)
    assert one.spearman.note
    assert one.kappa.estimate == 0


def test_equal_constant_raters_have_no_kappa_and_say_why() -> None:
    (one,) = pair_agreements(rating_table(long([[1, 1], [1, 1]])))
    assert math.isnan(one.weighted_kappa.estimate)
    assert one.weighted_kappa.note == note("constant_pair")
    assert one.percent.estimate == 100


def test_one_rater_makes_no_pair() -> None:
    assert pair_agreements(rating_table(long([[1, 2, 3]]))) == []


def test_replies_that_say_nothing_about_clusters_count_twice_or_once_per_cluster() -> None:
    def percent(first: list[float | None], second: list[float | None]) -> Coefficient:
        cluster = pl.col("situation").str.slice(1).cast(pl.Int64) // 2
        frame = long([first, second]).with_columns(cluster=cluster)
        return pair_agreements(rating_table(frame, cluster="cluster"))[0].percent

    # Two raters agree on one of two replies in each of ten situations: Wilson's interval of one
    # half with n = 40, twice the pairs, is ½ ± z√(n/4 + z²/4)/(n + z²) with z = 1.959964.
    half = percent([1, 2] * 10, [1, 1] * 10)
    margin = 100 * 1.959964 * (10 + 1.959964**2 / 4) ** 0.5 / (40 + 1.959964**2)
    assert (half.low, half.high) == pytest.approx((50 - margin, 50 + margin), abs=1e-4)
    # They agree on all: each situation counts once, and t(9) = 2.262157 in place of z.
    n = 10 * (1.959964 / 2.262157) ** 2
    always = percent([1, 2] * 10, [1, 2] * 10)
    assert (always.low, always.high) == pytest.approx((100 * n / (n + 1.959964**2), 100), abs=1e-4)
