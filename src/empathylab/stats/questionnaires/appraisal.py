"""The change of a scale's scores from baseline, after situations (Huang et al. 2024).

The published procedure: an F test of equal variances at α, then Student's t test (variances not
found to differ) or Welch's, of the scores after situations against those at baseline; a direction
where p < α. An SD of 0 counts as 1e-8. People answered twice, so theirs is a paired t test.

It takes every administration as independent, though a model's repeats of one situation are near
copies. So a test that treats them as clustered stands next to it; and since there are many tests,
so do corrected p values of both. The family is named in each row: one respondent's tests of one
subscale at one level.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from empathylab.stats.arrays import Array
from empathylab.stats.corrections import corrected_by_family
from empathylab.stats.intervals import Interval
from empathylab.stats.questionnaires.order_matching import clustered_variance, matched_changes
from empathylab.stats.standardised import hedges_g, paired_d
from empathylab.stats.t_tests import t_margin

Level = Literal["overall", "emotion", "factor"]
Test = Literal["student", "welch", "paired"]
Direction = Literal["up", "down", "none"]

SCORES = {
    "respondent": pl.String,
    "scale": pl.String,
    "subscale": pl.String,
    "phase": pl.String,
    "emotion": pl.String,
    "factor": pl.String,
    "situation": pl.String,
    "subject": pl.String,
    "order_index": pl.Int64,
    "score": pl.Float64,
}
"""The columns that are needed: one row for each score of each administration. `order_index` numbers
the orders of the items; it is null where they are not known."""

_GROUP = ["respondent", "scale", "subscale"]
_KEY = [*_GROUP, "level", "emotion", "factor"]
_MIN_SD = 1e-8


@dataclass(frozen=True, slots=True)
class ScaleChange:
    """A subscale after situations compared with baseline: overall, by emotion or by factor.

    Figures that cannot be had (one value only, no value at baseline) are NaN, and `test` is None.
    """

    respondent: str
    scale: str
    subscale: str
    level: Level
    emotion: str | None
    factor: str | None
    n: int
    """Scores after situations; for people, of those who also answered at baseline."""
    mean: float
    sd: float
    default_n: int
    default_mean: float
    default_sd: float
    delta: float
    change_sd: float
    """SD of the single people's changes; NaN where scores are not paired."""
    test: Test | None
    statistic: float
    se: float
    """Standard error of the difference in that test."""
    df: float
    p: float
    p_holm: float
    p_bh: float
    family: str
    """The tests that the correction counts together."""
    direction: Direction
    """Of the published test, at α, uncorrected."""
    effect_size: float
    """Hedges' g; for paired scores, the difference over the mean SD, corrected likewise."""
    effect_low: float
    effect_high: float
    clusters: int
    """Different situations."""
    baseline_orders: int
    """Orders of the items at baseline; 0 where they are not known."""
    shared_orders: int
    """Of these, the ones also used after situations."""
    cluster_delta: float
    """The change within the item orders that both phases share; `delta` where there are none."""
    cluster_se: float
    """Its standard error, with administrations clustered by situation and by item order."""
    cluster_df: float
    cluster_p: float
    cluster_p_holm: float
    cluster_p_bh: float
    cluster_effect_low: float
    """Ends of the interval of the effect size that go with the clustered test."""
    cluster_effect_high: float

    @property
    def error(self) -> tuple[float, float]:
        """The standard error of `cluster_delta` and its degrees of freedom; NaN without a test.

        Where all administrations come from one situation and one item order, or orders are not
        known, the plain error of the published test has to do.
        """
        varies = self.sd > 0 or self.default_sd > 0
        if math.isnan(self.cluster_se) and self.clusters == 1 and self.baseline_orders < 2:
            return (self.se, self.df) if varies else (math.nan, math.nan)
        return self.cluster_se, self.cluster_df


