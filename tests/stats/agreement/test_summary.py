"""Agreement per dimension and per pair, from one long frame."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from empathylab.errors import InputError, UnknownName
from empathylab.stats.agreement import (
    DimensionAgreement,
    agreement,
    fleiss_kappa,
    gwet_ac,
    intraclass_correlations,
    krippendorff_alpha,
    rating_table,
)
from empathylab.stats.agreement.bootstrap import estimates, interval
from empathylab.stats.agreement.coefficient import Coefficient
from empathylab.stats.agreement.icc import _resampled
from empathylab.stats.notes import note
from tests.stats.agreement.examples import KRIPPENDORFF, long


def two_dimensions() -> pl.DataFrame:
    first = long(KRIPPENDORFF).with_columns(dimension=pl.lit("warmth"))
    second = long([[1, 2, 3, 3], [1, 2, 3, 4]]).with_columns(dimension=pl.lit("clarity"))
    return pl.concat([first, second])


def test_dimensions_come_apart_in_the_order_of_the_frame() -> None:
    found = agreement(two_dimensions(), resamples=50)
    assert [dimension.dimension for dimension in found.dimensions] == ["warmth", "clarity"]
    warmth = found.dimensions[0]
    assert (warmth.n_raters, warmth.n_situations, warmth.n_ratings, warmth.dropped) == (
        4,
        12,
        41,
        7,
    )
    assert warmth.missing_share == pytest.approx(7 / 48)
    assert warmth.krippendorff_alpha.estimate == pytest.approx(0.815387503755)
    assert {pair.dimension for pair in found.pairs} == {"warmth", "clarity"}
    assert len(found.pairs) == 6 + 1


def test_columns_go_by_role() -> None:
    frame = two_dimensions().rename(
        {"situation": "item", "rater": "who", "dimension": "what", "rating": "value"}
    )
    found = agreement(
        frame, situation="item", rater="who", dimension="what", rating="value", resamples=0
    )
    plain = agreement(two_dimensions(), resamples=0)
    for ours, theirs in zip(found.dimensions, plain.dimensions, strict=True):
        assert ours.krippendorff_alpha.estimate == theirs.krippendorff_alpha.estimate
        assert ours.icc.estimate == pytest.approx(theirs.icc.estimate, nan_ok=True)


def test_without_dimensions_all_rows_are_one() -> None:
    found = agreement(long(KRIPPENDORFF), dimension=None, resamples=0)
    assert [dimension.dimension for dimension in found.dimensions] == ["rating"]


def test_the_order_of_rows_does_not_matter() -> None:
    frame = long(KRIPPENDORFF)
    mixed = frame.sample(fraction=1, shuffle=True, seed=3)
    ours, theirs = (agreement(value, dimension=None, resamples=99) for value in (frame, mixed))
    assert ours.dimensions[0].krippendorff_alpha == theirs.dimensions[0].krippendorff_alpha
    assert ours.pairs == theirs.pairs


def test_no_resamples_no_bootstrap_intervals() -> None:
    found = agreement(long(KRIPPENDORFF), dimension=None, resamples=0).dimensions[0]
    assert math.isnan(found.krippendorff_alpha.low)
    assert found.krippendorff_alpha.interval == "none"


def test_many_raters_with_gaps_get_an_icc_without_interval_and_say_so() -> None:
    rng = np.random.default_rng(1)
    cells = np.where(rng.random((40, 30)) < 0.5, None, rng.integers(1, 6, (40, 30))).tolist()
    icc = agreement(long(cells), dimension=None, resamples=20).dimensions[0].icc
    assert math.isfinite(icc.estimate)
    assert icc.note == note("no_bootstrap")


def test_values_of_many_kinds_give_the_same_as_few_when_counts_are_sparse(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from empathylab.stats.agreement import table

    frame = long(KRIPPENDORFF)
    plain = agreement(frame, dimension=None, resamples=50).dimensions[0]
    monkeypatch.setattr(table, "_DENSE", 0)
    sparse = agreement(frame, dimension=None, resamples=50).dimensions[0]
    for name in ("krippendorff_alpha", "fleiss_kappa_linear", "gwet_ac2"):
        assert getattr(sparse, name).low == pytest.approx(getattr(plain, name).low)


def test_one_rater_has_no_agreement_and_says_why() -> None:
    found = agreement(long([[1, 2, 3]]), dimension=None)
    assert found.pairs == ()
    assert found.dimensions[0].krippendorff_alpha.note == note("no_shared_ratings")
    assert math.isnan(found.dimensions[0].icc.estimate)


def test_a_frame_without_a_rating_is_refused() -> None:
    with pytest.raises(InputError, match="there are no ratings"):
        agreement(long([[None, None]]), dimension=None)


def test_an_empty_frame_is_refused() -> None:
    with pytest.raises(InputError, match="there are no ratings"):
        agreement(two_dimensions().clear())


def test_a_rating_without_its_dimension_is_refused() -> None:
    frame = two_dimensions().with_columns(
        dimension=pl.when(pl.int_range(pl.len()) != 3).then(pl.col("dimension"))
    )
    with pytest.raises(InputError, match="rating 4: 'dimension' is missing"):
        agreement(frame)


def test_an_unknown_column_gets_the_nearest() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'dimension'"):
        agreement(two_dimensions(), dimension="dimensions")


@pytest.mark.parametrize("confidence", [0, 1, 95])
def test_a_confidence_outside_its_range_is_refused(confidence: float) -> None:
    with pytest.raises(InputError, match="confidence"):
        agreement(two_dimensions(), confidence=confidence)


def replies(seed: int, situations: int = 25, each: int = 6) -> pl.DataFrame:
    """Three raters of six replies to a situation; replies to one situation are alike."""
    generator = np.random.default_rng(seed)
    situation = np.repeat(np.arange(situations), each)
    truth = generator.normal(size=situations)[situation] + 0.5 * generator.normal(
        size=len(situation)
    )
    return pl.concat(
        pl.DataFrame(
            {
                "reply": np.arange(len(situation)),
                "situation": situation,
                "rater": f"r{rater}",
                "rating": np.clip(
                    np.round(3 + truth + generator.normal(size=len(situation))), 1, 5
                ),
            }
        )
        for rater in range(3)
    ).with_columns(pl.col("rating").clip(1, 5))


def test_clusters_widen_the_interval_of_alpha_to_what_repeated_studies_show() -> None:
    def alpha(seed: int, cluster: str | None, resamples: int = 0) -> Coefficient:
        return krippendorff_alpha(
            replies(seed), situation="reply", resamples=resamples, cluster=cluster
        )

    spread = float(np.std([alpha(seed, None).estimate for seed in range(120)]))
    clustered = [alpha(seed, "situation", 200) for seed in range(12)]
    plain = [alpha(seed, "reply", 200) for seed in range(12)]
    width = np.mean([item.high - item.low for item in clustered]) / 3.92
    narrow = np.mean([item.high - item.low for item in plain]) / 3.92
    assert width == pytest.approx(spread, rel=0.2)
    assert narrow < 0.85 * spread
    assert clustered[0].interval == "bootstrap over clusters"
    # The column `situation` is used where replies are what was rated.
    assert alpha(0, None, 200) == clustered[0]


def test_every_interval_allows_for_situations_of_several_replies() -> None:
    frame = replies(3)
    found = agreement(frame, situation="reply", dimension=None, resamples=200)
    alone = agreement(frame, situation="reply", dimension=None, cluster="reply", resamples=200)
    (one,), (other,) = found.dimensions, alone.dimensions
    assert (one.n_clusters, other.n_clusters) == (25, None)
    forms = [getattr(one.icc_forms, name) for name in ("icc1", "icc2", "icc3", "icc2k")]
    assert {form.interval for form in (*forms, one.icc)} == {"bootstrap over clusters"}
    assert one.icc == one.icc_forms.icc2
    assert other.icc.interval == "F"
    for name in ("weighted_kappa", "kappa", "spearman", "percent"):
        assert getattr(found.pairs[0], name).interval.endswith(", clustered")
        assert getattr(alone.pairs[0], name).estimate == pytest.approx(
            getattr(found.pairs[0], name).estimate
        )


def test_the_bootstrap_of_intraclass_correlations_starts_from_the_estimates() -> None:
    rows = np.random.default_rng(2).normal(size=(12, 4)) + np.arange(12)[:, None] / 4
    found = intraclass_correlations(rows)
    once = estimates(_resampled(rows), 12)
    for name in ("icc1", "icc2", "icc3"):
        assert once[name] == pytest.approx(getattr(found, name).estimate, abs=1e-12)


def test_an_interval_needs_an_estimate_in_half_of_the_samples() -> None:
    half = np.array([0.4, 0.6, math.nan, math.nan])
    assert math.isfinite(interval(half, 0.5, 10, 0.95)[0])
    assert math.isnan(interval(np.append(half, math.nan), 0.5, 10, 0.95)[0])


def test_intervals_undo_the_bias_and_are_as_wide_as_few_draws_need() -> None:
    # By hand: z of .5 is .549306; the samples' z are .4 and .6, with mean .5 and SD .141421; with
    # 10 draws the reach is t(9) = 2.262157 times √(10/9) times the SD, .337224.
    values = np.tanh([0.4, 0.6])
    low, high = interval(values, 0.5, 10, 0.95)
    assert (low, high) == pytest.approx((np.tanh(0.598612 - 0.337224), np.tanh(0.935836)), abs=1e-5)
    # A percentage is the same on its own scale.
    percent = interval(50 + 50 * values, 75.0, 10, 0.95, limits=(0.0, 100.0))
    assert percent == pytest.approx((50 + 50 * low, 50 + 50 * high))


def test_resamples_that_are_all_the_same_give_no_interval() -> None:
    """They say nothing about other situations: an interval of no width covers next to nothing."""
    assert math.isnan(interval(np.full(9, 1.0), 1.0, 4, 0.95)[0])
    found = agreement(long([[1, 2, 3, 3], [1, 2, 3, 3]]), dimension=None).dimensions[0]
    assert found.percent.estimate == pytest.approx(100)
    assert (math.isnan(found.percent.low), found.percent.interval) == (True, "none")


def test_the_standard_error_of_few_situations_comes_from_leaving_each_out() -> None:
    # By hand: without each of three situations z is .3, .5 and .7; the jackknife's variance is
    # 2/3 · (.2² + .2²), its root .230940 times t(2) = 4.302653 is .993655.
    values, without = np.tanh([0.4, 0.6]), np.tanh([0.3, 0.5, 0.7])
    found = interval(values, math.tanh(0.5), 3, 0.95, without=without)
    assert found == pytest.approx(tuple(np.tanh([0.5 - 0.993655, 0.5 + 0.993655])), abs=1e-5)
    # Where one cannot be left out, the bootstrap's: √(3/2) times .141421.
    without[0] = math.nan
    found = interval(values, math.tanh(0.5), 3, 0.95, without=without)
    reach = 4.302653 * math.sqrt(1.5) * 0.141421
    assert found == pytest.approx(tuple(np.tanh([0.5 - reach, 0.5 + reach])), abs=1e-5)


@pytest.mark.parametrize("gap", [False, True])
def test_intervals_are_as_wide_as_leaving_each_cluster_out_says(gap: bool) -> None:
    """On the scale of log((value − lowest) / (highest − value)) / 2, three raters and 4 levels."""
    random = np.random.default_rng(4)
    rows = np.clip(random.integers(1, 5, 16) + random.integers(-1, 2, (3, 16)), 1, 4).tolist()
    rows[0][0] = None if gap else rows[0][0]
    cluster = pl.col("situation").str.slice(1).cast(pl.Int64) // 2
    frame = long(rows).with_columns(cluster=cluster)

    def measured(part: pl.DataFrame, resamples: int) -> DimensionAgreement:
        levels = [1, 2, 3, 4]
        return agreement(
            part, dimension=None, levels=levels, resamples=resamples, cluster="cluster"
        ).dimensions[0]

    whole = measured(frame, 50)
    others = [measured(frame.filter(pl.col("cluster") != number), 0) for number in range(8)]
    # A situation with two ratings can have a kappa of −1.
    kappa = (-1.0 if gap else -1 / 2, 1.0)
    limits = dict.fromkeys(["krippendorff_alpha", "fleiss_kappa", "icc"], kappa) | {
        "gwet_ac1": (-1 / 3, 1.0),
        "gwet_ac2": (-1.0, 1.0),
        "percent": (0.0, 100.0),
    }
    for name, (lowest, highest) in limits.items():
        found = getattr(whole, name)
        values = np.array(
            [found.low, found.high, *(getattr(part, name).estimate for part in others)]
        )
        low, high, *without = np.log((values - lowest) / (highest - values)) / 2
        # t(7) = 2.364624, and the jackknife's variance 7/8 Σ(z − mean)².
        reach = 2.364624 * math.sqrt(7 * np.var(without))
        assert (high - low) / 2 == pytest.approx(reach, rel=1e-5), name


@pytest.mark.parametrize(("raters", "lowest"), [(2, -1.0), (3, -0.5), (4, -1 / 3)])
def test_raters_who_never_agree_have_the_lowest_kappa(raters: int, lowest: float) -> None:
    rows = [[(rater + place) % raters for place in range(raters)] for rater in range(raters)]
    table = rating_table(long(rows))
    assert table.lowest == pytest.approx(lowest)
    assert fleiss_kappa(long(rows), resamples=0).estimate == pytest.approx(lowest)
    assert gwet_ac(long(rows), resamples=0).estimate == pytest.approx(-1 / (raters - 1))


def test_a_reply_to_two_situations_is_refused() -> None:
    frame = replies(1).with_columns(situation=pl.int_range(pl.len()))
    with pytest.raises(InputError, match="two clusters"):
        krippendorff_alpha(frame, situation="reply", cluster="situation")


@pytest.mark.parametrize(
    "rows",
    [
        [("a", "r1", 1), ("a", "r2", 2), ("b", "r1", 3), ("c", "r2", 1)],
        [("a", "r1", 1), ("a", "r2", 2)],
        [("a", "r1", 1), ("a", "r2", 1), ("a", "r3", 1)],
        [("s", "r0", 1), ("s", "r1", 2), ("t", "r1", 1), ("t", "r0", 2), ("x", "r0", 2)],
    ],
)
def test_tables_with_hardly_a_shared_unit_are_measured_without_a_crash(
    rows: list[tuple[str, str, int]],
) -> None:
    frame = pl.DataFrame(rows, schema=["situation", "rater", "rating"], orient="row")
    found = agreement(frame, dimension=None, resamples=20).dimensions[0]
    assert math.isnan(found.icc_forms.icc2.estimate)
