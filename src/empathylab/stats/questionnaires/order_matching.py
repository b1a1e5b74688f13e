"""The variance of a change from baseline, where item orders and situations are random samples.

An answer depends on the situation and on the order of the items. Where both occasions share item
orders, these are compared with each other, so that what an order does on both cancels. What it does
on one of them only remains, and does not shrink with repeats of the same prompt.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl


def matched_changes(
    baseline: pl.DataFrame, evoked: pl.DataFrame, group: Sequence[str], key: Sequence[str]
) -> pl.DataFrame:
    """Per key: the change within the same orders, its variance, and degrees of freedom.

    Columns: `clusters` (situations), `baseline_orders` and `shared_orders` (0 where orders are not
    known), `cluster_delta`, `cluster_variance`, `cluster_df`.

    - Two or more shared orders: differences from the baseline mean of the same order; the
      variances clustered by situation and by order add up.
    - One shared order or none, several at baseline: all scores are compared, and the variance
      over baseline orders counts for the orders of both occasions. It holds common effects of
      orders and those at baseline only, so the test errs on the careful side.
    - One order at baseline, or unknown orders: every baseline administration is a cluster. Where
      one order's repeats are all equal, or where situations were shown in other orders, nothing
      says how much an order matters, and the variance is missing.

    Degrees of freedom after Satterthwaite. With two or three orders his estimate is too high too
    often, so it is at most twice the orders minus one (`bench/appraisal_error_rates.py`).
    """
    group, key = list(group), list(key)
    orders = _baseline_orders(baseline, group)
    cells = baseline.group_by(*group, "order_index").agg(pl.col("score").mean().alias("base"))
    rows = evoked.join(
        cells.drop_nulls("order_index"), on=[*group, "order_index"], how="left"
    ).join(orders, on=group, how="left")
    shared = pl.col("base").is_not_null()
    several = (pl.col("baseline_orders") > 1).fill_null(value=False)
    common = pl.col("order_index").filter(shared).n_unique().over(key)
    matched = several & (common > 1)
    rows = rows.with_columns(
        value=pl.when(matched).then(pl.col("score") - pl.col("base")).otherwise("score"),
        used=pl.when(matched).then(shared).otherwise(statement=True),
        matched=matched,
    )
    counts = rows.group_by(key).agg(
        pl.col("situation").n_unique().cast(pl.Int64).alias("clusters"),
        pl.col("order_index").filter(shared).n_unique().cast(pl.Int64).alias("shared_orders"),
        pl.col("order_index").n_unique().alias("evoked_orders"),
        pl.col("matched").first(),
        pl.col(*_BASELINE).first(),
    )
    used = rows.filter("used")
    parts = counts.join(
        used.group_by(key).agg(pl.col("value").mean()), on=key, how="left", nulls_equal=True
    )
    for name, cluster in {"by_situation": "situation", "by_order": "order_index"}.items():
        variance = clustered_variance(used, key, cluster)
        variance = variance.rename({"variance": name, "count": f"{name}_count"})
        parts = parts.join(variance, on=key, how="left", nulls_equal=True)
    return _combined(parts).select(*key, *_COLUMNS)


def _baseline_orders(baseline: pl.DataFrame, group: list[str]) -> pl.DataFrame:
    """Per group, how many orders the baseline has and how much they and administrations vary."""
    known = pl.col("order_index").null_count().over(group) == 0
    marked = baseline.with_columns(order=pl.when(known).then("order_index"))
    means = marked.group_by(*group, "order").agg(pl.col("score").mean())
    return (
        marked.group_by(group)
        .agg(
            pl.col("order").drop_nulls().n_unique().cast(pl.Int64).alias("baseline_orders"),
            pl.col("score").mean().alias("base_mean"),
            pl.col("score").var().alias("repeats_variance"),
            pl.len().cast(pl.Float64).alias("base_n"),
        )
        .join(means.group_by(group).agg(pl.col("score").var().alias("orders_variance")), on=group)
    )


def clustered_variance(rows: pl.DataFrame, key: list[str], cluster: str) -> pl.DataFrame:
    """Per key, the variance of the mean `value`, and the `count` of clusters G.

    G/(G − 1) Σ(Σ residuals)²/n² over the clusters; null with one cluster.
    """
    groups = pl.col("count").cast(pl.Float64)
    return (
        rows.with_columns(residual=pl.col("value") - pl.col("value").mean().over(key))
        .group_by(*key, cluster)
        .agg(pl.col("residual").sum(), pl.len().alias("size"))
        .group_by(key)
        .agg(
            pl.len().cast(pl.Int64).alias("count"),
            (pl.col("residual") ** 2).sum().alias("squares"),
            pl.col("size").sum().cast(pl.Float64).alias("size"),
        )
        .with_columns(
            variance=pl.when(groups > 1).then(
                groups / (groups - 1) * pl.col("squares") / pl.col("size") ** 2
            )
        )
        .drop("squares", "size")
    )


def _combined(parts: pl.DataFrame) -> pl.DataFrame:
    situations, by_order = pl.col("by_situation"), pl.col("by_order")
    baseline_orders = pl.col("baseline_orders").cast(pl.Float64)
    evoked_orders = pl.col("evoked_orders").cast(pl.Float64)
    two_ways = pl.col("matched")
    weights = 1 / evoked_orders + 1 / baseline_orders
    overlap = 2 * pl.col("shared_orders") / (evoked_orders * baseline_orders)
    repeats = pl.col("repeats_variance") / pl.col("base_n")
    unknown = pl.col("baseline_orders").fill_null(0) == 0
    same_order = (pl.col("baseline_orders") == 1) & (pl.col("shared_orders") == 1)
    tested_by_repeats = unknown | (
        same_order & (pl.col("evoked_orders") == 1) & (pl.col("repeats_variance") > 0)
    )
    # What the baseline's orders or repeats add to the variance over situations, and its df.
    other = (
        pl.when(two_ways)
        .then(by_order)
        .when(tested_by_repeats)
        .then(repeats)
        .when(pl.col("baseline_orders") > 1)
        .then(pl.col("orders_variance") * pl.max_horizontal(weights - overlap, 1 / baseline_orders))
    )
    other_df = (
        pl.when(two_ways)
        .then(pl.col("by_order_count").cast(pl.Float64) - 1)
        .when(tested_by_repeats)
        .then(pl.col("base_n") - 1)
        .otherwise(baseline_orders - 1)
    )
    situations_df = pl.col("by_situation_count").cast(pl.Float64) - 1
    below = situations**2 / situations_df + pl.col("other") ** 2 / pl.col("other_df")
    return (
        parts.with_columns(other=other, other_df=other_df)
        .with_columns(
            cluster_delta=pl.when(pl.col("matched"))
            .then(pl.col("value"))
            .otherwise(pl.col("value") - pl.col("base_mean")),
            cluster_variance=situations + pl.col("other"),
            few=~tested_by_repeats & (pl.col("other_df") < _ENOUGH_ORDERS - 1),
        )
        .with_columns(
            cluster_df=pl.min_horizontal(
                pl.col("cluster_variance") ** 2 / below,
                pl.when("few").then(2 * pl.col("other_df")),
            ),
            baseline_orders=pl.col("baseline_orders").fill_null(0),
        )
    )


_ENOUGH_ORDERS = 4
_BASELINE = ("baseline_orders", "base_mean", "repeats_variance", "base_n", "orders_variance")
_COLUMNS = (
    *("clusters", "baseline_orders", "shared_orders"),
    *("cluster_delta", "cluster_variance", "cluster_df"),
)