def scale_changes(
    scores: pl.DataFrame, *, alpha: float = 0.01, confidence: float = 0.95
) -> list[ScaleChange]:
    """The change from baseline per respondent and subscale: overall, per emotion, per factor.

    `scores` has the columns of `SCORES`; `phase` is `default` or `evoked`. Where a respondent's
    scores name the person (`subject`), they are paired by person, and each level takes its own
    people's scores at baseline; elsewhere every level is compared with all baseline scores. Rows
    without a score are dropped before anything else, and so are people without both scores.

    Clustered test: situations and item orders are random samples (`matched_changes`), so repeats
    of the same prompt add nothing. Where orders are not known, each administration at baseline is
    a cluster: with one administration per situation it is then Welch's test (or the paired t
    test) itself. NaN with one situation, and where the baseline has one item order whose repeats
    are all equal.
    """
    scores = usable_scores(scores)
    paired = scores.filter(pl.col("subject").is_not_null())
    single = scores.filter(pl.col("subject").is_null())
    frames = [] if single.is_empty() else [_independent(single, alpha)]
    frames += [] if paired.is_empty() else [_paired(paired)]
    if not frames:
        return []
    frame = pl.concat(frames, how="diagonal_relaxed")
    order = scores.select(_GROUP).unique(maintain_order=True).with_row_index("place")
    frame = frame.join(order, on=_GROUP, how="left", nulls_equal=True)
    frame = frame.sort("place", "rank", "seen").drop("place", "rank", "seen")
    return _rows(frame, alpha, confidence)


def change_interval(change: ScaleChange, *, confidence: float = 0.95) -> Interval | None:
    """The interval of a change from baseline; None where nothing varies or there is too little.

    Its centre is `cluster_delta`, and situations and item orders count as clusters.
    """
    se, df = change.error
    nothing_varies = change.sd == 0 and change.default_sd == 0
    if nothing_varies or not se > 0 or not df > 0:
        return None
    margin = t_margin(df, confidence) * se
    return Interval(change.cluster_delta - margin, change.cluster_delta + margin)


def usable_scores(scores: pl.DataFrame) -> pl.DataFrame:
    """The columns of `SCORES`, without rows that have no score."""
    scores = scores.select(pl.col(name).cast(kind) for name, kind in SCORES.items())
    return scores.filter(pl.col("score").is_not_null() & pl.col("score").is_not_nan())


def at_levels(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows three times: for overall, their emotion and their factor (where they have one)."""
    nothing = pl.lit(None, dtype=pl.String)
    frame = frame.with_row_index("seen")
    return pl.concat(
        [
            frame.with_columns(
                level=pl.lit("overall"), rank=pl.lit(0), emotion=nothing, factor=nothing
            ),
            frame.filter(pl.col("emotion").is_not_null()).with_columns(
                level=pl.lit("emotion"), rank=pl.lit(1), factor=nothing
            ),
            frame.filter(pl.col("factor").is_not_null()).with_columns(
                level=pl.lit("factor"), rank=pl.lit(2)
            ),
        ],
        how="diagonal",
    )


def _described(value: str, prefix: str = "") -> list[pl.Expr]:
    return [
        pl.len().cast(pl.Int64).alias(f"{prefix}n"),
        pl.col(value).mean().alias(f"{prefix}mean"),
        pl.col(value).std().alias(f"{prefix}sd"),
    ]


def _independent(scores: pl.DataFrame, alpha: float) -> pl.DataFrame:
    rest = scores.filter(pl.col("phase") == "default").group_by(_GROUP)
    evoked = at_levels(scores.filter(pl.col("phase") == "evoked"))
    frame = (
        evoked.group_by(_KEY)
        .agg(*_described("score"), pl.col("seen").min(), pl.col("rank").first())
        .join(rest.agg(_described("score", "default_")), on=_GROUP, how="left")
        .with_columns(pl.col("default_n").fill_null(0))
        .join(
            matched_changes(scores.filter(pl.col("phase") == "default"), evoked, _GROUP, _KEY),
            on=_KEY,
            how="left",
            nulls_equal=True,
        )
    )
    columns = {name: _array(frame, name) for name in ("n", "mean", "sd")}
    rests = {name: _array(frame, f"default_{name}") for name in ("n", "mean", "sd")}
    test, statistic, se, df = _student_or_welch(columns, rests, alpha)
    return frame.with_columns(
        delta=pl.Series(columns["mean"] - rests["mean"]),
        test=pl.Series(test, dtype=pl.String),
        statistic=pl.Series(statistic),
        se=pl.Series(se),
        df=pl.Series(df),
        change_sd=pl.lit(None, dtype=pl.Float64),
        correlation=pl.lit(None, dtype=pl.Float64),
    )


def _student_or_welch(
    evoked: dict[str, Array], rest: dict[str, Array], alpha: float
) -> tuple[list[Test | None], Array, Array, Array]:
    """The test that the F test at α leads to, its statistic, standard error and freedom."""
    from scipy.special import fdtr, fdtrc  # scipy.stats takes a second to import

    n, m = evoked["n"], rest["n"]
    a, b = _nudged(evoked["sd"]) ** 2, _nudged(rest["sd"]) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = a / b
        upper = fdtrc(n - 1, m - 1, ratio)
        lower = fdtr(n - 1, m - 1, ratio)
        equal = 2 * np.minimum(upper, lower) > alpha
        pooled = ((n - 1) * a + (m - 1) * b) / (n + m - 2)
        se = np.sqrt(np.where(equal, pooled * (1 / n + 1 / m), a / n + b / m))
        welch = (a / n + b / m) ** 2 / ((a / n) ** 2 / (n - 1) + (b / m) ** 2 / (m - 1))
        statistic = (evoked["mean"] - rest["mean"]) / se
    df = np.where(equal, n + m - 2, welch)
    possible = ~np.isnan(ratio)
    tests: list[Test | None] = [
        ("student" if same else "welch") if can else None
        for same, can in zip(equal, possible, strict=True)
    ]
    statistic, se, df = (np.where(possible, figure, np.nan) for figure in (statistic, se, df))
    return tests, statistic, se, df


def _paired(scores: pl.DataFrame) -> pl.DataFrame:
    rest = (
        scores.filter(pl.col("phase") == "default")
        .group_by(*_GROUP, "subject")
        .agg(pl.col("score").mean().alias("rest"))
    )
    evoked = scores.filter(pl.col("phase") == "evoked").join(
        rest, on=[*_GROUP, "subject"], maintain_order="left"
    )
    evoked = at_levels(evoked.with_columns(change=pl.col("score") - pl.col("rest")))
    clusters = clustered_variance(evoked.with_columns(value="change"), _KEY, "situation").rename(
        {"count": "clusters", "variance": "cluster_variance"}
    )
    frame = (
        evoked.group_by(_KEY)
        .agg(
            *_described("score"),
            pl.col("seen").min(),
            pl.col("rank").first(),
            *_described("rest", "default_"),
            pl.col("change").mean().alias("delta"),
            pl.col("change").std().alias("change_sd"),
            pl.cov("score", "rest").alias("covariance"),
        )
        .join(clusters, on=_KEY, how="left", nulls_equal=True)
    )
    n, sd = _array(frame, "n"), _array(frame, "change_sd")
    with np.errstate(divide="ignore", invalid="ignore"):
        se = _nudged(sd) / np.sqrt(n)
        statistic = _array(frame, "delta") / se
    possible = ~np.isnan(statistic)
    spread = pl.col("sd") * pl.col("default_sd")
    return frame.with_columns(
        test=pl.Series(["paired" if can else None for can in possible], dtype=pl.String),
        statistic=pl.Series(statistic),
        se=pl.Series(se),
        df=pl.Series(np.where(possible, n - 1, np.nan)),
        baseline_orders=pl.lit(0),
        shared_orders=pl.lit(0),
        cluster_delta=pl.col("delta"),
        cluster_df=(pl.col("clusters") - 1).cast(pl.Float64),
        correlation=pl.when(spread > 0).then(pl.col("covariance") / spread),
    ).drop("covariance")


def _rows(frame: pl.DataFrame, alpha: float, confidence: float) -> list[ScaleChange]:
    from scipy.special import stdtr

    statistic, delta = _array(frame, "statistic"), _array(frame, "delta")
    p = 2 * stdtr(_array(frame, "df"), -np.abs(statistic))
    se = np.sqrt(_array(frame, "cluster_variance"))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.abs(_array(frame, "cluster_delta")) / _nudged(se)
    cluster_p = 2 * stdtr(_array(frame, "cluster_df"), -ratio)
    effect, low, high = _effects(frame, confidence)
    cluster_low, cluster_high = _clustered_effects(frame, effect, se, confidence)
    family = pl.concat_str([*_GROUP, "level"], separator=" / ")
    frame = frame.with_columns(
        family=family,
        p=pl.Series(p),
        cluster_se=pl.Series(se),
        cluster_p=pl.Series(cluster_p),
        effect_size=pl.Series(effect),
        effect_low=pl.Series(low),
        effect_high=pl.Series(high),
        cluster_effect_low=pl.Series(cluster_low),
        cluster_effect_high=pl.Series(cluster_high),
        direction=pl.Series(_directions(p, delta, alpha), dtype=pl.String),
    )
    frame = _corrected(frame)
    numbers = [name for name, kind in frame.schema.items() if kind == pl.Float64]
    frame = frame.with_columns(pl.col(numbers).fill_null(float("nan")))
    return [ScaleChange(**row) for row in frame.select(_FIELDS).iter_rows(named=True)]


def _effects(frame: pl.DataFrame, confidence: float) -> tuple[Array, Array, Array]:
    mean, sd, n = (_array(frame, name) for name in ("mean", "sd", "n"))
    rest_mean, rest_sd, rest_n = (_array(frame, f"default_{name}") for name in ("mean", "sd", "n"))
    correlation = _array(frame, "correlation")
    independent = hedges_g(mean, sd, n, rest_mean, rest_sd, rest_n, confidence=confidence)
    paired = paired_d(mean, sd, rest_mean, rest_sd, n, correlation, confidence=confidence)
    is_paired = np.array([test == "paired" for test in frame["test"]], dtype=bool)
    effect, low, high = (
        np.where(is_paired, getattr(paired, name), getattr(independent, name))
        for name in ("estimate", "low", "high")
    )
    return effect, low, high


def _clustered_effects(
    frame: pl.DataFrame, effect: Array, se: Array, confidence: float
) -> tuple[Array, Array]:
    """The ends of the effect's interval from the clustered error, the unit's own error added.

    The variance is (SE/unit)² + g²/(2 df), as for cluster-randomised designs (Hedges, L. V. 2007.
    Journal of Educational and Behavioral Statistics 32, 341–370).
    """
    from scipy.special import stdtrit

    delta, df = _array(frame, "delta"), _array(frame, "cluster_df")
    with np.errstate(divide="ignore", invalid="ignore"):
        unit = np.where(delta == 0, np.nan, delta / effect)
        centre = _array(frame, "cluster_delta") / unit
        margin = stdtrit(df, (1 + confidence) / 2) * np.sqrt((se / unit) ** 2 + centre**2 / df / 2)
    return centre - margin, centre + margin


def _directions(p: Array, delta: Array, alpha: float) -> list[Direction]:
    return [
        ("up" if change > 0 else "down") if value < alpha else "none"
        for value, change in zip(p, delta, strict=True)
    ]


def _corrected(frame: pl.DataFrame) -> pl.DataFrame:
    families = frame["family"].to_list()
    for name in ("p", "cluster_p"):
        corrected = corrected_by_family(families, _array(frame, name).tolist())
        frame = frame.with_columns(
            pl.Series(f"{name}_holm", [test.p_holm for test in corrected], pl.Float64),
            pl.Series(f"{name}_bh", [test.p_bh for test in corrected], pl.Float64),
        )
    return frame


def _nudged(sd: Array) -> Array:
    return np.where(sd == 0, _MIN_SD, sd)


def _array(frame: pl.DataFrame, name: str) -> Array:
    return frame[name].cast(pl.Float64).fill_null(float("nan")).to_numpy()


_FIELDS = list(ScaleChange.__dataclass_fields__)
